"""The persistent shell: what lasts, what is reported, what is ended."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest
from support.processes import is_running, pid_in, wait_for
from support.tool_context import PlainContext, call_tool, plain_context

from hermes_tui.tools.capture import HEAD_CHARS, KEPT_CHARS
from hermes_tui.tools.registry import load_builtin_tools
from hermes_tui.tools.session import shell_of


def sh(context: PlainContext, command: str, **args: object) -> dict[str, object]:
    return call_tool(context, "terminal", command=command, **args)


EXACT = {
    "output": ("echo hi", 0, "hi\n"),
    "nothing": ("true", 0, ""),
    "failure": ("false", 1, ""),
    "exit code": ("(exit 42)", 42, ""),
    "killed by a signal": ("sh -c 'kill -9 $$'", 137, None),
    "unknown program": ("nosuchprogram_x", 127, "bash: line 1: nosuchprogram_x: command not found\n"),
    "line number": ("echo a\nnosuchprogram_x", 127, "a\nbash: line 2: nosuchprogram_x: command not found\n"),
    "syntax error": ("if then", 2, None),
    "several lines": ("echo a\n# comment\necho b", 0, "a\nb\n"),
    "heredoc": ("cat <<'X'\n$a\nX", 0, "$a\n"),
    "both streams in order": ("echo 1; echo 2 >&2; echo 3; echo 4 >&2", 0, "1\n2\n3\n4\n"),
    "no final newline": ("printf x", 0, "x"),
    "latin-1": (r"printf 'caf\xe9\n'", 0, "caf\ufffd\n"),
    "bad utf-8": (r"printf '\xf0\x28'", 0, "\ufffd("),
    "nul": (r"printf 'a\0b\n'", 0, "a␀b\n"),
    "progress": (r"printf '1%%\r2%%\r100%%\n'", 0, "100%\n"),
    "escape": (r"printf '\033]0;pwn\007\033[31mred\033[0m\n'", 0, "red\n"),
    "unicode command": ("echo '漢字 é 👍'", 0, "漢字 é 👍\n"),
    "reads nothing": ("cat; echo done", 0, "done\n"),
    "stdin is empty": ("read x || echo eof", 0, "eof\n"),
    "quotes": ("""echo "it's" 'a "b"' """, 0, 'it\'s a "b"\n'),
    "reopened stdout": ("echo x > /dev/stdout", 0, "x\n"),
    "no controlling terminal": ("(: < /dev/tty) 2>/dev/null || echo none", 0, "none\n"),
    "descriptors are clean": ("ls /proc/self/fd | tr '\\n' ' '", 0, "0 1 2 3 "),
}


@pytest.mark.parametrize(("command", "code", "output"), EXACT.values(), ids=EXACT)
def test_exit_code_and_output_are_exact(context: PlainContext, command: str, code: int, output: str | None) -> None:
    result = sh(context, command)
    assert result["ok"] is True
    assert result["exit_code"] == code
    if output is not None:
        assert result["output"] == output


def test_folder_variables_functions_and_options_last(context: PlainContext) -> None:
    (context.workspace / "sub").mkdir()
    sh(context, "cd sub; export A=1; b=2; f() { echo f$1; }; set -o pipefail; shopt -s nullglob; alias g=true")
    result = sh(context, "pwd; echo $A$b; f x; false | true; echo $?; echo *.none")
    assert result["output"] == f"{context.workspace}/sub\n12\nfx\n1\n\n"
    assert result["cwd"] == f"{context.workspace}/sub"


@pytest.mark.parametrize(
    "command",
    ["exit 3", "exec sh -c 'exit 5'", "set -e; false; echo no", "kill -9 $$", "kill $$", "set -u; echo $nope", "exit"],
)
def test_a_command_that_ends_the_shell_reports_its_code_and_state_lives_on(context: PlainContext, command: str) -> None:
    code = subprocess.run(["bash", "-c", command], check=False, capture_output=True).returncode
    code = 128 - code if code < 0 else code
    (context.workspace / "sub").mkdir()
    sh(context, "cd sub; export A=1; f() { echo f; }; declare -a list=(x 'y z')")
    ended = sh(context, command)
    assert (ended["ok"], ended["exit_code"]) == (True, code)
    assert "ended the shell" in str(ended["note"])
    after = sh(context, 'f; echo $A "${list[1]}"; pwd; echo $-')
    assert str(after["output"]).startswith(f"f\n1 y z\n{context.workspace}/sub\n")
    assert "e" not in str(after["output"]).splitlines()[-1]


def test_output_of_the_exit_trap_is_kept(context: PlainContext) -> None:
    assert sh(context, "trap 'echo bye' EXIT; echo hi; exit 4")["output"] == "hi\nbye\n"


def test_a_trace_shows_the_command_and_nothing_of_the_loop(context: PlainContext) -> None:
    sh(context, "set -x")
    assert sh(context, "echo hi")["output"] == "+ builtin eval 'echo hi'\n++ echo hi\nhi\n"
    sh(context, "set +x")
    assert sh(context, "echo hi")["output"] == "hi\n"


def test_redirecting_the_shell_itself_does_not_lose_later_output(context: PlainContext) -> None:
    sh(context, "exec >taken 2>&1 </dev/zero; echo gone")
    assert sh(context, "echo here; cat taken")["output"] == "here\ngone\n"


def test_a_debug_trap_does_not_confuse_the_report(context: PlainContext) -> None:
    sh(context, "trap 'echo 123' DEBUG")
    result = sh(context, "(exit 7)")
    assert result["exit_code"] == 7
    assert "note" not in result


def test_a_function_named_like_a_builtin_does_no_harm(context: PlainContext) -> None:
    sh(context, "printf() { echo no; }; eval() { echo no; }; read() { echo no; }; cd() { echo no; }")
    assert sh(context, "echo yes")["output"] == "yes\n"


def test_background_job_neither_holds_the_call_nor_mixes_into_later_ones(context: PlainContext) -> None:
    started = time.monotonic()
    result = sh(context, "(sleep 1; echo late) & echo $! > pid; echo done")
    assert result["output"] == "done\n"
    assert time.monotonic() - started < 1
    assert f"job 1, process {pid_in(context.workspace / 'pid')}" in str(result["note"])
    assert sh(context, "wait; echo next")["output"] == "next\n"
    assert call_tool(context, "process", action="wait", job=1)["output"] == "late\n"


def test_background_job_with_its_output_elsewhere_is_named_once(context: PlainContext) -> None:
    assert "left something running" in str(sh(context, "sleep 60 >/dev/null 2>&1 & echo up")["note"])
    assert "note" not in sh(context, "true")


def test_an_endless_background_writer_does_not_hold_the_call(context: PlainContext) -> None:
    assert sh(context, "yes > /dev/stdout & echo $! > pid; echo done")["ok"] is True
    assert is_running(pid_in(context.workspace / "pid"))


def test_a_background_subshell_does_not_hide_the_end_of_the_shell(context: PlainContext) -> None:
    assert sh(context, "(while :; do sleep 1; done) & exit 5")["exit_code"] == 5


def test_timeout_ends_the_whole_tree_and_keeps_the_output(context: PlainContext) -> None:
    sh(context, "export A=1")
    command = "echo early; sh -c 'echo $$ > pid; sleep 60; echo x' | cat"
    result = sh(context, command, timeout_s=0.5)
    assert (result["ok"], result["exit_code"], result["timed_out"]) == (False, 124, True)
    assert result["output"] == "early\n"
    assert "0.5 s" in str(result["error"])
    assert not is_running(pid_in(context.workspace / "pid"))
    assert sh(context, "echo $A")["output"] == "1\n"


def test_timeout_ends_a_program_that_ignores_sigterm(context: PlainContext) -> None:
    result = sh(context, "trap '' TERM; echo $$ > pid; while :; do sleep 0.1; done", timeout_s=0.3)
    assert result["timed_out"] is True
    assert not is_running(pid_in(context.workspace / "pid"))


def test_timeout_of_a_flood_is_kept(context: PlainContext) -> None:
    result = sh(context, "yes", timeout_s=0.5)
    assert result["timed_out"] is True
    assert result["truncated"] is True


TREES = {
    "pipeline": "echo $BASHPID > pid; sleep 61 | cat",
    "child": "sh -c 'echo $$ > pid; sleep 61'",
    "background": "sleep 61 & echo $! > pid; wait",
    "double fork": "(sh -c 'echo $$ > pid; sleep 61' &); sleep 62",
    "job control": "set -m; sh -c 'echo $$ > pid; sleep 61'",
    "ignores SIGTERM": "sh -c \"trap '' TERM; echo \\$\\$ > pid; while :; do sleep 0.1; done\"",
}


@pytest.mark.parametrize("command", TREES.values(), ids=TREES)
def test_interrupt_ends_the_whole_tree_at_once(context: PlainContext, command: str) -> None:
    sh(context, "true")
    pids: list[int] = []
    stopped_at: list[float] = []

    def interrupt() -> None:
        pids.append(pid_in(context.workspace / "pid"))
        stopped_at.append(time.monotonic())
        context.cancel.cancel()

    thread = threading.Thread(target=interrupt)
    thread.start()
    result = sh(context, command)
    took_s = time.monotonic() - stopped_at[0]
    thread.join()
    assert (result["ok"], result["exit_code"], result["interrupted"]) == (False, 130, True)
    assert not is_running(pids[0])
    assert took_s < 5  # the 250 ms of the design are measured by the bench, not asserted here


def test_interrupt_spares_jobs_of_earlier_calls_until_the_session_ends(context: PlainContext) -> None:
    sh(context, "sleep 300 >/dev/null 2>&1 & echo $! > server")
    server = pid_in(context.workspace / "server")
    marker = context.workspace / "pid"
    thread = threading.Thread(target=lambda: (pid_in(marker), context.cancel.cancel()))
    thread.start()
    sh(context, "sh -c 'echo $$ > pid; sleep 61'")
    thread.join()
    assert not is_running(pid_in(marker))
    assert is_running(server)
    context.state.close()
    wait_for(lambda: not is_running(server), "the job outlived its session")


def test_a_cancelled_call_does_not_run(context: PlainContext) -> None:
    context.cancel.cancel()
    assert sh(context, "sleep 60")["interrupted"] is True


def test_closing_the_session_ends_shell_and_jobs(tmp_path: Path) -> None:
    with plain_context(tmp_path) as context:
        sh(context, "echo $$ > shell; sleep 300 & echo $! > job")
        pids = [pid_in(context.workspace / name) for name in ("shell", "job")]
    wait_for(lambda: not any(map(is_running, pids)), "processes were left")


def test_a_shell_that_was_killed_from_outside_comes_back(context: PlainContext) -> None:
    sh(context, "echo $$ > pid; export A=1")
    sh(context, "true")  # by now the state of the first call is on disk
    os.kill(pid_in(context.workspace / "pid"), signal.SIGKILL)
    wait_for(lambda: not is_running(pid_in(context.workspace / "pid")), "the shell did not end")
    result = sh(context, "echo $A")
    assert result["output"] == "1\n"


def test_a_deleted_folder_is_left_with_a_note(context: PlainContext) -> None:
    (context.workspace / "sub").mkdir()
    sh(context, "cd sub")
    result = sh(context, "rm -r ../sub")
    assert result["cwd"] == str(context.workspace)
    assert "was deleted" in str(result["note"])
    assert sh(context, "pwd")["output"] == f"{context.workspace}\n"


def test_a_workspace_deleted_from_outside_leads_to_a_folder_that_exists(context: PlainContext) -> None:
    sh(context, "true")
    shutil.rmtree(context.workspace)
    result = sh(context, "pwd; ls >/dev/null && echo ok")
    assert "is gone" in str(result["note"])
    assert str(result["output"]).endswith("ok\n")


def test_a_folder_that_was_made_again_is_entered(context: PlainContext) -> None:
    sub = context.workspace / "sub"
    sub.mkdir()
    sh(context, "cd sub")
    sub.rmdir()
    sub.mkdir()
    (sub / "new").touch()
    assert sh(context, "ls")["output"] == "new\n"


def test_cwd_argument_changes_the_folder_for_good(context: PlainContext) -> None:
    (context.workspace / "a b").mkdir()
    assert sh(context, "pwd", cwd="a b")["output"] == f"{context.workspace}/a b\n"
    assert sh(context, "pwd")["output"] == f"{context.workspace}/a b\n"
    assert sh(context, "pwd", cwd="..")["cwd"] == str(context.workspace)


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"command": "  "}, "empty"),
        ({"command": "a\0b"}, "NUL"),
        ({"command": "echo \ud800"}, "Unicode"),
        ({"command": "x" * 100_001}, "too long"),
        ({"command": "touch ran", "cwd": "nowhere"}, "not a folder"),
    ],
)
def test_what_cannot_run_is_refused_in_words(context: PlainContext, args: dict[str, str], words: str) -> None:
    result = call_tool(context, "terminal", **args)
    assert result["ok"] is False
    assert words in result["error"]
    assert not (context.workspace / "ran").exists()


def test_long_output_keeps_head_and_tail_and_the_log_has_all(context: PlainContext) -> None:
    result = sh(context, "seq 1 40000")
    output = str(result["output"])
    assert result["truncated"] is True
    assert len(output) < KEPT_CHARS + 300
    assert output.startswith("1\n2\n")
    assert output.endswith("\n39999\n40000\n")
    full = "".join(f"{number}\n" for number in range(1, 40_001))
    log = Path(str(result["log_path"]))
    assert log.read_text() == full
    assert f"{len(full) - KEPT_CHARS:,} characters cut" in output
    assert str(log) in output
    assert output[:HEAD_CHARS] == full[:HEAD_CHARS]


def test_output_of_exactly_the_limit_is_whole(context: PlainContext) -> None:
    result = sh(context, f"head -c {KEPT_CHARS} /dev/zero | tr '\\0' x")
    assert result["output"] == "x" * KEPT_CHARS
    assert "truncated" not in result


def test_an_unwritable_log_is_said_and_output_still_kept(context: PlainContext) -> None:
    context.spill_dir.rmdir()
    context.spill_dir.touch()
    result = call_tool(context, "terminal", command="echo hi")
    assert result["output"] == "hi\n"
    long = sh(context, "seq 1 40000")
    assert "log could not be written" in str(long["note"])
    assert "log_path" not in long


def test_binary_output_is_named_as_such(context: PlainContext) -> None:
    result = sh(context, "head -c 3000 /bin/sh")
    assert str(result["output"]).startswith("(binary output, 3,000 bytes")


def test_live_output_arrives_before_the_end_and_adds_up(context: PlainContext) -> None:
    seen = threading.Event()
    context.on_output = lambda text: (context.workspace / "go").touch() or seen.set() if "first" in text else None
    result = sh(context, "echo first; until test -e go; do sleep 0.01; done; echo second")
    assert seen.is_set()
    assert "".join(context.emitted) == "first\nsecond\n" == result["output"]


def test_live_output_of_a_prompt_without_newline_is_shown(context: PlainContext) -> None:
    context.on_output = lambda text: (context.workspace / "go").touch() if "name?" in text else None
    result = sh(context, "printf 'name? '; until test -e go; do sleep 0.01; done; echo x")
    assert "".join(context.emitted) == "name? x\n" == result["output"]


def test_live_output_of_a_flood_is_thinned(context: PlainContext) -> None:
    sh(context, "yes | head -c 5000000")
    assert sum(map(len, context.emitted)) < 5_000_000
    assert max(map(len, context.emitted)) < 40_000


NEEDS_A_PERSON = {
    "read": "read -p 'name? ' n",
    "python input": "python3 -c 'input()'",
    "message": "echo 'sudo: a terminal is required to read the password' >&2; exit 1",
}


@pytest.mark.parametrize("command", NEEDS_A_PERSON.values(), ids=NEEDS_A_PERSON)
def test_a_program_that_asks_fails_at_once_with_a_hint(context: PlainContext, command: str) -> None:
    result = sh(context, command)
    assert result["exit_code"] != 0
    assert "interactive input" in str(result["note"])


def test_editors_and_pagers_of_the_person_are_not_started(tmp_path: Path) -> None:
    with plain_context(tmp_path, env={**os.environ, "EDITOR": "vi", "PAGER": "less"}) as context:
        assert sh(context, "echo $EDITOR $GIT_EDITOR $PAGER $TERM")["output"] == "false false cat dumb\n"


@pytest.mark.parametrize("name", ["BASH_ENV", "ENV", "PROMPT_COMMAND", "CDPATH", "BASH_FUNC_ls%%"])
def test_the_surrounding_shell_cannot_change_what_commands_mean(tmp_path: Path, name: str) -> None:
    script = tmp_path / "evil"
    script.write_text("echo evil\nls() { echo evil; }\n")
    value = "() { echo evil; }" if name.startswith("BASH_FUNC") else str(script)
    with plain_context(tmp_path, env={**os.environ, name: value}) as context:
        assert sh(context, "ls; echo end")["output"] == "end\n"


def test_only_the_given_environment_reaches_the_command(tmp_path: Path) -> None:
    with plain_context(tmp_path, env={"PATH": os.environ["PATH"], "ONLY": "1"}) as context:
        output = str(sh(context, "env")["output"])
    assert "ONLY=1" in output
    assert "PYTEST_CURRENT_TEST" not in output


@pytest.fixture
def without_bash(tmp_path: Path) -> dict[str, str]:
    """An environment whose PATH has a plain sh but no bash."""
    programs = tmp_path / "bin"
    programs.mkdir()
    dash = shutil.which("dash")
    if dash is None:
        pytest.skip("needs dash to stand in for a plain sh")
    (programs / "sh").symlink_to(dash)
    for name in ("sleep", "cat", "seq", "pwd", "rm"):
        (programs / name).symlink_to(str(shutil.which(name)))
    return {"PATH": str(programs), "HOME": str(tmp_path)}


def test_without_bash_sh_takes_over_and_says_so(tmp_path: Path, without_bash: dict[str, str]) -> None:
    with plain_context(tmp_path, env=without_bash) as context:
        (context.workspace / "it's").mkdir()
        first = sh(context, 'export A=1; cd "it\'s"; echo hi; (exit 4)')
        assert (first["exit_code"], first["output"]) == (4, "hi\n")
        assert "bash was not found" in str(first["note"])
        assert sh(context, "echo $A; pwd")["output"] == f"1\n{context.workspace}/it's\n"
        assert sh(context, "if then")["exit_code"] == 2
        assert sh(context, "echo $A; sleep 60 & echo x")["output"] == "1\nx\n"
        assert sh(context, "sleep 60", timeout_s=0.2)["timed_out"] is True


def test_without_any_shell_the_tool_says_what_is_missing(tmp_path: Path) -> None:
    with plain_context(tmp_path, env={"PATH": str(tmp_path)}) as context:
        assert "Neither bash nor sh" in str(sh(context, "true")["error"])


def test_the_assessment_names_command_and_live_folder(context: PlainContext) -> None:
    tool = load_builtin_tools().get("terminal")
    assert tool is not None
    (context.workspace / "sub").mkdir()
    assert tool.assess({"command": "ls"}, context).cwd == str(context.workspace)
    sh(context, "cd sub")
    assessment = tool.assess({"command": "rm x"}, context)
    assert (assessment.command, assessment.cwd) == ("rm x", f"{context.workspace}/sub")
    assert not assessment.read_only
    assert tool.assess({"command": "ls", "cwd": ".."}, context).cwd.endswith("/sub/..")


def test_the_card_shows_command_code_and_tail(context: PlainContext) -> None:
    tool = load_builtin_tools().get("terminal")
    assert tool is not None
    args = {"command": "echo a; false\nfalse"}
    card = tool.display(args, sh(context, args["command"]))
    assert (card["kind"], card["verb"], card["target"]) == ("terminal", "terminal", "echo a; false")
    assert (card["exit_code"], card["output"], card["summary"]) == (1, "a\n", "exit 1")
    assert card["cwd"] == str(context.workspace)
    assert tool.display(args, sh(context, "true"))["output"] == "(no output)"


def test_calls_from_two_threads_queue(context: PlainContext) -> None:
    results: list[object] = []
    threads = [
        threading.Thread(target=lambda n=n: results.append(sh(context, f"x={n}; sleep 0.05; echo $x")["output"]))
        for n in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(results, key=str) == ["0\n", "1\n", "2\n", "3\n"]


def test_the_shell_is_not_started_before_a_command_runs(context: PlainContext) -> None:
    assert shell_of(context).cwd == str(context.workspace)
    call_tool(context, "read_file", path=".")
    assert shell_of(context)._process is None
