"""Background jobs: started, read, answered, awaited, ended; and what the model hears of them."""

from __future__ import annotations

import os
import shlex
import stat
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from support.processes import is_running, pid_in, wait_for
from support.tool_context import PlainContext, call_tool, plain_context

from hermes_tui.tools import jobs as jobs_module
from hermes_tui.tools.base import ToolFailure
from hermes_tui.tools.job_output import TAIL_BYTES, JobOutput
from hermes_tui.tools.job_spawn import _Input
from hermes_tui.tools.job_watch import INTERVAL_S, Watch
from hermes_tui.tools.registry import load_builtin_tools
from hermes_tui.tools.session import jobs_of


def sh(context: PlainContext, command: str, **args: Any) -> dict[str, Any]:
    return call_tool(context, "terminal", command=command, **args)


def start(context: PlainContext, command: str, **args: Any) -> dict[str, Any]:
    return sh(context, command, background=True, **args)


def process(context: PlainContext, action: str, job: int | None = None, **args: Any) -> dict[str, Any]:
    return call_tool(context, "process", action=action, **({} if job is None else {"job": job}), **args)


# Starting


def test_a_job_has_the_folder_variables_and_functions_of_the_shell(context: PlainContext) -> None:
    sh(context, "mkdir sub; cd sub; export A=1; B=2; greet() { echo hello; }; shopt -s extglob")
    start(context, "echo $A $B; greet; pwd; cd /; A=9")
    assert process(context, "wait", 1)["state"] == "done"
    assert jobs_of(context).get(1).output.read(0, 1_000).text == f"1 2\nhello\n{context.workspace / 'sub'}\n"
    assert sh(context, "echo $A; pwd")["output"] == f"1\n{context.workspace / 'sub'}\n"


def test_a_job_returns_at_once_and_outlives_the_call(context: PlainContext) -> None:
    result = start(context, "echo up; sleep 60")
    assert (result["ok"], result["job"], result["state"]) == (True, 1, "running")
    assert process(context, "wait", 1, until="up")["seen"] is True
    context.cancel.cancel()
    assert is_running(result["pid"])


@pytest.mark.parametrize(("command", "code", "words"), [("nosuch_x", 127, "not found"), ("exit 3", 3, ""), ("", 1, "")])
def test_a_command_that_fails_at_once_is_told_so(context: PlainContext, command: str, code: int, words: str) -> None:
    result = start(context, command or "false")
    if result["state"] == "running":  # a slow machine
        result = process(context, "wait", 1)
    assert (result["state"], result["exit_code"]) == ("failed", code)
    assert words in str(jobs_of(context).get(1).output.read(0, 1_000).text)


def test_too_many_jobs_are_refused(context: PlainContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs_module, "MAX_RUNNING", 1)  # the limit is thirty-two processes
    start(context, "sleep 60")
    assert "end one with process kill" in str(start(context, "sleep 60")["error"])


def test_ended_jobs_are_forgotten_in_the_end(context: PlainContext, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs_module, "MAX_KEPT", 2)
    for _ in range(4):
        number = start(context, "true")["job"]
        process(context, "wait", number)
    assert [row["job"] for row in process(context, "list")["jobs"]] == [3, 4]
    assert "no job 1. Jobs: 3, 4" in process(context, "log", 1)["error"]


# Reading


def test_the_log_is_read_by_cursor_from_memory_and_file(context: PlainContext) -> None:
    start(context, "seq 1 60000")
    process(context, "wait", 1)
    text, cursor = "", 0
    while True:
        part = process(context, "log", 1, cursor=cursor, limit=50_000)
        text, cursor = text + part["output"], part["cursor"]
        if "more" not in part:
            break
    assert text == "".join(f"{n}\n" for n in range(1, 60_001))
    assert len(text) > 2 * TAIL_BYTES
    assert process(context, "log", 1, cursor=-12)["output"] == "59999\n60000\n"
    log = Path(part["log_path"])
    assert log.read_text() == text
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


