"""git, subcommand by subcommand: what reads, what changes, what loses work, what runs programs or uses the network."""

from __future__ import annotations

from ..facts import Call, Inner, Issue, Level, Outcome, Row, Word
from .rows import danger, parent, safe, unknown, writes

_GLOBAL = (
    "-C=:r -c=:d --config-env=:d --exec-path?:d --git-dir=:u --work-tree=:u --namespace= -p|--paginate:u -P|--no-pager "
    "--bare --no-replace-objects --literal-pathspecs --glob-pathspecs --noglob-pathspecs --icase-pathspecs "
    "--no-optional-locks --html-path --man-path --info-path --super-prefix= --attr-source="
)
_DIFF = (
    "-p|-u|--patch -s|--no-patch -U|--unified= --raw --patch-with-raw --minimal --patience --histogram --anchored= "
    "--diff-algorithm= --stat? --compact-summary --numstat --shortstat --dirstat? --cumulative --summary -z --name-only "
    "--name-status --color? --no-color --color-moved? --color-words? --word-diff? --word-diff-regex= --no-renames "
    "--rename-empty --check --ws-error-highlight= --full-index --binary --abbrev? -B? -M? -C? --find-renames? "
    "--find-copies? --find-copies-harder -D -l= --diff-filter= -S= -G= --find-object= --pickaxe-all --pickaxe-regex "
    "-O=:r --skip-to= --rotate-to= -R --relative? --no-relative -a|--text --ignore-cr-at-eol --ignore-space-at-eol "
    "-b|--ignore-space-change -w|--ignore-all-space --ignore-blank-lines -I= -W|--function-context --exit-code --quiet "
    "-q --no-ext-diff --no-textconv --ignore-submodules? --src-prefix= --dst-prefix= --no-prefix --default-prefix "
    "--line-prefix= --cached --staged --merge-base -0 -1 -2 -3 --base --ours --theirs --no-indent-heuristic "
    "--output-indicator-new= --output-indicator-old= --output-indicator-context= --inter-hunk-context= "
    "--output=:w --ext-diff:x --textconv:x --no-index:u"
)
_LOG = _DIFF + (
    " -# -n|--max-count= --skip= --since= --after= --until= --before= --author= --committer= --grep= --grep-reflog= "
    "--all-match --invert-grep -i|--regexp-ignore-case --basic-regexp -E|--extended-regexp -F|--fixed-strings "
    "-P|--perl-regexp --merges --no-merges --min-parents= --max-parents= --first-parent --all --branches? --tags? "
    "--remotes? --glob= --exclude= --reflog -g|--walk-reflogs --oneline --graph --decorate? --no-decorate "
    "--decorate-refs= --format= --pretty? --abbrev-commit --no-abbrev-commit --date= --relative-date --parents "
    "--children --left-right --cherry-pick --cherry-mark --cherry --boundary --simplify-by-decoration --full-history "
    "--dense --sparse --ancestry-path? --topo-order --date-order --author-date-order --reverse --follow "
    "--full-diff --log-size -L= --source --use-mailmap --no-mailmap --show-signature --notes? --no-notes --encoding= "
    "-m -c --cc --combined-all-paths -t --no-walk? --do-walk --stdin --clear-decorations --count --show-pulls "
    "--no-expand-tabs --expand-tabs? --left-only --right-only --remove-empty --in-commit-order"
)
_LOSES = "throws away changes that are nowhere else"
_HISTORY = "loses commits or history"


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


def check_remote(call: Call) -> Outcome:
    """``git remote`` and ``git remote -v`` list; everything behind is another row."""
    return Outcome()


def check_checkout(call: Call) -> Outcome:
    """``checkout -- paths`` and ``checkout REV paths`` overwrite files; a branch name alone does not."""
    args = call.args
    paths = args.after_dashes or len(args.operands) > 1
    dot = any(word.text in (".", "*") or word.pattern or word.text.endswith("/") for word in args.operands)
    if args.has("-b", "-B", "--orphan", "-t"):
        return Outcome()
    if paths or dot:
        return Outcome([Issue(Level.DANGER, _LOSES)])
    return Outcome()


