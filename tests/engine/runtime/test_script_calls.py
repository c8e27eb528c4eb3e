"""Scripts in a turn: each call that a script makes takes the way of a call by the model."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.scripted import GUARD_S, Bench, bench, call, say, start

from hermes_tui.engine.config.settings import ApprovalSettings
from hermes_tui.engine.policy.gate.gate import ShellGate
from hermes_tui.engine.runtime.replay import replay
from hermes_tui.engine.types.events import ApprovalRequested, Event, ToolFinished, ToolOutput, ToolStarted
from hermes_tui.engine.types.requests import ApprovalDecision, ApprovalRequest
from hermes_tui.tools.registry import load_builtin_tools


class Desk:
    """A workspace, the real tools and gate, and a person who answers."""

    def __init__(self, work: Path, mode: str = "ask", **approvals: Any) -> None:
        self.work = work
        self.gate = ShellGate(ApprovalSettings(mode=mode, **approvals), home=work / "home")  # type: ignore[arg-type]
        self.requests: list[ApprovalRequest] = []
        self.answer: Callable[[ApprovalRequest], ApprovalDecision] = lambda request: ApprovalDecision(choice="once")
        self.made: Bench | None = None
        self.options: dict[str, Any] = {}

    def run(self, code: str, **args: Any) -> dict[str, Any]:
        """Let the model run one script; returns its result."""
        made = self.made = bench(
            [call(("execute_code", json.dumps({"code": code, **args}))), say("ok")],
            self.work,
            gate=self.gate,  # type: ignore[arg-type]
            registry=load_builtin_tools(),
            parts={"env": {"HOME": str(self.work / "home"), "PATH": "/usr/bin:/bin", "KEY": "k"}, "key_names": {"KEY"}},
            **self.options,
        )

        def ask(event: Event) -> None:
            if isinstance(event, ApprovalRequested):
                self.requests.append(event.request)
                start(lambda: made.agent.approvals.resolve(event.request.request_id, self.answer(event.request)))

        made.agent.approvals.attach_surface()
        made.agent.hub.subscribe(ask)
        made.agent.chat("go")
        made.agent.close()
        result: dict[str, Any] = json.loads(str(next(row["content"] for row in made.rows() if row["role"] == "tool")))
        return result


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    (tmp_path / "notes.md").write_text("one\ntwo\n")
    return Desk(tmp_path)


def test_a_script_reads_changes_and_runs_with_the_real_tools(desk: Desk) -> None:
    result = desk.run(
        "text = read_file('notes.md')['content']\n"
        "print(write_file('new.md', 'x\\n')['ok'], patch('new.md', 'x', 'y')['ok'])\n"
        "print(terminal('cat new.md')['output'], search_files('two')['output'])\n"
        "print('two' in text)"
    )
    assert result["output"] == "True True\ny\n notes.md\n2: two\nTrue\n"
    assert (desk.work / "new.md").read_text() == "y\n"
    assert [line.partition(":")[0] for line in result["calls"]] == [
        "read notes.md",
        "write new.md",
        "patch new.md",
        "terminal cat new.md",
        "search two",
    ]
    assert desk.requests == []


def test_a_script_reads_lines_without_numbers_as_often_as_it_wants(desk: Desk) -> None:
    result = desk.run("for n in range(3): print(repr(read_file('notes.md')['content']))")
    assert result["output"] == "'one\\ntwo'\n" * 3


def test_a_dangerous_call_of_a_harmless_script_asks_and_is_named(desk: Desk) -> None:
    desk.answer = lambda request: ApprovalDecision(choice="deny", message="not this one")
    result = desk.run("r = terminal('rm -r build')\nprint(r['ok'], r['denied_by'], 'not this one' in r['error'])")
    (request,) = desk.requests
    assert (request.action, request.text, request.within) == ("command", "rm -r build", "execute_code")
    assert request.call_ids == ("c1",)
    assert result["output"] == "False user True\n"
    assert result["ok"]
    assert result["calls"] == ["terminal rm -r build: denied"]


def test_a_script_that_reaches_further_is_shown_whole_and_may_be_edited(desk: Desk) -> None:
    code = "import os\nprint(os.listdir('.'))"
    desk.answer = lambda request: ApprovalDecision(choice="edit", message="print('edited')")
    result = desk.run(code)
    (request,) = desk.requests
    assert (request.action, request.text, request.always_rules) == ("code", code, ())
    assert [part.reason for part in request.parts] == ["uses os.listdir"]
    assert result["output"] == "edited\n"
    assert "changed the code" in result["note"]


def test_a_refused_script_does_not_run(desk: Desk) -> None:
    desk.answer = lambda request: ApprovalDecision(choice="deny")
    result = desk.run("open('made.txt', 'w').write('x')")
    assert result["denied_by"] == "user"
    assert not (desk.work / "made.txt").exists()


def test_strict_asks_for_every_script(desk: Desk) -> None:
    desk.gate.set_mode("strict")
    assert desk.run("print(1)")["ok"]
    (request,) = desk.requests
    assert request.reasons == ("runs Python code",)


def test_plan_mode_runs_readers_and_holds_for_what_they_call(desk: Desk) -> None:
    desk.gate.set_mode("plan")
    assert desk.run("print(read_file('notes.md')['ok'])")["output"] == "True\n"
    refused = desk.run("write_file('new.md', 'x')")
    assert "Plan mode" in refused["error"]
    assert "calls write_file" in refused["error"]
    assert not (desk.work / "new.md").exists()


def test_plan_mode_that_begins_meanwhile_holds_for_the_next_call(desk: Desk) -> None:
    def answer(request: ApprovalRequest) -> ApprovalDecision:
        desk.gate.set_mode("plan")
        return ApprovalDecision(choice="once")

    desk.answer = answer
    result = desk.run("terminal('rm -r nothing')\nprint(write_file('new.md', 'x')['error'])")
    assert "Plan mode" in result["output"]


def test_deny_rules_and_protected_paths_hold_within_a_script(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "off", deny=("git push",), deny_paths=("**/.env",))
    (tmp_path / ".env").write_text("KEY=1")
    result = desk.run("print(terminal('git push')['denied_by'], read_file('.env')['denied_by'])")
    assert result["output"] == "rule rule\n"


def test_arguments_are_checked_like_the_models(desk: Desk) -> None:
    result = desk.run("print(read_file('notes.md', offset='2')['ok'], read_file(limit=5)['error'])")
    assert result["output"].startswith("True Invalid arguments for read_file: 'path' is a required property")


def test_guardrails_count_the_calls_of_scripts(desk: Desk) -> None:
    result = desk.run("for n in range(7): print(read_file('missing.md')['error'])")
    assert "This exact call failed 5 times" in result["output"]


def test_a_tool_that_is_switched_off_is_none_of_a_scripts(desk: Desk) -> None:
    desk.options = {"disabled_toolsets": ("terminal",)}
    assert "NameError" in desk.run("terminal('ls')")["error"]


def test_keys_are_not_in_the_environment_of_a_script(desk: Desk) -> None:
    desk.answer = lambda request: ApprovalDecision(choice="once")
    assert desk.run("import os\nprint('KEY' in os.environ, 'PATH' in os.environ)")["output"] == "False True\n"


def test_events_of_inner_calls_name_the_outer_one_and_its_card_shows_them(desk: Desk) -> None:
    desk.run("print(terminal('echo inner')['output'])")
    made = desk.made
    assert made is not None
    inner = [event for event in made.events if isinstance(event, ToolStarted | ToolFinished) and event.within]
    assert [(type(event), event.name, event.within) for event in inner] == [
        (ToolStarted, "terminal", "c1"),
        (ToolFinished, "terminal", "c1"),
    ]
    assert len({event.call_id for event in inner}) == 1
    assert inner[0].call_id != "c1"
    shown = "".join(event.text for event in made.of(ToolOutput) if event.call_id == "c1")
    assert "→ terminal echo inner: done" in shown
    outer = [event for event in made.of(ToolFinished) if not event.within]
    (stored,) = [
        event
        for event in replay(made.store.messages(made.agent.session_id), made.registry)
        if isinstance(event, ToolFinished)
    ]
    assert stored.display == outer[0].display
    assert stored.display["calls"] == ["terminal echo inner: done"]


def test_library_callbacks_hear_of_the_script_only(desk: Desk) -> None:
    heard: list[str] = []
    desk.options = {"callbacks": {"on_tool_started": lambda tool, args: heard.append(tool)}}
    desk.run("read_file('notes.md')")
    assert heard == ["execute_code"]


def test_an_interrupt_ends_script_and_inner_call(desk: Desk) -> None:
    running = threading.Event()

    def watch(event: Event) -> None:
        if isinstance(event, ToolOutput) and "inner-ready" in event.text:
            running.set()
            assert desk.made is not None
            desk.made.agent.interrupt()

    desk.options = {"callbacks": {}}
    original = desk.answer
    desk.answer = original
    code = "terminal('echo inner-ready; sleep 1000')\nprint('after')"
    made = desk.made = bench(
        [call(("execute_code", json.dumps({"code": code}))), say("ok")],
        desk.work,
        gate=desk.gate,  # type: ignore[arg-type]
        registry=load_builtin_tools(),
        parts={"env": {"PATH": "/usr/bin:/bin"}},
    )
    made.agent.hub.subscribe(watch)
    result = made.agent.run_conversation("go")
    made.agent.close()
    assert running.wait(GUARD_S)
    assert result["interrupted"]
    payload = json.loads(str(next(row["content"] for row in made.rows() if row["role"] == "tool")))
    assert not payload["ok"]
    assert "after" not in json.dumps(payload)


def test_an_inner_call_ends_with_the_scripts_time(desk: Desk) -> None:
    result = desk.run("terminal('sleep 1000')\nprint('after')", timeout_s=1)
    assert result["timed_out"]
