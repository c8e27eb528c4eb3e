"""git subcommands that read: history, differences, lists."""

from __future__ import annotations

from ..facts import Call, Level, Outcome, Row, Word
from .rows import safe

DIFF = (
    "-p|-u|--patch -s|--no-patch -U|--unified= --raw --patch-with-raw --minimal --patience --histogram --anchored= "
    "--diff-algorithm= --stat? --compact-summary --numstat --shortstat --dirstat? --cumulative --summary -z "
    "--name-only --name-status --color? --no-color --color-moved? --color-words? --word-diff? --word-diff-regex= "
    "--no-renames --rename-empty --check --ws-error-highlight= --full-index --binary --abbrev? -B? -M? -C? "
    "--find-renames? --find-copies? --find-copies-harder -D -l= --diff-filter= -S= -G= --find-object= --pickaxe-all "
    "--pickaxe-regex -O=:r --skip-to= --rotate-to= -R --relative? --no-relative -a|--text --ignore-cr-at-eol "
    "--ignore-space-at-eol -b|--ignore-space-change -w|--ignore-all-space --ignore-blank-lines -I= "
    "-W|--function-context --exit-code --quiet -q --no-ext-diff --no-textconv --ignore-submodules? --src-prefix= "
    "--dst-prefix= --no-prefix --default-prefix --line-prefix= --cached --staged --merge-base -0 -1 -2 -3 --base "
    "--ours --theirs --no-indent-heuristic --output-indicator-new= --output-indicator-old= "
    "--output-indicator-context= --inter-hunk-context= --output=:w --ext-diff:x --textconv:x --no-index:u"
)
LOG = DIFF + (
    " -# -n|--max-count= --skip= --since= --after= --until= --before= --author= --committer= --grep= --grep-reflog= "
    "--all-match --invert-grep -i|--regexp-ignore-case --basic-regexp -E|--extended-regexp -F|--fixed-strings "
    "-P|--perl-regexp --merges --no-merges --min-parents= --max-parents= --first-parent --all --branches? --tags? "
    "--remotes? --glob= --exclude= --reflog -g|--walk-reflogs --oneline --graph --decorate? --no-decorate "
    "--decorate-refs= --format= --pretty? --abbrev-commit --no-abbrev-commit --date= --relative-date --parents "
    "--children --left-right --cherry-pick --cherry-mark --cherry --boundary --simplify-by-decoration "
    "--full-history --dense --sparse --ancestry-path? --topo-order --date-order --author-date-order --reverse "
    "--follow --full-diff --log-size -L= --source --use-mailmap --no-mailmap --show-signature --notes? --no-notes "
    "--encoding= -m -c --cc --combined-all-paths -t --no-walk? --do-walk --stdin --clear-decorations --count "
    "--show-pulls --no-expand-tabs --expand-tabs? --left-only --right-only --remove-empty --in-commit-order"
)
HISTORY = "loses commits or history"


def _objects(words: list[Word]) -> list[Word]:
    """``HEAD:.env`` names a file too; revisions are harmless paths that do not exist."""
    return [Word(w.text.split(":", 1)[1], w.start, w.end) if ":" in w.text[1:] else w for w in words]


def check_objects(call: Call) -> Outcome:
    """Operands are revisions, ``revision:path`` or paths."""
    operands = [w for w in _objects(list(call.args.operands)) if not w.text.startswith("../..") or "..." not in w.text]
    loose = [word for word in operands if ".." in word.text and "/" not in word.text.replace("../", "")]
    return Outcome(operands=[word for word in operands if word not in loose or word.text.startswith("..")])


def check_branch(call: Call) -> Outcome:
    """Without a name, or with ``--list``, it only lists."""
    listing = call.args.has(
        "--list", "--contains", "--merged", "--no-merged", "--points-at", "--show-current", "-a", "-r"
    )
    if call.args.operands and not listing:
        return Outcome(base=Level.WRITES)
    return Outcome()


def check_tag(call: Call) -> Outcome:
    """Without a name, or with ``-l``, it only lists."""
    if call.args.operands and not call.args.has("-l", "--contains", "--points-at", "-n", "-v"):
        return Outcome(base=Level.WRITES)
    return Outcome()


_DANGERS = {"--ext-diff": "runs the configured diff program", "--textconv": "runs configured programs"}


def log_rows(names: str, options: str = LOG) -> list[Row]:
    """Return rows of subcommands that show revisions or files out of revisions."""
    return safe(
        names,
        "r*",
        options,
        check=check_objects,
        dangers={name: why for name, why in _DANGERS.items() if name in options},
    )