def check_restore(call: Call) -> Outcome:
    """``restore --staged`` only changes the index."""
    if call.args.has("-S") and not call.args.has("-W"):
        return Outcome(base=Level.WRITES)
    return Outcome([Issue(Level.DANGER, _LOSES)])


def check_push(call: Call) -> Outcome:
    """``push origin +main`` and ``push origin :main`` rewrite or delete without an option."""
    issues = [Issue(Level.DANGER, _HISTORY) for word in call.args.operands if word.text.startswith(("+", ":"))]
    return Outcome(issues[:1])


def check_config(call: Call) -> Outcome:
    """``git config --get`` and ``--list`` read; setting may name programs."""
    args = call.args
    reads = args.has("--get", "--get-all", "--get-regexp", "--list", "--get-urlmatch") or (
        bool(args.operands) and args.operands[0].text in ("get", "list")
    )
    alone = len(args.operands) == 1 and not args.has("--unset", "--unset-all", "--add", "-e", "--replace-all")
    if reads or alone:
        return Outcome(base=Level.SAFE)
    return Outcome([Issue(Level.DANGER, "changes the configuration of git, which may name programs")])


def check_alias(call: Call) -> Outcome:
    """An unknown subcommand may be an alias or a program ``git-NAME``."""
    return Outcome()


def check_submodule(call: Call) -> Outcome:
    """``git submodule foreach COMMAND`` runs it everywhere."""
    return Outcome(
        [],
        [Inner(words=call.args.operands)]
        if len(call.args.operands) > 1
        else [Inner(script=w) for w in call.args.operands],
    )


def check_global(call: Call) -> Outcome:
    """``-c alias.x='!command'``: inline configuration runs programs; judge the command in it."""
    inner = []
    for value in call.args.values("-c"):
        key, _, text = value.text.partition("=")
        if key.startswith("alias.") and text.startswith("!"):
            inner.append(Inner(script=value.tail(len(key) + 2)))
    return Outcome([], inner)


def _log(names: str, options: str = _LOG) -> list[Row]:
    return safe(names, "r*", options, check=check_objects,
                dangers={"--ext-diff": "runs the configured diff program", "--textconv": "runs configured programs"})  # fmt: skip


