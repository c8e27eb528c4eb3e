"""The card of ``delegate_task``: its agents live in it, and it reads the same after a resume."""

from __future__ import annotations

from typing import Any

from support.rendering import frame, lines_of

from hermes_tui.engine.types import events as ev
from hermes_tui.engine.types.requests import ApprovalRequest
from hermes_tui.presenter import EntryPresenter, Presenter
from hermes_tui.tools.registry import load_builtin_tools
from hermes_tui.widgets.entries import Entry, ToolEntry

ARGS: dict[str, Any] = {"tasks": [{"goal": "count the files of this folder"}, {"goal": "read [b]the[/b] notes"}]}
DONE = {"status": "done", "summary": "Three files.\nAll text.", "tool_calls": 4, "duration_s": 2.5, "session_id": "s1"}
REPORTS = [DONE, {"status": "error", "error": "The model is gone.", "session_id": "s2"}]
FIRST, SECOND = "1 count the files of", "2 read [b]the[/b] notes"


class Log(list[Entry]):
    def changed(self, entry: Entry) -> None:
        self.touched = entry


class Shell:
    def __getattr__(self, name: str) -> Any:
        return lambda *args: None


def shown(result: dict[str, Any] | None = None) -> Any:
    return load_builtin_tools().describe("delegate_task", ARGS, result)


def begun() -> tuple[Presenter, ToolEntry]:
    log = Log()
    presenter = Presenter(log, Shell())
    presenter.present(ev.ToolStarted(call_id="c1", name="delegate_task", args=ARGS, display=shown()))
    (card,) = log
    assert isinstance(card, ToolEntry)
    return presenter, card


def test_each_agent_has_a_row_with_what_it_does_now() -> None:
    presenter, card = begun()
    assert lines_of(card)[0].endswith("running") and "delegate  2 agents" in lines_of(card)[0]
    presenter.present(ev.StepStarted(step=1, agent_id=FIRST))
    presenter.present(ev.ReasoningDelta(text="hm", agent_id=SECOND))
    for number in range(5):
        display = {"verb": "terminal", "target": f"ls {number}"}
        presenter.present(
            ev.ToolStarted(call_id=f"x{number}", name="terminal", args={}, display=display, agent_id=FIRST)
        )
        if number < 4:
            outcome: Any = "ok" if number else "denied"
            presenter.present(
                ev.ToolFinished(call_id=f"x{number}", name="t", outcome=outcome, result="", agent_id=FIRST)
            )
    rows = lines_of(card)
    assert rows[1].startswith("\u2502 \u25cf count the files of this folder") and rows[1].endswith("5 calls")
    assert [row.strip("\u2502 ") for row in rows[2:5]] == [
        "\u2713 terminal ls 2",
        "\u2713 terminal ls 3",
        "\u25cf terminal ls 4",
    ]
    assert "read [b]the[/b] notes" in rows[5] and "thinking" in rows[5]


def test_a_question_of_an_agent_is_told_in_its_row() -> None:
    presenter, card = begun()
    request = ApprovalRequest(
        request_id="r", call_ids=("x",), tool="terminal", action="command", text="rm", reasons=(), agent_id=SECOND
    )
    presenter.present(ev.ApprovalRequested(request=request))
    assert "waiting for you" in lines_of(card)[2]


def test_two_agents_with_one_goal_have_a_row_each() -> None:
    log = Log()
    presenter = EntryPresenter(log)
    display = {"kind": "agents", "goals": ["same goal", "same goal"]}
    presenter.present(ev.ToolStarted(call_id="c1", name="delegate_task", args={}, display=display))
    for number in (1, 2):
        presenter.present_subagent(ev.TextDelta(text="x", agent_id=f"{number} same goal"))
    (card,) = log
    assert isinstance(card, ToolEntry)
    assert [agent.activity for agent in card.agents] == ["writing", "writing"]


def test_the_finished_card_says_how_each_ended_also_after_a_resume() -> None:
    result = {"ok": True, "reports": REPORTS}
    presenter, live = begun()
    presenter.present(ev.TurnFinished(exit_reason="done", duration_s=2.5, result={}, agent_id=FIRST))
    presenter.present(
        ev.ToolFinished(call_id="c1", name="delegate_task", outcome="ok", result="{}", display=shown(result))
    )
    stored = ToolEntry("c1", "delegate_task")
    stored.finish("ok", shown(result), "{}", 3.0)
    for card in (live, stored):
        rows = lines_of(card)
        assert "1 of 2 done" in rows[0]
        assert (
            rows[1].startswith("\u2502 \u2713 count the files")
            and "Three files." in rows[1]
            and "4 calls  2.5s" in rows[1]
        )
        assert rows[2].startswith("\u2502 \u2717") and rows[2].endswith("error") and "The model is gone." in rows[2]
        opened = "\n".join(lines_of(card, frame(detail="full")))
        assert "Three files." in opened and "All text." in opened
        assert "s1" in card.source() and "The model is gone." in card.source()
        assert len(lines_of(card, frame(detail="compact"))) == 1


def test_events_of_an_agent_that_no_card_started_show_nothing() -> None:
    log = Log()
    EntryPresenter(log).present_subagent(ev.TextDelta(text="x", agent_id="9 nobody"))
    assert log == []
