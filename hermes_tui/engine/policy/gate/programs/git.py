"""git, subcommand by subcommand: what reads, what changes, what loses work, what runs programs or uses the network."""

from __future__ import annotations

import re

from ..facts import Call, Inner, Issue, Level, Outcome
from ..repository import repository_issues
from .git_read import HISTORY, LOG, READERS, log_rows
from .github import GITHUB
from .rows import danger, parent, safe, unknown, writes

_GLOBAL = (
    "-C=:r -c=:d --config-env=:d --exec-path?:d --git-dir=:u --work-tree=:u --namespace= -p|--paginate:u "
    "-P|--no-pager --bare --no-replace-objects --literal-pathspecs --glob-pathspecs --noglob-pathspecs "
    "--icase-pathspecs --no-optional-locks --html-path --man-path --info-path --super-prefix= --attr-source="
)
_TRANSPORT = re.compile(r"(?:ext|fd)::", re.I)
_LOSES = "throws away changes that are nowhere else"

_PLAIN_KEYS = re.compile(
    r"(?:user\.(?:name|email)|init\.defaultbranch|pull\.(?:rebase|ff)|push\.(?:default|autosetupremote)|fetch\.prune|"
    r"color\.\w+|advice\.\w+|core\.(?:autocrlf|eol|filemode|ignorecase|quotepath)|merge\.(?:ff|conflictstyle)|"
    r"rebase\.(?:autostash|autosquash)|branch\.[\w./-]+\.(?:remote|merge|rebase))\Z"
)


_QUIET_KEYS = re.compile(
    r"(?:user\.(?:name|email)|color\.\w+|advice\.\w+|core\.(?:quotepath|abbrev|autocrlf|eol)|log\.\w+|diff\.(?:renames|context|"
    r"algorithm|noprefix)|init\.defaultbranch|commit\.gpgsign|gc\.auto|protocol\.version)(?:=[\w .@:%+<>-]*)?\Z"
)


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
    issues = [Issue(Level.DANGER, HISTORY) for word in call.args.operands if word.text.startswith(("+", ":"))]
    return Outcome(issues[:1])


def check_clean(call: Call) -> Outcome:
    """``clean -n`` only lists."""
    dry = call.args.has("-n") and not call.args.has("-i")
    return Outcome(base=Level.SAFE if dry else None)


def check_config(call: Call) -> Outcome:
    """``git config --get`` and ``--list`` read; setting may name programs."""
    args = call.args
    reads = args.has("--get", "--get-all", "--get-regexp", "--list", "--get-urlmatch") or (
        bool(args.operands) and args.operands[0].text in ("get", "list")
    )
    alone = len(args.operands) == 1 and not args.has("--unset", "--unset-all", "--add", "-e", "--replace-all")
    if reads or alone:
        return Outcome(base=Level.SAFE)
    key = args.operands[0].text.lower() if len(args.operands) == 2 else ""
    if _PLAIN_KEYS.match(key) and not args.used:
        return Outcome(base=Level.WRITES)
    return Outcome([Issue(Level.DANGER, "changes the configuration of git, which may name programs")])


def check_submodule(call: Call) -> Outcome:
    """``git submodule foreach COMMAND`` runs it everywhere."""
    return Outcome(
        [],
        [Inner(words=call.args.operands)]
        if len(call.args.operands) > 1
        else [Inner(script=w) for w in call.args.operands],
    )


def check_global(call: Call) -> Outcome:
    """``-c alias.x='!command'`` and the repository's own configuration run programs."""
    inner = []
    settings = call.args.values("-c")
    waived = ("-c",) if settings and all(_QUIET_KEYS.match(value.text.lower()) for value in settings) else ()
    issues = [
        Issue(Level.DANGER, "uses a transport that runs a program", "text")
        for word in call.args.operands
        if _TRANSPORT.match(word.text)
    ]
    for value in settings:
        key, _, text = value.text.partition("=")
        if key.startswith("alias.") and text.startswith("!"):
            inner.append(Inner(script=value.tail(len(key) + 2)))
    folders = list(call.command.cwds)
    for word in call.args.values("-C", "--git-dir"):
        folders += [fact.spelled for fact in call.guard.facts(word, folders) or ()]
    return Outcome([*issues, *repository_issues(folders)], inner, waived=waived)