_READERS = [
    *_log("log show whatchanged"),
    *_log("shortlog", _LOG + " -s|--summary -n|--numbered -e|--email -c|--committer -w? --group="),
    *_log("diff diff-tree diff-index diff-files difftool_list range-diff", _DIFF + " -r -t --root --creation-factor= -c --cc"),
    *_log("reflog", _LOG),
    *_log("blame annotate", "-L= -l -t -s -e|--show-email -w -M? -C? --since= --date= -p|--porcelain --line-porcelain "
          "-c -b --root --show-stats --first-parent --ignore-rev= --ignore-revs-file=:r --color-lines --color-by-age "
          "--reverse -f|--show-name -n|--show-number --contents=:r --abbrev= --score-debug --progress --no-progress"),
    *safe("status", "-*", "-s|--short -b|--branch --show-stash --porcelain? --long -v|--verbose -u|--untracked-files? "
          "--ignored? --ignore-submodules? -z --column? --no-column --ahead-behind --no-ahead-behind --renames "
          "--no-renames --find-renames?"),
    *safe("rev-parse", "-*", "--abbrev-ref? --short? --show-toplevel --show-prefix --show-cdup --git-dir "
          "--absolute-git-dir --git-common-dir --is-inside-work-tree --is-inside-git-dir --is-bare-repository "
          "--is-shallow-repository --verify -q|--quiet --symbolic --symbolic-full-name --all --branches? --tags? "
          "--remotes? --show-superproject-working-tree --git-path= --show-object-format? --sq --not --revs-only "
          "--no-revs --flags --no-flags --default= --since= --until= --path-format= --show-ref-format"),
    *safe("rev-list", "-*", _LOG + " --objects --disk-usage? --header --timestamp --bisect --use-bitmap-index"),
    *safe("describe", "-*", "--tags --all --always --long --abbrev= --dirty? --broken? --match= --exclude= --contains "
          "--exact-match --first-parent --candidates= --debug"),
    *safe("ls-files", "-*", "-c|--cached -d|--deleted -m|--modified -o|--others -i|--ignored -s|--stage -u|--unmerged "
          "-k|--killed -z -t -v -f --eol --exclude= -x= -X=:r --exclude-standard --exclude-per-directory= --error-unmatch "
          "--full-name --abbrev? --directory --no-empty-directory --deduplicate --recurse-submodules --format="),
    *safe("ls-tree", "-*", "-d -r -t -l|--long -z --name-only --name-status --object-only --full-name --full-tree --abbrev? "
          "--format="),
    *safe("grep", "-r*", "-n|--line-number -i|--ignore-case -w -v -h -H -l|--files-with-matches --name-only -L -c|--count "
          "-E|--extended-regexp -G -F -P -e= -A= -B= -C= -# --cached --untracked --no-index -p -W -q -o|--only-matching "
          "--color? --heading --break --column --and --or --not --all-match --max-depth= -z -I -a --recurse-submodules "
          "-m= -f=:r -O|--open-files-in-pager?:x --textconv:x --ext-grep:x"),
    *safe("branch", "-*", "-a|--all -r|--remotes --list -v|--verbose -vv --show-current --contains? --no-contains? "
          "--merged? --no-merged? --points-at= --sort= --format= --column? --no-column --color? --no-color --abbrev= "
          "--no-abbrev -i|--ignore-case -q|--quiet -d|--delete:u -D:d -m|--move:W -M:d -c|--copy:W -C:d -f|--force:d "
          "-t|--track?:W -u|--set-upstream-to=:W --unset-upstream:W --edit-description:u -l|--create-reflog",
          check=check_branch, dangers={"-D": _HISTORY, "-M": _HISTORY, "-C": _HISTORY, "-f": "moves a branch"}),
    *safe("tag", "-*", "-l|--list -n? --sort= --format= --contains? --no-contains? --merged? --no-merged? --points-at= "
          "--column? -i --color? -v|--verify:u -a|--annotate:W -m|--message=:W -F=:r -s|--sign:u -d|--delete:d -f|--force:d "
          "-u=:u --cleanup=", check=check_tag, dangers={"-d": "deletes a tag", "-f": "moves a tag"}),
    *safe("cat-file", "r*", "-t -s -e -p --batch? --batch-check? --batch-all-objects --textconv:x --filters:x --path= -Z -z "
          "--unordered --buffer", check=check_objects),
    *safe("show-ref for-each-ref name-rev merge-base cherry var count-objects check-ignore check-attr check-mailmap "
          "show-branch ls-remote_local stripspace get-tar-commit-id version verify-commit verify-tag check-ref-format", "-*",
          "--heads --tags --branches --verify -q|--quiet -d|--dereference -s --hash? --abbrev? --sort= --format= --count= "
          "--points-at= --merged? --no-merged? --contains? --no-contains? --all -a --is-ancestor --fork-point --octopus "
          "--independent -v -n -H --stdin -z --no-index --name-only --refs= --always -l --exists --ignore-case --exclude="),
    *safe("hash-object", "r*", "--stdin -t= --path= --no-filters -w:W --stdin-paths"),
    *safe("fsck verify-pack", "-*", "--full --no-dangling --unreachable -v -s --connectivity-only"),
]  # fmt: skip

_REMOTE = parent("remote", "-v|--verbose", safe("get-url", "-*", "--all --push"), unknown("show update prune add rename "
                 "set-url set-head set-branches remove rm", "-*", "-t= -m= -f --tags --no-tags --mirror? --push --add --delete "
                 "-n --prune -p", remember=False), level=Level.SAFE)  # fmt: skip
_STASH = parent("stash", "-u|--include-untracked:W -a|--all:W -k|--keep-index -q|--quiet -m|--message= -p|--patch:u -S:W",
                _log("list show"), writes("push save create store", "-*", "-u|--include-untracked -a|--all "
                "-k|--keep-index -q|--quiet -m|--message= -S|--staged -p|--patch:u"),
                writes("pop apply branch", "-*", "--index -q|--quiet"),
                danger("drop clear", _LOSES), level=Level.WRITES)  # fmt: skip
