"""What happens to a message: now, queued, steered; and that stopping never starts the queue."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from hermes_tui.screens.turns import QueuedMessage, Turns


class View:
    def __init__(self) -> None:
        self.sent: list[str] = []
        self.refused: list[QueuedMessage] = []
        self.waiting: list[str] = []
        self.held = False
        self.busy = False
        self.work: list[Callable[[], object]] = []

    def show_sent(self, text: str) -> None:
        self.sent.append(text)

    def show_queue(self, texts: Sequence[str], *, held: bool = False) -> None:
        self.waiting, self.held = list(texts), held

    def show_refused(self, message: QueuedMessage) -> None:
        self.refused.append(message)

    def show_busy(self, busy: bool) -> None:
        self.busy = busy

    def show_failed(self, message: QueuedMessage) -> None:
        self.refused.append(message)

    def run_in_thread(self, work: Callable[[], object], name: str, failed: Callable[[], object]) -> None:
        self.work.append(work)
        self.failed = failed


class Session:
    def __init__(self) -> None:
        self.calls: list[tuple[str, Any]] = []

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *args: self.calls.append((name, args))


def opened() -> tuple[Turns, View, Session]:
    view, session = View(), Session()
    turns = Turns(view)
    turns.attach(session)  # type: ignore[arg-type]
    return turns, view, session


def end(turns: Turns) -> None:
    """A turn whose message was stored ends."""
    turns.stored()
    turns.finished()


def test_what_is_sent_before_the_engine_is_ready_waits_and_then_goes_in_order() -> None:
    view = View()
    turns = Turns(view)
    turns.send("one")
    turns.send("two")
    assert (view.sent, view.waiting, view.busy) == ([], ["one", "two"], False)
    turns.attach(Session())  # type: ignore[arg-type]
    assert (view.sent, view.waiting, view.busy) == (["one"], ["two"], True)
    end(turns)
    assert (view.sent, view.waiting) == (["one", "two"], [])


def test_a_session_that_is_only_read_hands_messages_back() -> None:
    view = View()
    turns = Turns(view)
    turns.send("typed early")
    turns.attach(Session(), read_only=True)  # type: ignore[arg-type]
    turns.send("more", ["a.png"], "draft")
    assert view.refused == [QueuedMessage("typed early"), QueuedMessage("more", ["a.png"], "draft")]
    assert (view.sent, view.busy, turns.queue) == ([], False, [])


def test_a_message_while_a_turn_runs_is_queued() -> None:
    turns, view, _ = opened()
    turns.send("one")
    turns.send("two")
    assert view.waiting == ["two"]
    end(turns)
    end(turns)
    assert (view.sent, view.busy) == (["one", "two"], False)


def test_an_interrupt_holds_the_queue_until_the_next_message() -> None:
    turns, view, session = opened()
    turns.send("one")
    turns.send("two")
    assert turns.interrupt()
    assert session.calls == [("interrupt", ())]
    assert not view.held
    end(turns)
    assert (view.sent, view.waiting, view.busy, view.held) == (["one"], ["two"], False, True)
    turns.send("three")
    assert (view.sent, view.waiting, view.held) == (["one", "two"], ["three"], False)


def test_an_interrupt_before_the_turn_has_begun_is_not_lost() -> None:
    turns, _, session = opened()
    turns.send("one")
    turns.started()
    assert session.calls == []
    turns.interrupt()
    turns.started()
    assert session.calls == [("interrupt", ()), ("interrupt", ())]


def test_interrupting_nothing_says_so() -> None:
    turns, _, session = opened()
    assert not turns.interrupt()
    assert session.calls == []


def test_steering_reaches_the_running_turn_and_is_a_message_otherwise() -> None:
    turns, view, session = opened()
    turns.steer("idle")
    assert view.sent == ["idle"]
    turns.steer("left!")
    assert session.calls == [("steer", ("left!",))]


def test_steering_text_that_came_too_late_is_the_next_message() -> None:
    turns, view, _ = opened()
    turns.send("one")
    turns.send("two")
    turns.steer_returned("left!")
    assert view.waiting == ["left!", "two"]
    end(turns)
    assert (view.sent, view.waiting) == (["one", "left!"], ["two"])


def test_steering_text_that_an_interrupt_returns_starts_nothing() -> None:
    turns, view, _ = opened()
    turns.send("one")
    turns.send("two")
    turns.interrupt()
    turns.steer_returned("left!")
    end(turns)
    assert (view.sent, view.waiting, view.busy) == (["one"], ["left!", "two"], False)


def test_queued_messages_can_be_taken_back_and_moved() -> None:
    turns, view, _ = opened()
    for text in ("one", "two", "three", "four"):
        turns.send(text)
    turns.move(2, 0)
    assert view.waiting == ["four", "two", "three"]
    taken = turns.take_back(1)
    assert taken is not None
    assert (taken.text, view.waiting) == ("two", ["four", "three"])
    assert turns.take_back(9) is None
    turns.move(0, 5)
    assert view.waiting == ["four", "three"]


def test_another_session_starts_with_an_empty_queue() -> None:
    turns, view, session = opened()
    turns.send("one")
    turns.send("two")
    assert turns.detach() is session
    assert (view.waiting, view.busy, turns.session) == ([], False, None)


def test_answers_go_to_the_session_with_their_ids() -> None:
    turns, _, session = opened()
    turns.answer_approval("r1", "decision")  # type: ignore[arg-type]
    turns.answer_clarify("r2", "answer")  # type: ignore[arg-type]
    assert session.calls == [("answer_approval", ("r1", "decision")), ("answer_clarify", ("r2", "answer"))]


def test_a_command_runs_without_a_message_and_waits_its_turn_among_them() -> None:
    turns, view, session = opened()
    turns.send("one")
    turns.send("!ls -la", is_command=True)
    assert view.waiting == ["!ls -la"]
    end(turns)
    for work in view.work:
        work()
    assert session.calls == [("run_turn", ("one", ())), ("run_command", ("ls -la",))]
    assert view.sent == ["one", "!ls -la"]


def test_a_message_that_no_turn_can_be_made_of_comes_back_and_the_queue_goes_on() -> None:
    turns, view, _ = opened()
    turns.send("look", ["gone.png"], "draft")
    turns.send("two")
    view.failed()
    assert view.refused == [QueuedMessage("look", ["gone.png"], "draft")]
    assert (view.sent, view.waiting, turns.running) == (["look", "two"], [], True)


def test_a_message_that_was_never_stored_comes_back_and_the_queue_waits() -> None:
    turns, view, _ = opened()
    turns.send("one", ["a.png"], "draft")
    turns.send("two")
    turns.finished()
    assert view.refused == [QueuedMessage("one", ["a.png"], "draft")]
    assert (view.sent, view.waiting, view.held, view.busy) == (["one"], ["two"], True, False)
    turns.send("one")
    end(turns)
    assert view.sent == ["one", "one", "two"] and len(view.refused) == 1
