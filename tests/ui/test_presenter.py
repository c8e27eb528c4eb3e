"""Events become entries: the same for a live turn and a stored session, and every event type has a place."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from hermes_tui.engine.types import events as ev
from hermes_tui.engine.types.requests import ApprovalDecision, ApprovalRequest, ClarifyAnswer, ClarifyRequest
from hermes_tui.engine.types.usage import Usage
from hermes_tui.presenter import IGNORED, EntryPresenter, Presenter, approval_words
from hermes_tui.widgets.entries import AssistantEntry, Entry, NoticeEntry, ReasoningEntry, ToolEntry, UserEntry


class Log(list[Entry]):
    def __init__(self) -> None:
        super().__init__()
        self.touched: list[Entry] = []

    def changed(self, entry: Entry) -> None:
        self.touched.append(entry)


class Shell:
    def __init__(self) -> None:
        self.calls: list[tuple[str, tuple[Any, ...]]] = []

    def __getattr__(self, name: str) -> Any:
        return lambda *args: self.calls.append((name, args))


REQUEST = ApprovalRequest(
    request_id="r1", call_ids=("c1",), tool="terminal", action="command", text="rm -r x", reasons=("deletes",)
)
QUESTION = ClarifyRequest(request_id="r2", call_id="c2", question="Which?")
DENIED = ApprovalDecision(choice="deny", message="no")

EXAMPLES: tuple[ev.Event, ...] = (
    ev.SessionOpened(),
    ev.SessionTitled(title="t"),
    ev.ModelChanged(model="m", provider="p"),
    ev.TurnStarted(text="hi"),
    ev.StepStarted(step=1),
    ev.TextDelta(text="a"),
    ev.ReasoningDelta(text="a"),
    ev.ToolDrafted(call_id="c1", name="terminal"),
    ev.ToolDelta(call_id="c1", fragment="{"),
    ev.ToolStarted(call_id="c1", name="terminal", args={}),
    ev.ToolOutput(call_id="c1", text="out"),
    ev.ToolFinished(call_id="c1", name="terminal", outcome="ok", result="{}"),
    ev.ApprovalRequested(request=REQUEST),
    ev.ApprovalResolved(request_id="r1", call_ids=("c1",), decision=DENIED),
    ev.ClarifyRequested(request=QUESTION),
    ev.ClarifyResolved(request_id="r2", answer=ClarifyAnswer(text="x")),
    ev.RequestRetrying(attempt=2, max_attempts=3, wait_s=2.0, reason="busy"),
    ev.FallbackUsed(model="m", provider="p", reason="down"),
    ev.MessageCommitted(message_id=1, message={"role": "user", "content": "hi"}),
    ev.UsageUpdated(turn=Usage(), session=Usage()),
    ev.ContextCompressing(step=1, steps=2),
    ev.ContextCompressed(before_tokens=2, after_tokens=1),
    ev.TodosChanged(items=()),
    ev.JobsChanged(jobs=()),
    ev.FilesChanged(files=(), count=0),
    ev.SteerChanged(text="x", state="accepted"),
    ev.Notice(level="info", text="n"),
    ev.TurnInterrupted(reason="user"),
    ev.TurnFinished(exit_reason="done", duration_s=1.0, result={}),
)


def event_types() -> set[type[ev.Event]]:
    named = {thing for thing in vars(ev).values() if isinstance(thing, type) and issubclass(thing, ev.Event)}
    return named - {ev.Event}


def test_there_is_an_example_of_every_event() -> None:
    assert {type(event) for event in EXAMPLES} | IGNORED >= event_types()


@pytest.mark.parametrize("event", EXAMPLES, ids=lambda event: type(event).__name__)
def test_every_event_changes_the_transcript_or_its_surroundings(event: ev.Event) -> None:
    log, shell = Log(), Shell()
    presenter = Presenter(log, shell)
    for before in (ev.TurnStarted(text="hi"), ev.ToolDrafted(call_id="c1", name="terminal")):
        presenter.present(before)
    log.touched.clear()
    shell.calls.clear()
    count, ids = len(log), [entry.message_id for entry in log]
    presenter.present(event)
    changed = len(log) != count or log.touched or shell.calls or ids != [entry.message_id for entry in log[:count]]
    assert changed or type(event) in IGNORED


def kinds(log: Log) -> list[str]:
    return [type(entry).__name__.removesuffix("Entry") for entry in log]


def play(*events: ev.Event) -> Log:
    log = Log()
    presenter = EntryPresenter(log)
    for event in events:
        presenter.present(event)
    return log


def test_a_turn_reads_in_the_order_it_happened() -> None:
    log = play(
        ev.TurnStarted(text="fix it"),
        ev.StepStarted(step=1),
        ev.ReasoningDelta(text="hm", at=1.0),
        ev.TextDelta(text="Let me look.", at=3.5),
        ev.ToolDrafted(call_id="c1", name="terminal"),
        ev.ToolStarted(call_id="c1", name="terminal", args={"command": "ls"}),
        ev.ToolFinished(call_id="c1", name="terminal", outcome="ok", result="{}"),
        ev.StepStarted(step=2),
        ev.TextDelta(text="Done."),
        ev.TurnFinished(exit_reason="done", duration_s=2.0, result={}),
    )
    assert kinds(log) == ["User", "Reasoning", "Assistant", "Tool", "Assistant"]
    assert [log[2].source(), log[4].source()] == ["Let me look.", "Done."]


def test_a_message_that_is_shown_already_is_not_shown_twice() -> None:
    log = Log()
    presenter = EntryPresenter(log)
    shown = UserEntry("hi")
    log.append(shown)
    presenter.expect_user(shown)
    presenter.present(ev.TurnStarted(text="hi"))
    presenter.present(ev.MessageCommitted(message_id=7, message={"role": "user", "content": "hi"}))
    assert log == [shown]
    assert shown.message_id == 7


def test_a_retry_withdraws_what_the_failed_attempt_had_shown() -> None:
    log = play(
        ev.TurnStarted(text="hi"),
        ev.StepStarted(step=1),
        ev.ReasoningDelta(text="hm"),
        ev.TextDelta(text="Half an ans"),
        ev.RequestRetrying(attempt=2, max_attempts=3, wait_s=2.0, reason="dropped.", withdrawn=True),
        ev.TextDelta(text="A whole answer."),
    )
    assert kinds(log) == ["User", "Notice", "Assistant"]
    assert log[2].source() == "A whole answer."
    assert "dropped; attempt 2 of 3 in 2 s" in log[1].source()


def test_rows_of_the_database_are_found_again_from_their_entries() -> None:
    log = play(
        ev.TurnStarted(text="hi"),
        ev.MessageCommitted(message_id=1, message={"role": "user", "content": "hi"}),
        ev.StepStarted(step=1),
        ev.TextDelta(text="yes"),
        ev.ToolStarted(call_id="c1", name="t", args={}),
        ev.MessageCommitted(message_id=2, message={"role": "assistant", "content": "yes"}),
        ev.ToolFinished(call_id="c1", name="t", outcome="ok", result="{}"),
        ev.MessageCommitted(message_id=3, message={"role": "tool", "content": "{}", "tool_call_id": "c1"}),
    )
    assert [entry.message_id for entry in log] == [1, 2, 3]


def test_the_outcome_of_an_approval_stays_in_the_tool_row() -> None:
    log = play(
        ev.ToolStarted(call_id="c1", name="terminal", args={}),
        ev.ApprovalRequested(request=REQUEST),
        ev.ApprovalResolved(request_id="r1", call_ids=("c1",), decision=DENIED),
    )
    tool = log[0]
    assert isinstance(tool, ToolEntry)
    assert tool.state == "running"
    assert "denied: no" in tool._notes


@pytest.mark.parametrize(
    ("decision", "words"),
    [
        (ApprovalDecision(choice="once"), "allowed once"),
        (ApprovalDecision(choice="deny", by="timeout"), "no answer in time"),
        (ApprovalDecision(choice="deny", by="no_surface"), "denied, nobody to ask"),
        (ApprovalDecision(choice="deny", message="use trash"), "denied: use trash"),
        (ApprovalDecision(choice="always", by="rule"), "always (rule)"),
    ],
)
def test_approvals_end_in_words_and_a_timeout_is_no_denial(decision: ApprovalDecision, words: str) -> None:
    assert approval_words(decision) == words


def test_text_of_a_subagent_stays_out_of_the_conversation() -> None:
    log, shell = Log(), Shell()
    Presenter(log, shell).present(ev.TextDelta(text="psst", agent_id="child"))
    assert (log, shell.calls) == ([], [])


def test_after_the_last_approval_the_tool_is_said_to_run() -> None:
    log, shell = Log(), Shell()
    presenter = Presenter(log, shell)
    presenter.present(ev.ApprovalRequested(request=REQUEST))
    presenter.present(ev.ApprovalRequested(request=replace(REQUEST, request_id="r9")))
    for request_id in ("r1", "r9"):
        decision = ApprovalDecision(choice="once")
        presenter.present(ev.ApprovalResolved(request_id=request_id, call_ids=("c1",), decision=decision))
    said = [args[0] for name, args in shell.calls if name == "show_activity"]
    assert said == ["waiting for approval", "waiting for approval", "running terminal"]


def test_calls_of_a_script_make_no_cards() -> None:
    log, shell = Log(), Shell()
    presenter = Presenter(log, shell)
    presenter.present(ev.ToolStarted(call_id="c1.1", name="patch", args={}, within="c1"))
    diff = {"kind": "diff", "target": "a.py", "added": 1, "removed": 2}
    presenter.present(
        ev.ToolFinished(call_id="c1.1", name="patch", outcome="ok", result="{}", display=diff, within="c1")
    )
    assert log == [] and shell.calls == []


def test_blank_openings_make_no_entry() -> None:
    log = play(ev.TextDelta(text="\n\n"), ev.ReasoningDelta(text=" "), ev.TextDelta(text="\nHello"))
    assert kinds(log) == ["Assistant"]


def test_interruptions_and_notices_are_lines_of_their_own() -> None:
    log = play(ev.TextDelta(text="Par"), ev.TurnInterrupted(reason="user"), ev.Notice(level="error", text="No key."))
    assert [type(entry) for entry in log] == [AssistantEntry, NoticeEntry, NoticeEntry]
    assert not any(isinstance(entry, ReasoningEntry) for entry in log)