def test_unread_output_comes_once_and_what_was_skipped_is_said(context: PlainContext) -> None:
    first = start(context, "echo one; read x; echo two; read x; seq 1 20000")
    waited = process(context, "wait", 1, until="one")
    assert first["output"] + waited["output"] == "one\n"
    assert waited["seen"] is True, "also what an earlier call has shown"
    assert process(context, "submit", 1, data="")["output"] == "two\n"
    jobs_of(context).get(1).process.write(b"\n")
    jobs_of(context).get(1).wait(10)
    last = process(context, "wait", 1)
    assert last["output"].endswith("\n19999\n20000\n")
    assert last["skipped_bytes"] + len(last["output"]) == len("".join(f"{n}\n" for n in range(1, 20_001)))
    assert process(context, "log", 1)["output"] == ""


def test_secrets_do_not_reach_the_log_or_the_model(context: PlainContext) -> None:
    start(context, "echo key=PLANTED-SECRET; printf 'again PLANTED-SECRET'; sleep 60")
    assert process(context, "wait", 1, until="again")["seen"] is True
    part = process(context, "log", 1, cursor=0)
    assert part["output"] == "key=[redacted:test]\nagain [redacted:test]"
    assert "PLANTED" not in Path(part["log_path"]).read_text()
    assert "PLANTED" not in str(process(context, "list")["jobs"][0]["last_line"])


def test_bytes_become_text_as_in_the_foreground(context: PlainContext) -> None:
    start(context, r"printf 'caf\xe9 \xf0\x28 a\0b\n1%%\r100%%\n\033[31mred\033[0m\n漢字\n'")
    process(context, "wait", 1)
    assert process(context, "log", 1, cursor=0)["output"] == "caf\ufffd \ufffd( a␀b\n100%\nred\n漢字\n"


def test_a_flood_stays_small_in_memory_and_whole_in_the_file(context: PlainContext) -> None:
    start(context, "yes 0123456789 | head -c 22000000")
    process(context, "wait", 1, timeout_s=60)
    output = jobs_of(context).get(1).output
    assert output.size == 22_000_000
    assert len(output._tail) <= TAIL_BYTES
    assert output.log_path.stat().st_size == 22_000_000


def test_an_unwritable_log_keeps_the_end_and_says_so(tmp_path: Path) -> None:
    output = JobOutput(tmp_path / "no" / "log")
    output.feed(b"x" * 99 + b"\n" + b"y\n" * TAIL_BYTES)
    piece = output.read(0, 100)
    assert "incomplete" in output.note
    assert piece.lost_bytes == 100 + TAIL_BYTES
    assert piece.text.startswith("y\n")


def test_a_log_stops_growing_at_its_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hermes_tui.tools.job_output.LOG_CAP_BYTES", 1_000)  # the limit is a gigabyte
    output = JobOutput(tmp_path / "log")
    output.feed(b"0123456789\n" * 200)
    assert (tmp_path / "log").stat().st_size == 1_000
    assert "beginning only" in output.note
    assert output.read(-22, 100).text == "0123456789\n" * 2
    assert output.read(-21, 100).text == "0123456789\n"


@pytest.mark.parametrize("limit", range(1, 9))
def test_a_piece_never_cuts_a_character(tmp_path: Path, limit: int) -> None:
    output = JobOutput(tmp_path / "log")
    output.feed("é漢👍x\n".encode() * 5)
    text, cursor = "", 0
    while (piece := output.read(cursor, max(limit, 4))).text:
        text, cursor = text + piece.text, piece.cursor
    assert text == "é漢👍x\n" * 5


# Answering


def test_input_of_a_background_job_is_open_and_can_be_ended(context: PlainContext) -> None:
    start(context, "cat; echo over")
    assert process(context, "submit", 1, data="漢字 'quoted'")["output"] == "漢字 'quoted'\n"
    process(context, "write", 1, data="half")
    process(context, "close", 1)
    assert process(context, "wait", 1)["state"] == "done"
    assert process(context, "log", 1, cursor=0)["output"] == "漢字 'quoted'\nhalfover\n"
    assert "nothing can be sent" in process(context, "submit", 1, data="x")["error"]