READERS = [
    *log_rows("log show whatchanged"),
    *log_rows("shortlog", LOG + " -s|--summary -n|--numbered -e|--email -c|--committer -w? --group="),
    *log_rows(
        "diff diff-tree diff-index diff-files difftool_list range-diff",
        DIFF + " -r -t --root --creation-factor= -c --cc",
    ),
    *log_rows("reflog", LOG),
    *log_rows(
        "blame annotate",
        "-L= -l -t -s -e|--show-email -w -M? -C? --since= --date= -p|--porcelain --line-porcelain -c -b --root "
        "--show-stats --first-parent --ignore-rev= --ignore-revs-file=:r --color-lines --color-by-age --reverse "
        "-f|--show-name -n|--show-number --contents=:r --abbrev= --score-debug --progress --no-progress",
    ),
    *safe(
        "status",
        "-*",
        "-s|--short -b|--branch --show-stash --porcelain? --long -v|--verbose -u|--untracked-files? --ignored? "
        "--ignore-submodules? -z --column? --no-column --ahead-behind --no-ahead-behind --renames --no-renames "
        "--find-renames?",
    ),
    *safe(
        "rev-parse",
        "-*",
        "--abbrev-ref? --short? --show-toplevel --show-prefix --show-cdup --git-dir --absolute-git-dir "
        "--git-common-dir --is-inside-work-tree --is-inside-git-dir --is-bare-repository --is-shallow-repository "
        "--verify -q|--quiet --symbolic --symbolic-full-name --all --branches? --tags? --remotes? "
        "--show-superproject-working-tree --git-path= --show-object-format? --sq --not --revs-only --no-revs "
        "--flags --no-flags --default= --since= --until= --path-format= --show-ref-format",
    ),
    *safe("rev-list", "-*", LOG + " --objects --disk-usage? --header --timestamp --bisect --use-bitmap-index"),
    *safe(
        "describe",
        "-*",
        "--tags --all --always --long --abbrev= --dirty? --broken? --match= --exclude= --contains --exact-match "
        "--first-parent --candidates= --debug",
    ),
    *safe(
        "ls-files",
        "-*",
        "-c|--cached -d|--deleted -m|--modified -o|--others -i|--ignored -s|--stage -u|--unmerged -k|--killed -z -t "
        "-v -f --eol --exclude= -x= -X=:r --exclude-standard --exclude-per-directory= --error-unmatch --full-name "
        "--abbrev? --directory --no-empty-directory --deduplicate --recurse-submodules --format=",
    ),
    *safe(
        "ls-tree",
        "-*",
        "-d -r -t -l|--long -z --name-only --name-status --object-only --full-name --full-tree --abbrev? --format=",
    ),
    *safe(
        "grep",
        "-r*",
        "-n|--line-number -i|--ignore-case -w -v -h -H -l|--files-with-matches --name-only -L -c|--count "
        "-E|--extended-regexp -G -F -P -e= -A= -B= -C= -# --cached --untracked --no-index -p -W -q "
        "-o|--only-matching --color? --heading --break --column --and --or --not --all-match --max-depth= -z -I -a "
        "--recurse-submodules -m= -f=:r -O|--open-files-in-pager?:x --textconv:x --ext-grep:x",
    ),
    *safe(
        "branch",
        "-*",
        "-a|--all -r|--remotes --list -v|--verbose -vv --show-current --contains? --no-contains? --merged? "
        "--no-merged? --points-at= --sort= --format= --column? --no-column --color? --no-color --abbrev= "
        "--no-abbrev -i|--ignore-case -q|--quiet -d|--delete:u -D:d -m|--move:W -M:d -c|--copy:W -C:d -f|--force:d "
        "-t|--track?:W -u|--set-upstream-to=:W --unset-upstream:W --edit-description:u -l|--create-reflog",
        check=check_branch,
        dangers={"-D": HISTORY, "-M": HISTORY, "-C": HISTORY, "-f": "moves a branch"},
    ),
    *safe(
        "tag",
        "-*",
        "-l|--list -n? --sort= --format= --contains? --no-contains? --merged? --no-merged? --points-at= --column? "
        "-i --color? -v|--verify:u -a|--annotate:W -m|--message=:W -F=:r -s|--sign:u -d|--delete:d -f|--force:d "
        "-u=:u --cleanup=",
        check=check_tag,
        dangers={"-d": "deletes a tag", "-f": "moves a tag"},
    ),
    *safe(
        "cat-file",
        "r*",
        "-t -s -e -p --batch? --batch-check? --batch-all-objects --textconv:x --filters:x --path= -Z -z --unordered "
        "--buffer",
        check=check_objects,
    ),
    *safe(
        "show-ref for-each-ref name-rev merge-base cherry var count-objects check-ignore check-attr check-mailmap "
        "show-branch ls-remote_local stripspace get-tar-commit-id version verify-commit verify-tag check-ref-format",
        "-*",
        "--heads --tags --branches --verify -q|--quiet -d|--dereference -s --hash? --abbrev? --sort= --format= "
        "--count= --points-at= --merged? --no-merged? --contains? --no-contains? --all -a --is-ancestor "
        "--fork-point --octopus --independent -v -n -H --stdin -z --no-index --name-only --refs= --always -l "
        "--exists --ignore-case --exclude=",
    ),
    *safe("hash-object", "r*", "--stdin -t= --path= --no-filters -w:W --stdin-paths"),
    *safe("fsck verify-pack", "-*", "--full --no-dangling --unreachable -v -s --connectivity-only"),
]
