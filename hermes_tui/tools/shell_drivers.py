"""The loop that a persistent shell runs: read a call, run it with its own output pipe, report, remember its state.

A call is six fields: a mark that comes back with the report, the pipe for its output, the file for the shell's state,
the folder to change to (or nothing), and the command. The command never sees the two pipes the loop talks through.
Names start with ``__hermes_`` so that they don't meet the model's.
"""

from __future__ import annotations

from dataclasses import dataclass

STATE_END = b"# end\n"
"""The last line of a state file that was written to its end."""

_BASH_READ = " && ".join(
    f"IFS= builtin read -r -d '' -u 61 __hermes_{field}" for field in ("mark", "out", "state", "cd", "command")
)
# The loop is one line, so that line numbers in bash's messages are those of the command. Output goes through the
# shell's own descriptors, so that EXIT traps reach it. Tracing (set -x) is off while the loop itself runs.
_BASH = (
    "exec 61<&0 62>&1 </dev/null >/dev/null 2>&1; "
    'if builtin test -r "$1"; then builtin source "$1"; fi; builtin set --; __hermes_trace=+x; '
    f"while {_BASH_READ}; do "
    'if builtin test -z "$__hermes_cd" || builtin cd -- "$__hermes_cd" >/dev/null; then '
    'exec </dev/null >"$__hermes_out" 2>&1; '
    '{ builtin set "$__hermes_trace"; builtin eval "$__hermes_command"; } 61<&- 62>&-; '
    "{ __hermes_status=$?; case $- in *x*) __hermes_trace=-x;; *) __hermes_trace=+x;; esac; "
    "builtin set +x; } 2>/dev/null; "
    "exec >/dev/null 2>&1; else __hermes_status=cd; fi; "
    "builtin jobs -pr >&62; "
    'builtin printf "\\0%s\\0%s\\0%s\\0\\n" "$__hermes_mark" "$__hermes_status" "${PWD-}" >&62; '
    "{ builtin declare -p; builtin declare -f; builtin shopt -p; builtin alias -p; builtin umask -p; "
    'builtin printf "\\n# end\\n"; } >|"$__hermes_state" || builtin :; '
    "done"
)

# A plain sh reads no NUL: its fields come as lines, the command as a file. It keeps exports and the folder only.
_SH_READ = " && ".join(f"IFS= read -r __hermes_{field} <&8" for field in ("mark", "out", "state", "cd", "command"))
_SH = (
    "exec 8<&0 9>&1 </dev/null >/dev/null 2>&1; "
    'if test -r "$1"; then . "$1"; fi; set --; '
    f"while {_SH_READ}; do "
    'if test -z "$__hermes_cd" || cd -- "$__hermes_cd" >/dev/null; then '
    'exec </dev/null >"$__hermes_out" 2>&1; { . "$__hermes_command"; } 8<&- 9>&-; '
    "__hermes_status=$?; exec >/dev/null 2>&1; else __hermes_status=cd; fi; "
    "jobs -p >&9; "
    'printf "\\0%s\\0%s\\0%s\\0\\n" "$__hermes_mark" "$__hermes_status" "${PWD-}" >&9; '
    '{ export -p; printf "\\n# end\\n"; } >|"$__hermes_state" || :; '
    "done"
)


@dataclass(frozen=True, slots=True)
class Driver:
    """How to drive one kind of shell."""

    program: str
    options: tuple[str, ...]
    script: str
    separator: bytes
    command_in_file: bool = False
    note: str = ""


DRIVERS = (
    Driver("bash", ("--noprofile", "--norc"), _BASH, b"\0"),
    Driver(
        "sh",
        (),
        _SH,
        b"\n",
        command_in_file=True,
        note="bash was not found: commands run in sh, which keeps the folder and exported variables, not functions.",
    ),
)
"""Best first."""

DROPPED_ENV = frozenset(
    {"BASH_ENV", "ENV", "SHELLOPTS", "BASHOPTS", "CDPATH", "GLOBIGNORE", "PS4", "PROMPT_COMMAND", "BASH_XTRACEFD"}
)
"""Variables through which a surrounding shell would change how commands are read."""

CHILD_ENV = {
    "TERM": "dumb",
    "PAGER": "cat",
    "GIT_PAGER": "cat",
    "GIT_TERMINAL_PROMPT": "0",
    "EDITOR": "false",
    "VISUAL": "false",
    "GIT_EDITOR": "false",
    "PYTHONUNBUFFERED": "1",
}
"""Nobody sits at this terminal: programs that would ask, page or open an editor fail at once instead."""

TERMINAL_ENV = {"TERM": "xterm-256color"}
"""What a program with a terminal of its own is told."""

# A job's own shell: take the state, then run the command from its file. With a terminal it opens that first, which
# makes it the one that controls the session; what the state says for programs without a terminal is taken back.
_STATE = 'if test -r "$1"; then . "$1"; fi </dev/null >/dev/null 2>&1; '
_ON_TERMINAL = 'exec <>"$3" >&0 2>&0; '
_FOR_TERMINAL = f"unset {' '.join(name for name in CHILD_ENV if name not in ('TERM', 'PYTHONUNBUFFERED'))}; "
_FOR_TERMINAL += f"TERM={TERMINAL_ENV['TERM']}; "
_RUN_BASH = '__hermes_command=$(<"$2"); builtin set --; builtin eval "$__hermes_command"'
_RUN_SH = '. "$2"'
JOB_SCRIPTS = {
    ("bash", False): _STATE + _RUN_BASH,
    ("bash", True): _ON_TERMINAL + _STATE + _FOR_TERMINAL + _RUN_BASH,
    ("sh", False): _STATE + _RUN_SH,
    ("sh", True): _ON_TERMINAL + _STATE + _FOR_TERMINAL + _RUN_SH,
}
"""``(shell, with a terminal)`` -> script; gets the state's file, the command's file, and the terminal's path."""