_WORKTREE = parent("worktree", "", safe("list", "-*", "--porcelain -v -z"), writes("add move lock unlock repair", "-w*",
                   "-b= -f --detach --checkout --no-checkout -B=:d"), danger("remove prune", "deletes a work tree"))  # fmt: skip
_REFLOG = parent("reflog", _LOG, _log("show"), safe("exists"), danger("expire delete", _HISTORY, "-*",
                 "--expire= --expire-unreachable= --all --rewrite --updateref"), level=Level.SAFE)  # fmt: skip
_SUBMODULE = parent("submodule", "-q|--quiet", safe("status summary", "-*", "--cached --recursive -n="),
                    unknown("foreach", "-*", "--recursive", stops=True, check=check_submodule, remember=False),
                    unknown("update init add sync deinit absorbgitdirs set-url set-branch", remember=False))  # fmt: skip
_BISECT = parent("bisect", "", safe("log view visualize_text terms"), writes("start good bad old new skip reset replay next"),
                 unknown("run", "-*", stops=True, check=check_submodule, remember=False))  # fmt: skip

_NET = dict(remember=False)
_CHANGERS = [
    *writes("add", "r*", "-A|--all -u|--update -p|--patch:u -n|--dry-run -v|--verbose -f|--force:u -N|--intent-to-add "
            "--refresh --ignore-errors --chmod= --renormalize -i:u -e:u --no-all --sparse --pathspec-from-file=:r"),
    *writes("commit", "-*", "-m|--message= -F|--file=:r -a|--all -q|--quiet -v|--verbose -s|--signoff --no-signoff "
            "-p|--patch:u --author= --date= -C|--reuse-message= -c|--reedit-message=:u --fixup= --squash= --allow-empty "
            "--allow-empty-message --dry-run --short --porcelain --long --status --no-status --branch -o|--only "
            "-i|--include --trailer= --no-edit --amend:u -n|--no-verify:u -e|--edit:u -t|--template=:r -S|--gpg-sign?:u "
            "--no-gpg-sign --cleanup= --reset-author:u -u|--untracked-files? --no-post-rewrite:u --pathspec-from-file=:r"),
    *writes("mv", "w*", "-f|--force -k -n|--dry-run -v|--verbose"),
    *writes("rm", "d*", "-r:d -f|--force:d --cached -n|--dry-run -q|--quiet --ignore-unmatch",
            dangers={"-r": "deletes recursively", "-f": "deletes without asking"}),
    *writes("init", "-w", "-q|--quiet --bare -b|--initial-branch= --template=:u --separate-git-dir=:w --shared?"),
    *writes("switch", "-*", "-c|--create= -C|--force-create=:d -d|--detach --guess --no-guess -q|--quiet -t|--track? "
            "--orphan= -f|--force:d --discard-changes:d -m|--merge", dangers={"-C": "moves a branch", "-f": _LOSES,
            "--discard-changes": _LOSES}),
    *writes("checkout", "-*", "-b= -B=:d -f|--force:d -q|--quiet -t|--track? --orphan= -d|--detach -l -m|--merge --ours:d "
            "--theirs:d -p|--patch:u --guess --no-guess --no-track --progress --conflict= --pathspec-from-file=:d",
            check=check_checkout, dangers={"-B": "moves a branch", "-f": _LOSES, "--ours": _LOSES, "--theirs": _LOSES,
            "--pathspec-from-file": _LOSES}),
    *writes("restore", "-*", "-S|--staged -W|--worktree -s|--source= -q|--quiet -p|--patch:u --ours --theirs -m",
            check=check_restore),
    *writes("reset", "-*", "--soft --mixed -N -q|--quiet --hard:d --merge:d --keep:d -p|--patch:u --no-refresh",
            dangers={"--hard": _LOSES, "--merge": _LOSES, "--keep": _LOSES}),
    *danger("clean", "deletes files that git does not know", "-*", "-d -f|--force -x -X -q|--quiet -i -e|--exclude= "
            "-n|--dry-run"),
    *writes("merge cherry-pick revert", "-*", "--ff --no-ff --ff-only --squash -m= -n|--no-commit --no-edit -e:u --abort:u "
            "--continue --quit -q -v -s= -X= --stat --no-stat -x --signoff -S?:u --allow-unrelated-histories --log? "
            "--skip --no-verify:u --autostash --into-name= -F=:r --mainline="),
    *unknown("rebase", "-*", "--onto= -i|--interactive:u --abort:u --continue --skip --quit --autostash --autosquash -q -v "
             "-x|--exec=:x -f -r -m -s= -X= --root --keep-empty --no-verify --edit-todo:u --update-refs", remember=False,
             dangers={"-x": "runs a command after each commit"}),
    *writes("am apply", "r*", "--check --stat --index --cached -3|--3way -R|--reverse -p= --summary --numstat -v -q --whitespace= "
            "--reject --recount --unidiff-zero --abort:u --continue --skip --include= --exclude= --directory="),
    *unknown("fetch pull clone ls-remote", "-*", "--all --prune -p --tags -t --depth= --unshallow -q|--quiet -v --rebase? "
             "--ff-only --no-rebase -b|--branch= --single-branch --recurse-submodules? --no-tags --progress -j|--jobs= "
             "--heads --refs --dry-run --filter= --shallow-since= --sparse --no-checkout -n --bare --mirror "
             "-u|--upload-pack=:x -c=:d --config=:d --template=:u --get-url --autostash -f|--force:u --set-upstream",
             dangers={"-u": "names a program on the other side", "-c": "sets inline configuration",
                      "--config": "sets inline configuration"}, **_NET),
    *unknown("push", "-*", "-u|--set-upstream --tags --follow-tags -n|--dry-run -q -v --all --atomic --no-verify:u "
             "-f|--force:d --force-with-lease?:d --force-if-includes --delete|-d:d --mirror:d --prune:d --receive-pack=:x "
             "-o|--push-option= --signed? --branches --porcelain --progress", check=check_push,
             dangers={"-f": _HISTORY, "--force-with-lease": _HISTORY, "--delete": "deletes a branch of the remote",
                      "--mirror": _HISTORY, "--prune": _HISTORY, "--receive-pack": "names a program on the other side"},
             **_NET),
    *unknown("config", "-*", "--get --get-all --get-regexp --list|-l --global --system --local --worktree -f|--file=:u "
             "--show-origin --show-scope --name-only -z --type= --bool --int --path --default= --unset --unset-all --add "
             "--replace-all -e|--edit --get-urlmatch --blob=", check=check_config, remember=False),
    *danger("filter-branch filter-repo replace update-ref prune gc", _HISTORY, "-*", "--auto"),
    *danger("credential credential-store credential-cache", "handles stored passwords"),
    *danger("send-email request-pull imap-send daemon instaweb http-backend upload-pack shell svn p4", "uses the network"),
    *danger("difftool mergetool", "runs a configured program"),
    *writes("archive bundle format-patch", "-*", "--format= --prefix= -o|--output|--output-directory=:w --stdout "
            "--remote=:u --exec=:x -v -# -n -k -s --cover-letter --all"),
    *writes("notes sparse-checkout maintenance pack-refs repack rerere commit-graph multi-pack-index update-index "
            "write-tree read-tree commit-tree mktree symbolic-ref"),
    *unknown("help", "-*", "-a -g -m -i -w|--web:x -c --all --guides", dangers={"-w": "opens a browser"}, remember=False),
    *unknown("lfs", "-*"),
    *unknown("*", "-*", remember=False),
]  # fmt: skip

ROWS = [
    parent("git", _GLOBAL, _READERS, _CHANGERS, [_REMOTE, _STASH, _WORKTREE, _REFLOG, _SUBMODULE, _BISECT],
           dangers={"-c": "sets inline configuration, which may run programs",
                    "--config-env": "sets inline configuration, which may run programs",
                    "--exec-path": "changes where git looks for its programs"}, check=check_global),
    *safe("gitk tig", "-*"),
    parent("gh", "-R|--repo= --hostname=",
           unknown("pr issue repo run workflow release gist api secret auth ssh-key alias extension codespace ruleset "
                   "variable search label project cache", remember=False), remember=False),
]  # fmt: skip