_REMOTE = parent(
    "remote",
    "-v|--verbose",
    safe("get-url", "-*", "--all --push"),
    unknown(
        "show update prune add rename set-url set-head set-branches remove rm",
        "-*",
        "-t= -m= -f --tags --no-tags --mirror? --push --add --delete -n --prune -p",
        remember=False,
    ),
    level=Level.SAFE,
)
_STASH = parent(
    "stash",
    "-u|--include-untracked:W -a|--all:W -k|--keep-index -q|--quiet -m|--message= -p|--patch:u -S:W",
    log_rows("list show"),
    writes(
        "push save create store",
        "-*",
        "-u|--include-untracked -a|--all -k|--keep-index -q|--quiet -m|--message= -S|--staged -p|--patch:u",
    ),
    writes("pop apply branch", "-*", "--index -q|--quiet"),
    danger("drop clear", _LOSES),
    level=Level.WRITES,
)
_WORKTREE = parent(
    "worktree",
    "",
    safe("list", "-*", "--porcelain -v -z"),
    writes("add move lock unlock repair", "w*", "-b= -f --detach --checkout --no-checkout -B=:d"),
    danger("remove prune", "deletes a work tree"),
)
_REFLOG = parent(
    "reflog",
    LOG,
    log_rows("show"),
    safe("exists"),
    danger("expire delete", HISTORY, "-*", "--expire= --expire-unreachable= --all --rewrite --updateref"),
    level=Level.SAFE,
)
_SUBMODULE = parent(
    "submodule",
    "-q|--quiet",
    safe("status summary", "-*", "--cached --recursive -n="),
    unknown("foreach", "-*", "--recursive", stops=True, check=check_submodule, remember=False),
    unknown("update init add sync deinit absorbgitdirs set-url set-branch", remember=False),
)
_BISECT = parent(
    "bisect",
    "",
    safe("log view visualize_text terms"),
    writes("start good bad old new skip reset replay next"),
    unknown("run", "-*", stops=True, check=check_submodule, remember=False),
)

