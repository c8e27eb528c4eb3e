"""Background jobs in a whole turn: the gate, news for the model and the person, the end of the session."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.processes import is_running, pid_in, wait_for
from support.scripted import NO_TITLE, Bench, Do, ScriptedClient, TableGate, bench, call, say

from hermes_tui.engine.config.settings import ApprovalSettings
from hermes_tui.engine.policy.gate.gate import ShellGate
from hermes_tui.engine.runtime.session import LiveSession
from hermes_tui.engine.runtime.steering import attach, detach
from hermes_tui.engine.types.errors import ToolError
from hermes_tui.engine.types.events import ApprovalRequested, JobsChanged, Notice, ToolFinished, ToolOutput
from hermes_tui.engine.types.sessions import SessionState
from hermes_tui.tools import job_spawn
from hermes_tui.tools.registry import load_builtin_tools


def terminal(command: str, **args: Any) -> tuple[str, str]:
    return ("terminal", json.dumps({"command": command, **args}))


def process(action: str, **args: Any) -> tuple[str, str]:
    return ("process", json.dumps({"action": action, **args}))


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Bench]:
    gate = ShellGate(ApprovalSettings(), home=tmp_path / "home")
    built = bench(
        [],
        tmp_path,
        registry=load_builtin_tools(),
        gate=gate,  # type: ignore[arg-type]
        settings=NO_TITLE,
        callbacks={"on_approval_needed": lambda command, reason: False},
    )
    yield built
    built.agent.close()


def play(made: Bench, *replies: Any, text: str = "go") -> list[dict[str, Any]]:
    """Run a turn and return the results of its calls."""
    made.client._replies = [*replies, say("ok")]
    count = len(made.of(ToolFinished))
    made.agent.chat(text)
    return [json.loads(event.result) for event in made.of(ToolFinished)[count:]]


def ended(made: Bench, number: int) -> None:
    wait_for(lambda: made.agent.jobs.rows()[number - 1].state != "running", "the job did not end")
    wait_for(lambda: any(event.kind == "job" for event in made.of(Notice)), "nobody was told")


def test_an_end_between_turns_is_told_once_with_the_next_message(made: Bench, tmp_path: Path) -> None:
    play(made, call(terminal("until test -e go; do sleep 0.02; done; echo result", background=True)))
    (tmp_path / "go").touch()
    ended(made, 1)
    play(made, text="and now?")
    asked = str(made.client.requests[-1].messages[-1]["content"])
    assert asked.startswith("and now?\n\n[News of background jobs; not from the user]\nJob 1 (until test -e go")
    assert asked.endswith("ended with exit code 0. The end of its output:\nresult\n[End of the news]")
    row = [row for row in made.rows() if row["role"] == "user"][-1]
    assert (row["content"], row["api_content"]) == ("and now?", asked)
    before = made.client.requests[-1].messages
    play(made, text="third")
    assert list(made.client.requests[-1].messages[: len(before)]) == list(before), "the prefix stays the same"
    assert "News" not in str(made.client.requests[-1].messages[-1]["content"])


def test_an_end_within_a_turn_is_told_after_the_next_tool(made: Bench, tmp_path: Path) -> None:
    play(
        made,
        call(terminal("until test -e go; do sleep 0.02; done", background=True)),
        [Do((tmp_path / "go").touch), Do(lambda: ended(made, 1)), *call(terminal("true"))],
    )
    sent = [str(m["content"]) for m in made.client.requests[-1].messages if m["role"] == "tool"]
    assert "News of background jobs" not in sent[0]
    assert "ended with exit code 0" in sent[1]
    assert [event.kind for event in made.of(Notice) if event.kind == "job"] == ["job"]
    assert [len(event.jobs) for event in made.of(JobsChanged)] == [1, 1]


def test_news_and_words_of_the_user_go_together() -> None:
    sent = attach("{}\n\n[News of background jobs; not from the user]\nx\n[End of the news]", "use tabs")
    assert detach("{}", sent) == "use tabs"
    assert detach("{}", "{}\n\n[News of background jobs; not from the user]\nx\n[End of the news]") == ""


def test_an_end_that_the_model_saw_is_no_news(made: Bench) -> None:
    play(made, call(terminal("sleep 0.4", background=True)), call(process("wait", job=1)))
    ended(made, 1)
    play(made, text="next")
    assert made.client.requests[-1].messages[-1]["content"] == "next"


@pytest.mark.parametrize("args", [{"background": True}, {"pty": True}, {"background": True, "pty": True}])
def test_every_way_to_run_a_command_passes_the_gate(made: Bench, args: dict[str, bool]) -> None:
    (result,) = play(made, call(terminal("rm -rf build", **args)))
    assert result["denied_by"] == "user"
    assert [event.request.text for event in made.of(ApprovalRequested)] == ["rm -rf build"]
    assert made.agent.jobs.rows() == []


def test_text_for_a_shell_passes_the_gate(made: Bench, tmp_path: Path) -> None:
    (tmp_path / "build").mkdir()
    results = play(
        made,
        call(terminal("bash", background=True), process("wait", job=1, timeout_s=0.3)),
        call(process("submit", job=1, data="ls")),
        call(process("write", job=1, data="rm -r"), process("submit", job=1, data="f build")),
    )
    assert results[2]["output"] == "build\nspill\n"
    assert results[4]["denied_by"] == "user"
    (asked,) = made.of(ApprovalRequested)
    assert (asked.request.text, asked.request.can_edit) == ("rm -rf build", False)
    assert (tmp_path / "build").is_dir()


def test_what_outlives_the_program_is_asked_about(made: Bench) -> None:
    (result,) = play(made, call(terminal("nohup sleep 9", background=True)))
    assert result["denied_by"] == "user"
    assert "background" in made.of(ApprovalRequested)[0].request.reasons[0]


def test_plan_mode_reads_jobs_and_starts_none(made: Bench) -> None:
    play(made, call(terminal("cat", background=True)))
    made.gate.set_mode("plan")
    started, read, sent = play(
        made, call(terminal("npm run dev", background=True), process("log", job=1), process("submit", job=1, data="x"))
    )
    assert (started["ok"], read["ok"]) == (False, True)
    assert sent["ok"] is True, "cat only reads, whatever it is given"


def test_the_session_answers_for_its_jobs(made: Bench, tmp_path: Path) -> None:
    play(made, call(terminal("echo up; cat", background=True)))
    live = LiveSession(made.agent, made.store, made.registry, made.gate, SessionState(session_id="s"))
    (row,) = live.jobs.rows()
    assert (row.number, row.command, row.state, row.takes_input) == (1, "echo up; cat", "running", True)
    live.jobs.answer(1, "漢字")
    wait_for(lambda: "漢字" in live.jobs.log(1).text, "no answer")
    part = live.jobs.log(1, 3)
    assert (part.text, part.cursor, part.is_cut) == ("漢字\n", 10, False)
    assert live.jobs.log(1, -7).is_cut
    live.jobs.end_input(1)
    ended(made, 1)
    with pytest.raises(ToolError, match="has ended"):
        live.jobs.answer(1, "x")
    with pytest.raises(ToolError, match="no job 7"):
        live.jobs.kill(7)


def test_a_job_that_does_not_take_the_end_of_its_input_says_so(made: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job_spawn, "WRITE_TIMEOUT_S", 0.01)
    play(made, call(terminal("stty raw -echo; echo up; sleep 60", background=True, pty=True)))
    wait_for(lambda: "up" in (made.agent.jobs.log(1).screen or ""), "it did not start")
    with pytest.raises(ToolError, match="does not read"):
        while True:
            made.agent.jobs.answer(1, "x" * 5_000)
    with pytest.raises(ToolError, match="does not read"):
        made.agent.jobs.end_input(1)
    made.agent.close()


def test_a_screen_is_shown_live_and_secrets_are_not(tmp_path: Path) -> None:
    made = bench(
        [call(terminal("echo my-own-key-0123456789", pty=True)), say("ok")],
        tmp_path,
        registry=load_builtin_tools(),
        parts={"secrets": lambda: ["my-own-key-0123456789"]},
    )
    made.agent.chat("go")
    shown = made.of(ToolOutput)
    assert shown and all(event.is_screen for event in shown)
    assert "0123456789" not in str([event.text for event in shown]) + made.of(ToolFinished)[0].result
    made.agent.close()


def test_the_person_moves_a_running_command(made: Bench, tmp_path: Path) -> None:
    made.agent.hub.subscribe(lambda event: isinstance(event, ToolOutput) and made.agent.jobs.promote() and None)
    (result,) = play(made, call(terminal("echo begin; sleep 300")))
    assert (result["moved"], result["job"], result["output"]) == (True, 1, "begin\n")
    made.agent.jobs.kill(1)
    assert made.agent.jobs.rows()[0].state == "ended"


def test_a_call_on_a_terminal_is_no_job_until_it_is_moved(made: Bench) -> None:
    play(made, call(terminal("echo hi; exit 3", pty=True)))
    assert (made.of(JobsChanged), made.agent.jobs.rows()) == ([], [])
    assert [event for event in made.of(Notice) if event.kind == "job"] == []
    made.agent.hub.subscribe(lambda event: isinstance(event, ToolOutput) and made.agent.jobs.promote() and None)
    (moved,) = play(made, call(terminal("echo begin; sleep 300", pty=True)))
    assert [row.number for row in made.agent.jobs.rows()] == [moved["job"]]
    made.agent.jobs.kill(moved["job"])


def test_an_interrupt_leaves_jobs_and_the_end_does_not(made: Bench, tmp_path: Path) -> None:
    play(made, call(terminal("echo $$ > pid; exec sleep 300", background=True)))
    pid = pid_in(tmp_path / "pid")
    made.agent.interrupt()
    assert is_running(pid)
    made.agent.close()
    wait_for(lambda: not is_running(pid), "the job outlived its session")


@pytest.mark.parametrize(("platform", "words"), [("run", "ends when this run ends"), ("tui", "You are told")])
def test_the_model_knows_how_long_a_job_lasts(tmp_path: Path, platform: str, words: str) -> None:
    made = bench(
        [call(terminal("sleep 9", background=True)), say("ok")],
        tmp_path,
        registry=load_builtin_tools(),
        gate=TableGate(),
        platform=platform,
    )
    made.agent.chat("go")
    assert words in made.of(ToolFinished)[0].result
    made.agent.close()


def test_the_jobs_of_a_subagent_end_with_it_and_the_report_says_so(tmp_path: Path) -> None:
    child = ScriptedClient([call(terminal("echo $$ > pid; exec sleep 300", background=True)), say("started it")])
    parent = ScriptedClient([call(("delegate_task", '{"goal": "child work"}')), say("ok")])

    class Both:
        def stream(self, request: Any, control: Any) -> Iterator[Any]:
            is_child = "child work" in str(request.messages[1]["content"])
            yield from (child if is_child else parent).stream(request, control)

    made = bench(
        [], tmp_path, registry=load_builtin_tools(), parts={"client_for": lambda mode: Both()}, platform="library"
    )
    made.agent.chat("go")
    report = json.loads(made.of(ToolFinished)[-1].result)["reports"][0]
    assert report["ended_jobs"] == ["echo $$ > pid; exec sleep 300"]
    pid = pid_in(tmp_path / "pid")
    wait_for(lambda: not is_running(pid), "the job outlived the subagent")
    assert made.agent.jobs.rows() == []
    made.agent.close()


def test_a_compressed_conversation_keeps_what_runs(made: Bench) -> None:
    play(made, call(terminal("sleep 300", background=True)))
    tool = made.registry.get("process")
    assert tool is not None and tool.pin is not None
    assert tool.pin(made.agent._objects) == "# Background jobs that run\n- job 1: sleep 300"
