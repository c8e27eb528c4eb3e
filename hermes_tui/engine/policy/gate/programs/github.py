"""``gh``: what reads, what people see, what deletes or hands out credentials."""

from __future__ import annotations

from ..facts import Call, Issue, Level, Outcome, Row
from .rows import danger, parent, unknown

_PUBLIC = "changes something that others see"
_OPTIONS = (
    "-R|--repo= -L|--limit= -s|--state= -l|--label= -a|--assignee= -A|--author= --json= -q|--jq= -t|--template= "
    "-w|--web -c|--comments --log --log-failed -j|--job= -v|--verbose --name-only --patch -S|--search= --watch "
    "--exit-status -H|--head= -B|--base= -b|--branch= -u|--user="
)


def check_api(call: Call) -> Outcome:
    """``gh api PATH`` reads, unless it has a method or fields."""
    args = call.args
    changes = args.has("-f", "-F", "--input") or any(value.text.upper() != "GET" for value in args.values("-X"))
    return Outcome([Issue(Level.DANGER, _PUBLIC, "text")] if changes else [])


def _object(name: str, dangers: str, writes: str = "create edit comment close reopen") -> Row:
    return parent(
        name,
        "-R|--repo=",
        unknown("list view status diff checks search", "-*", _OPTIONS, reason="asks another machine"),
        unknown(f"{writes} checkout clone download watch", remember=False, reason=_PUBLIC),
        danger(dangers, _PUBLIC),
        unknown("*", remember=False),
        remember=False,
    )


GITHUB = parent(
    "gh",
    "-R|--repo= --hostname=",
    [
        _object("pr", "merge delete lock unlock review"),
        _object("issue", "delete transfer lock unlock"),
        _object("repo", "delete archive unarchive rename edit create deploy-key sync", "fork set-default"),
        _object("release", "create delete upload edit delete-asset", ""),
        _object("run", "cancel delete rerun", ""),
        _object("workflow", "run enable disable", ""),
        _object("gist", "create delete edit rename", ""),
        _object("label", "delete"),
    ],
    [
        parent(
            "auth",
            "",
            unknown("status", "-*", "--hostname=", remember=False),
            danger("login logout token refresh setup-git switch", "handles keys or credentials"),
            remember=False,
        )
    ],
    unknown(
        "api",
        "-*",
        "-X|--method= -f|--raw-field= -F|--field= --input= -H|--header= --jq|-q= --paginate -i --slurp -t= --cache= "
        "--silent",
        check=check_api,
        remember=False,
    ),
    danger("secret variable ssh-key gpg-key", "handles keys or credentials"),
    danger("alias extension codespace", "runs programs, or names some to run"),
    unknown("search project cache ruleset status browse", remember=False),
    remember=False,
)