_CHANGERS = [
    *writes(
        "add",
        "r*",
        "-A|--all -u|--update -p|--patch:u -n|--dry-run -v|--verbose -f|--force:u -N|--intent-to-add --refresh "
        "--ignore-errors --chmod= --renormalize -i:u -e:u --no-all --sparse --pathspec-from-file=:r",
    ),
    *writes(
        "commit",
        "-*",
        "-m|--message= -F|--file=:r -a|--all -q|--quiet -v|--verbose -s|--signoff --no-signoff -p|--patch:u "
        "--author= --date= -C|--reuse-message= -c|--reedit-message=:u --fixup= --squash= --allow-empty "
        "--allow-empty-message --dry-run --short --porcelain --long --status --no-status --branch -o|--only "
        "-i|--include --trailer= --no-edit --amend:u -n|--no-verify:u -e|--edit:u -t|--template=:r -S|--gpg-sign?:u "
        "--no-gpg-sign --cleanup= --reset-author:u -u|--untracked-files? --no-post-rewrite:u "
        "--pathspec-from-file=:r",
    ),
    *writes("mv", "w*", "-f|--force -k -n|--dry-run -v|--verbose"),
    *writes(
        "rm",
        "d*",
        "-r:d -f|--force:d --cached -n|--dry-run -q|--quiet --ignore-unmatch",
        dangers={"-r": "deletes recursively", "-f": "deletes without asking"},
    ),
    *writes(
        "init",
        "-w",
        "-q|--quiet --bare -b|--initial-branch= --template=:x --separate-git-dir=:w --shared?",
        dangers={"--template": "copies hooks, which git runs"},
    ),
    *writes(
        "switch",
        "-*",
        "-c|--create= -C|--force-create=:d -d|--detach --guess --no-guess -q|--quiet -t|--track? --orphan= "
        "-f|--force:d --discard-changes:d -m|--merge",
        dangers={"-C": "moves a branch", "-f": _LOSES, "--discard-changes": _LOSES},
    ),
    *writes(
        "checkout",
        "-*",
        "-b= -B=:d -f|--force:d -q|--quiet -t|--track? --orphan= -d|--detach -l -m|--merge --ours:d --theirs:d "
        "-p|--patch:u --guess --no-guess --no-track --progress --conflict= --pathspec-from-file=:d",
        check=check_checkout,
        dangers={
            "-B": "moves a branch",
            "-f": _LOSES,
            "--ours": _LOSES,
            "--theirs": _LOSES,
            "--pathspec-from-file": _LOSES,
        },
    ),
    *writes(
        "restore",
        "-*",
        "-S|--staged -W|--worktree -s|--source= -q|--quiet -p|--patch:u --ours --theirs -m",
        check=check_restore,
    ),
    *writes(
        "reset",
        "-*",
        "--soft --mixed -N -q|--quiet --hard:d --merge:d --keep:d -p|--patch:u --no-refresh",
        dangers={"--hard": _LOSES, "--merge": _LOSES, "--keep": _LOSES},
    ),
    *danger(
        "clean",
        "deletes files that git does not know",
        "-*",
        "-d -f|--force -x -X -q|--quiet -i -e|--exclude= -n|--dry-run",
        check=check_clean,
    ),
    *writes(
        "merge cherry-pick revert",
        "-*",
        "--ff --no-ff --ff-only --squash -m= -n|--no-commit --no-edit -e:u --abort:u --continue --quit -q -v -s= "
        "-X= --stat --no-stat -x --signoff -S?:u --allow-unrelated-histories --log? --skip --no-verify:u "
        "--autostash --into-name= -F=:r --mainline=",
    ),
    *unknown(
        "rebase",
        "-*",
        "--onto= -i|--interactive:u --abort:u --continue --skip --quit --autostash --autosquash -q -v -x|--exec=:x "
        "-f -r -m -s= -X= --root --keep-empty --no-verify --edit-todo:u --update-refs",
        remember=False,
        dangers={"-x": "runs a command after each commit"},
    ),
    *writes(
        "am apply",
        "r*",
        "--check --stat --index --cached -3|--3way -R|--reverse -p= --summary --numstat -v -q --whitespace= "
        "--reject --recount --unidiff-zero --abort:u --continue --skip --include= --exclude= --directory=:w "
        "--unsafe-paths:d",
        dangers={"--unsafe-paths": "writes outside the work tree"},
    ),
    *unknown(
        "fetch pull clone ls-remote",
        "-*",
        "--all --prune -p --tags -t --depth= --unshallow -q|--quiet -v --rebase? --ff-only --no-rebase -b|--branch= "
        "--single-branch --recurse-submodules? --no-tags --progress -j|--jobs= --heads --refs --dry-run --filter= "
        "--shallow-since= --sparse --no-checkout -n --bare --mirror -u|--upload-pack=:x -c=:d --config=:d "
        "--template=:x --get-url --autostash -f|--force:u --set-upstream",
        dangers={
            "-u": "names a program on the other side",
            "-c": "sets inline configuration",
            "--config": "sets inline configuration",
            "--template": "copies hooks, which git runs",
        },
        remember=False,
    ),
    *unknown(
        "push",
        "-*",
        "-u|--set-upstream --tags --follow-tags -n|--dry-run -q -v --all --atomic --no-verify:u -f|--force:d "
        "--force-with-lease?:d --force-if-includes --delete|-d:d --mirror:d --prune:d --receive-pack=:x "
        "-o|--push-option= --signed? --branches --porcelain --progress",
        check=check_push,
        dangers={
            "-f": HISTORY,
            "--force-with-lease": HISTORY,
            "--delete": "deletes a branch of the remote",
            "--mirror": HISTORY,
            "--prune": HISTORY,
            "--receive-pack": "names a program on the other side",
        },
        remember=False,
    ),
    *unknown(
        "config",
        "-*",
        "--get --get-all --get-regexp --list|-l --global --system --local --worktree -f|--file=:u --show-origin "
        "--show-scope --name-only -z --type= --bool --int --path --default= --unset --unset-all --add --replace-all "
        "-e|--edit --get-urlmatch --blob=",
        check=check_config,
        remember=False,
    ),
    *danger("filter-branch filter-repo replace update-ref prune gc", HISTORY, "-*", "--auto"),
    *danger("credential credential-store credential-cache", "handles stored passwords"),
    *danger(
        "send-email request-pull imap-send daemon instaweb http-backend upload-pack shell svn p4", "uses the network"
    ),
    *danger("difftool mergetool", "runs a configured program"),
    *writes(
        "bundle",
        "-w-*",
        "-q|--quiet --progress --all --stdin --version=",
    ),
    *writes(
        "archive format-patch",
        "-*",
        "--format= --prefix= -o|--output|--output-directory=:w --stdout --remote=:u --exec=:x -v -# -n -k -s "
        "--cover-letter --all",
    ),
    *writes(
        "notes sparse-checkout maintenance pack-refs repack rerere commit-graph multi-pack-index update-index "
        "write-tree read-tree commit-tree mktree symbolic-ref"
    ),
    *unknown(
        "help", "-*", "-a -g -m -i -w|--web:x -c --all --guides", dangers={"-w": "opens a browser"}, remember=False
    ),
    *unknown("lfs", "-*"),
    *unknown("*", "-*", remember=False),
]

ROWS = [
    parent(
        "git",
        _GLOBAL,
        READERS,
        _CHANGERS,
        [_REMOTE, _STASH, _WORKTREE, _REFLOG, _SUBMODULE, _BISECT],
        dangers={
            "-c": "sets inline configuration, which may run programs",
            "--config-env": "sets inline configuration, which may run programs",
            "--exec-path": "changes where git looks for its programs",
        },
        check=check_global,
    ),
    *safe("gitk tig", "-*"),
    GITHUB,
]