def test_a_prompt_without_a_newline_is_seen(context: PlainContext) -> None:
    start(context, "printf 'name? '; read n; echo hi $n")
    process(context, "wait", 1, until="name?")
    assert process(context, "log", 1)["output"] == "name? "
    assert process(context, "submit", 1, data="you")["output"].endswith("hi you\n")


def test_a_job_that_does_not_read_is_not_waited_for_for_ever(
    context: PlainContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hermes_tui.tools.job_spawn.WRITE_TIMEOUT_S", 0.1)  # five seconds otherwise
    monkeypatch.setattr("hermes_tui.tools.process.SETTLE_S", 0.05)
    start(context, "sleep 60")
    for _ in range(10):
        result = process(context, "write", 1, data="x" * 20_000)
    assert "does not read" in result["error"]


def test_jobs_of_the_shell_take_no_input(context: PlainContext) -> None:
    sh(context, "sleep 60 & echo up")
    assert "started with &" in process(context, "submit", 1, data="x")["error"]


@pytest.mark.parametrize(
    ("args", "words"),
    [
        ({"action": "log"}, "needs the number"),
        ({"action": "log", "job": 9}, "no job 9. Jobs: 1"),
        ({"action": "write", "job": 1}, "needs data or keys"),
        ({"action": "write", "job": 1, "keys": ["up"]}, "has no terminal"),
        ({"action": "submit", "job": 1, "keys": ["up"]}, "go with write"),
    ],
)
def test_what_cannot_be_done_is_refused_in_words(context: PlainContext, args: dict[str, Any], words: str) -> None:
    start(context, "sleep 60")
    tool = load_builtin_tools().get("process")
    assert tool is not None
    with pytest.raises(ToolFailure, match=words):
        tool.handler(args, context)


# Terminals


def test_a_program_on_a_terminal_finds_one(context: PlainContext) -> None:
    result = sh(
        context, "test -t 0 && test -t 1 && tty; stty size; echo $TERM; (: </dev/tty) && echo controls", pty=True
    )
    lines = str(result["output"]).splitlines()
    assert lines[0].startswith("/dev/")
    assert lines[1:] == ["24 80", "xterm-256color", "controls"]
    assert result["exit_code"] == 0
    assert context.screens[-1].startswith("/dev/")


def test_a_terminal_call_gives_its_exit_code_and_leaves_the_shell_alone(context: PlainContext) -> None:
    assert sh(context, "cd /; exit 7", pty=True)["exit_code"] == 7
    assert sh(context, "pwd")["output"] == f"{context.workspace}\n"


def test_a_terminal_call_that_waits_for_keys_times_out_with_its_screen(context: PlainContext) -> None:
    result = sh(context, "printf '\\033[?1049h\\033[5;3Hmenu'; echo $$ > pid; read x", pty=True, timeout_s=0.6)
    assert (result["ok"], result["timed_out"], result["exit_code"]) == (False, True, 124)
    assert result["screen"] == "\n\n\n\n  menu"
    assert "background" in str(result["error"])
    assert not is_running(pid_in(context.workspace / "pid"))


def test_an_interrupt_ends_a_terminal_call_with_its_tree(context: PlainContext) -> None:
    marker = context.workspace / "pid"
    thread = threading.Thread(target=lambda: (pid_in(marker), context.cancel.cancel()))
    thread.start()
    result = sh(context, "sh -c 'echo $$ > pid; sleep 61' | cat", pty=True)
    thread.join()
    assert result["interrupted"] is True
    assert not is_running(pid_in(marker))


def test_a_long_terminal_output_keeps_both_ends(context: PlainContext) -> None:
    result = sh(context, "seq 1 30000", pty=True)
    assert str(result["output"]).startswith("1\n2\n")
    assert str(result["output"]).endswith("29999\n30000\n")
    assert result["truncated"] is True
    assert Path(str(result["log_path"])).read_text().count("\n") == 30_000


def test_the_model_drives_an_interpreter(context: PlainContext) -> None:
    start(context, f"{sys.executable} -q", pty=True)
    assert process(context, "wait", 1, until=">>>")["seen"] is True
    process(context, "submit", 1, data="print(6 * 7)")
    assert process(context, "wait", 1, until="42")["screen"].endswith("\n42\n>>>")
    process(context, "write", 1, keys=["ctrl+d"])
    assert process(context, "wait", 1)["state"] == "done"


def test_the_model_drives_a_full_screen_program(context: PlainContext) -> None:
    (context.workspace / "notes").write_text("".join(f"line {n}\n" for n in range(100)))
    start(context, "less notes", pty=True)
    assert process(context, "wait", 1, until="line 22")["screen"].startswith("line 0\n")
    process(context, "write", 1, keys=["down", "pagedown"])
    assert process(context, "wait", 1, until="line 30")["screen"].startswith("line 2")
    process(context, "write", 1, data="q")
    assert process(context, "wait", 1)["exit_code"] == 0


def test_an_unknown_key_is_named(context: PlainContext) -> None:
    start(context, "cat", pty=True)
    with pytest.raises(ToolFailure, match="no key 'hyper'"):
        assessed(context, 1, action="write", keys=["hyper"])


# Waiting and ending


def test_wait_ends_with_the_text_the_job_or_the_time(context: PlainContext) -> None:
    start(context, "echo begin; read x; exit 4")
    assert process(context, "wait", 1, until="begin")["seen"] is True
    late = process(context, "wait", 1, timeout_s=0.05)
    assert (late["state"], late["note"]) == ("running", "It still runs after 0.05 s.")
    threading.Thread(target=lambda: jobs_of(context).get(1).process.write(b"\n")).start()
    over = process(context, "wait", 1, until="never")
    assert (over["seen"], over["exit_code"]) == (False, 4)
    assert "without writing 'never'" in over["note"]


def test_an_interrupt_ends_the_wait_and_not_the_job(context: PlainContext) -> None:
    pid = start(context, "sleep 60")["pid"]
    threading.Timer(0.05, context.cancel.cancel).start()
    assert "Interrupted" in process(context, "wait", 1)["error"]
    assert is_running(pid)


def test_kill_ends_the_whole_tree_also_of_a_job_that_ignores_it(
    context: PlainContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hermes_tui.tools.job.KILL_GRACE_S", 0.1)
    start(context, "trap '' TERM; sh -c 'echo $$ > pid; sleep 61' | cat")
    child = pid_in(context.workspace / "pid")
    assert process(context, "kill", 1)["state"] == "ended"
    assert not is_running(child)
    assert process(context, "kill", 1)["state"] == "ended", "killing twice does no harm"


def test_kill_ends_what_a_command_left_behind_and_nothing_else(context: PlainContext) -> None:
    sh(context, "sleep 300 >/dev/null 2>&1 & echo $! > one")
    sh(context, "(sh -c 'echo $$ > two; sleep 300' &) >/dev/null; sleep 300 & :")
    one, two = (pid_in(context.workspace / name) for name in ("one", "two"))
    process(context, "kill", 2)
    assert not is_running(two)
    assert is_running(one)
    assert sh(context, "echo alive")["output"] == "alive\n"


def test_a_job_lasts_as_long_as_anything_it_started(context: PlainContext) -> None:
    start(context, "sh -c 'echo $$ > pid; exec sleep 300' >/dev/null 2>&1 & exit 5")
    pid_in(context.workspace / "pid")
    assert process(context, "wait", 1, timeout_s=0.05)["state"] == "running"
    os.kill(pid_in(context.workspace / "pid"), 15)
    assert process(context, "wait", 1)["exit_code"] == 5


def test_jobs_end_with_the_session_unless_detached(tmp_path: Path) -> None:
    with plain_context(tmp_path) as context:
        start(context, "trap '' TERM; echo $$ > stubborn; while :; do sleep 0.1; done")
        start(context, "cat; sleep 300", pty=True)
        kept = start(context, "nohup sh -c 'echo $$ > kept; echo PLANTED-SECRET; exec sleep 300'")
        stubborn, survivor = (pid_in(context.workspace / name) for name in ("stubborn", "kept"))
        assert f"only kill {kept['pid']} ends it" in kept["note"]
        assert process(context, "wait", 3, until="redacted")["seen"] is True
        assert process(context, "log", 3, cursor=0)["output"] == "[redacted:test]\n"
        assert "detached" in process(context, "list")["jobs"][2]
        assert "detached" in process(context, "submit", 3, data="x")["error"]
        terminal = jobs_of(context).get(2).process.pid
    wait_for(lambda: not is_running(stubborn) and not is_running(terminal), "jobs outlived the session")
    assert is_running(survivor)
    os.kill(survivor, 9)


# Moving to the background


@pytest.mark.parametrize("pty", [False, True])
def test_a_running_command_moves_to_the_background(context: PlainContext, pty: bool) -> None:
    sh(context, "A=1; sleep 300 >/dev/null 2>&1 & echo $! > server")
    context.on_output = lambda text: "begin" in text and jobs_of(context).promote()
    moved = sh(context, "cd /; A=2; echo begin; until test -e go; do sleep 0.02; done; echo end; exit 3".replace(
        "go", str(context.workspace / "go")
    ), pty=pty)  # fmt: skip
    context.on_output = lambda text: None
    number = moved["job"]
    assert (moved["ok"], moved["moved"], moved["state"]) == (True, True, "running")
    assert f"job {number}" in str(moved["note"])
    assert sh(context, "echo $A; pwd")["output"] == f"1\n{context.workspace}\n", "the session has a shell of its own"
    (context.workspace / "go").touch()
    assert process(context, "wait", number)["exit_code"] == 3
    assert "end" in process(context, "log", number, cursor=0)["output"]
    assert is_running(pid_in(context.workspace / "server")), "a job of before is nobody else's"
    assert jobs_of(context).promote() is False


def test_a_moved_command_can_be_ended_without_harm_to_others(context: PlainContext) -> None:
    sh(context, "sleep 300 >/dev/null 2>&1 & echo $! > server")
    context.on_output = lambda text: jobs_of(context).promote()
    number = sh(context, "echo begin; echo $$ > pid; sleep 300")["job"]
    assert process(context, "kill", number)["state"] == "ended"
    assert not is_running(pid_in(context.workspace / "pid"))
    assert is_running(pid_in(context.workspace / "server"))


# What the model hears


def test_an_end_is_told_once_and_only_when_nobody_saw_it(context: PlainContext) -> None:
    table = jobs_of(context)
    start(context, "read x; echo result; exit 2")
    start(context, "read x")
    for job in table.all():
        job.process.write(b"\n")
        job.wait(10)
    process(context, "wait", 2)
    wait_for(lambda: len(table._news) == 2, "no news")
    news = table.take_news()
    assert news == ["Job 1 (read x; echo result; exit 2) ended with exit code 2. The end of its output:\nresult"]
    assert table.take_news() == []


def test_watched_words_are_told_now_and_then() -> None:
    now = [100.0]
    watch = Watch(["ERROR", "ready"], clock=lambda: now[0])
    assert watch.look("all fine\n") == ""
    assert watch.look("server ready\nfine\n") == "server ready"
    assert watch.look("ERROR 1\n") == ""
    said = []
    for _ in range(4):
        now[0] += INTERVAL_S
        said.append(watch.look("ERROR 2\n"))
        watch.look("ERROR 3\n")
    assert said[0] == "ERROR 2\n(1 more matching lines were not told)"
    assert said[2].endswith("this watch is off now.)")
    assert said[3] == ""


def test_a_watched_line_becomes_news(context: PlainContext) -> None:
    start(context, "read x; echo listening on 8080; sleep 60", watch=["listening"])
    process(context, "submit", 1, data="")
    wait_for(lambda: bool(jobs_of(context)._news), "no news")
    assert jobs_of(context).take_news() == [
        "Job 1 (read x; echo listening on 8080; sleep 60) wrote:\nlistening on 8080"
    ]


# What the gate is told


def assessed(context: PlainContext, job: int, **args: Any) -> Any:
    tool = load_builtin_tools().get("process")
    assert tool is not None
    return tool.assess({"job": job, **args}, context)


def test_looking_and_ending_need_no_permission(context: PlainContext) -> None:
    start(context, "cat", pty=True)
    for action in ("list", "log", "wait", "close", "kill"):
        assert assessed(context, 1, action=action).read_only
    assert assessed(context, 1, action="write", keys=["ctrl+c"]).read_only


def settled_readers(context: PlainContext, job: int, program: str) -> None:
    def reads() -> bool:
        readers = jobs_of(context).get(job).process.readers() or []
        return any(words and Path(words[0]).name == program for words, _ in readers)

    wait_for(reads, f"{program} does not read")


@pytest.mark.parametrize("pty", [False, True])
def test_text_for_a_shell_is_a_command(context: PlainContext, pty: bool) -> None:
    start(context, "bash --norc --noprofile", pty=pty)
    settled_readers(context, 1, "bash")
    found = assessed(context, 1, action="submit", data="rm -rf build")
    assert (found.command, found.is_editable, found.cwd) == ("rm -rf build", False, str(context.workspace))


def test_half_a_command_is_judged_with_its_other_half(context: PlainContext) -> None:
    start(context, "bash")
    settled_readers(context, 1, "bash")
    assert assessed(context, 1, action="write", data="rm -r").read_only
    process(context, "write", 1, data="rm -r")
    assert assessed(context, 1, action="submit", data="f build").command == "rm -rf build"
    with pytest.raises(ToolFailure, match="whole commands"):
        assessed(context, 1, action="submit", data="f 'build")
    with pytest.raises(ToolFailure, match="whole commands"):
        assessed(context, 1, action="write", data="f a\nrm b")
    with pytest.raises(ToolFailure, match="whole commands"):
        assessed(context, 1, action="submit", data="f a \\")


@pytest.mark.parametrize(
    "sent",
    [
        {"data": "rm -rf build", "keys": ["ctrl+o"]},
        {"data": "cat ~/.ss\t/id_r\t\r"},
        {"keys": ["up"]},
        {"data": "!rm\r"},
        {"data": "^ls^rm\r"},
    ],
    ids=["runs without a line's end", "completion", "recall", "history", "substitution"],
)
def test_keys_that_change_what_a_shell_runs_are_refused(context: PlainContext, sent: dict[str, Any]) -> None:
    start(context, "bash --norc --noprofile", pty=True)
    settled_readers(context, 1, "bash")
    with pytest.raises(ToolFailure, match="plain commands"):
        assessed(context, 1, action="write", **sent)


def test_keys_for_a_program_in_a_shell_are_sent_and_those_that_run_a_line_are_asked_about(
    context: PlainContext,
) -> None:
    start(context, "bash --norc --noprofile", pty=True)
    settled_readers(context, 1, "bash")
    process(context, "submit", 1, data="sleep 60")
    settled_readers(context, 1, "sleep")
    assert "rm" not in assessed(context, 1, action="write", keys=["down", "up"]).command
    assert "rm -rf build\x0f" in assessed(context, 1, action="write", data="rm -rf build", keys=["ctrl+o"]).command


def test_what_looks_like_recall_and_is_none_goes_to_a_shell(context: PlainContext) -> None:
    start(context, "bash --norc --noprofile", pty=True)
    settled_readers(context, 1, "bash")
    line = 'if ! [ "$a" != "b!" ]; then kill $! "${!x}" \\!y; fi'
    assert assessed(context, 1, action="submit", data=line).command == line


def test_a_line_that_is_given_up_is_judged_as_if_it_ran(context: PlainContext) -> None:
    start(context, "bash --norc --noprofile", pty=True)
    settled_readers(context, 1, "bash")
    process(context, "write", 1, data="rm -rf build")
    assert assessed(context, 1, action="write", keys=["ctrl+c"]).command == "rm -rf build"
    process(context, "write", 1, keys=["ctrl+c"])
    assert assessed(context, 1, action="submit", data="ls").command == "ls"


def test_a_shell_is_judged_where_it_is(context: PlainContext, tmp_path: Path) -> None:
    start(context, "bash")
    settled_readers(context, 1, "bash")
    process(context, "submit", 1, data=f"cd '{tmp_path}' && echo there")
    assert process(context, "wait", 1, until="there")["seen"]
    found = assessed(context, 1, action="submit", data="echo x >> .bashrc")
    assert found.command == f"cd {shlex.quote(str(tmp_path))}\necho x >> .bashrc"


def test_a_job_that_starts_while_the_session_ends_is_ended(context: PlainContext) -> None:
    table = jobs_of(context)
    table.close()
    started = start(context, "sleep 60")
    assert table.get(started["job"]).state == "ended"
    assert not is_running(started["pid"])


def test_a_detached_job_whose_log_is_gone_is_still_listed(context: PlainContext) -> None:
    start(context, "nohup sleep 60")
    job = jobs_of(context).get(1)
    job.output.log_path.unlink()
    assert jobs_of(context).rows()[0]["last_line"] == ""
    job.kill()


def test_a_shell_that_waits_for_a_program_still_counts(context: PlainContext) -> None:
    start(context, "bash")
    settled_readers(context, 1, "bash")
    process(context, "submit", 1, data="sleep 60")
    settled_readers(context, 1, "sleep")
    assert "rm -rf build" in assessed(context, 1, action="submit", data="rm -rf build").command.split("\n")


def test_a_shell_that_comes_later_counts_too(context: PlainContext) -> None:
    start(context, "sleep 60; bash")
    settled_readers(context, 1, "sleep")
    found = assessed(context, 1, action="submit", data="rm -rf build").command
    assert found.endswith("{ sleep 60; bash\n} <<'INPUT'\nrm -rf build\nINPUT")


def test_text_for_an_interpreter_is_code(context: PlainContext) -> None:
    start(context, f"{sys.executable} -i")
    settled_readers(context, 1, Path(sys.executable).name)
    found = assessed(context, 1, action="submit", data="print('x')").command
    assert found == f"{Path(sys.executable).name} -c 'print('\"'\"'x'\"'\"')\n'"


def test_text_for_any_other_program_is_its_input_and_keys_have_names(context: PlainContext) -> None:
    start(context, "cat", pty=True)
    settled_readers(context, 1, "cat")
    found = assessed(context, 1, action="write", data="INPUT\nyes", keys=["up", "enter"]).command
    assert found == "cat <<'INPUT_'\nINPUT\nyes<up>\nINPUT_"


def test_what_outlives_the_program_is_judged_as_such(context: PlainContext) -> None:
    terminal = load_builtin_tools().get("terminal")
    assert terminal is not None
    found = terminal.assess({"command": "nohup sleep 9", "background": True}, context)
    assert (found.command, found.is_editable) == ("nohup sleep 9 &", False)
    assert terminal.assess({"command": "sleep 9", "background": True}, context).command == "sleep 9"


# Cards


def test_the_cards_say_what_happens(context: PlainContext) -> None:
    tool = load_builtin_tools().get("process")
    assert tool is not None
    shown = tool.display({"action": "write", "job": 2, "keys": ["down", "enter"]}, None)
    assert (shown["verb"], shown["target"]) == ("process write", "job 2  <down> <enter>")
    start(context, "sleep 60")
    result = process(context, "list")
    assert tool.display({"action": "list"}, result)["summary"] == "1 jobs, 1 running"
    assert "running  sleep 60" in tool.display({"action": "list"}, result)["output"]
    assert tool.display({"action": "log", "job": 9}, {"ok": False, "error": "no"})["summary"] == "no"


def test_input_is_closed_once_when_a_job_ends_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    """A second close could hit a file that something else opened in between."""
    reading, writing = os.pipe()
    given = _Input(fd=writing)
    closed: list[int] = []
    other = threading.Thread(target=given.close)
    real_close = os.close

    def close(fd: int) -> None:
        closed.append(fd)
        if len(closed) == 1:
            other.start()
            other.join(0.1)  # it waits for the first one; without a lock it closes, too
        if closed == [fd]:
            real_close(fd)

    monkeypatch.setattr("hermes_tui.tools.job_spawn.os.close", close)  # nothing else shows the moment in between
    given.close()
    other.join()
    monkeypatch.undo()
    os.close(reading)
    assert closed == [writing] and given.fd == -1
