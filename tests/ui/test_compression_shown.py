"""A compression on the screen: a divider with its numbers, the activity meanwhile, and esc that stops it."""

from __future__ import annotations

from typing import Any

from hermes_tui.engine.types import events as ev
from hermes_tui.presenter import Presenter
from hermes_tui.screens.turns import Turns
from hermes_tui.widgets.entries import DividerEntry, Entry, UserEntry


class Log(list[Entry]):
    def changed(self, entry: Entry) -> None:
        pass


class Shell:
    def __init__(self) -> None:
        self.activity = ""

    def show_activity(self, text: str) -> None:
        self.activity = text

    def __getattr__(self, name: str) -> Any:
        return lambda *args: None


def shown(*events: ev.Event) -> tuple[Log, Shell]:
    log, shell = Log(), Shell()
    Presenter(log, shell).present_all(events)  # type: ignore[arg-type]
    return log, shell


def test_a_divider_says_what_became_of_how_much_and_the_summary_row_takes_no_entry_over() -> None:
    summary: Any = {"role": "user", "content": "s", "compressed": {}}
    log, _ = shown(
        ev.TurnStarted(text="hi"),
        ev.MessageCommitted(message_id=1, message={"role": "user", "content": "hi"}),
        ev.ContextCompressed(before_tokens=12_000, after_tokens=900, summarised_count=41),
        ev.MessageCommitted(message_id=2, message=summary),
    )
    user, divider = log
    assert isinstance(user, UserEntry) and user.message_id == 1
    assert isinstance(divider, DividerEntry)
    assert divider.text == "41 messages above are summarised for the model: about 12,000 tokens became 900"


def test_taking_it_back_is_said_too() -> None:
    log, _ = shown(ev.ContextCompressed(before_tokens=900, after_tokens=12_000, undone=True))
    assert log[0].source().startswith("compression taken back")


def test_the_activity_counts_the_steps() -> None:
    assert shown(ev.ContextCompressing(step=1, steps=1))[1].activity == "compressing"
    assert shown(ev.ContextCompressing(step=2, steps=3))[1].activity == "compressing 2/3"


def test_while_it_runs_messages_wait_and_esc_reaches_the_engine() -> None:
    calls: list[str] = []

    class Session:
        def __getattr__(self, name: str) -> Any:
            return lambda *args: calls.append(name)

    class View:
        def __getattr__(self, name: str) -> Any:
            return lambda *args, **options: None

        def run_in_thread(self, work: Any, name: str, failed: Any) -> None:
            work()

    turns = Turns(View())
    turns.attach(Session())  # type: ignore[arg-type]
    assert turns.occupy() and not turns.occupy()
    turns.send("later")
    assert turns.interrupt() and calls == ["interrupt"]
    turns.finished()
    turns.send("now")
    assert calls == ["interrupt", "run_turn"]
