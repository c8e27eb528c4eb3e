"""The life of turns on the screen: send, queue, steer, interrupt, and the session behind them.

Owns who is running and what waits; knows no widget. The engine is called from worker threads only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from hermes_tui.engine.api import AgentSession
    from hermes_tui.engine.types.requests import ApprovalDecision, ClarifyAnswer


@dataclass(slots=True)
class QueuedMessage:
    """A message that waits for the running turn."""

    text: str
    images: Sequence[str] = ()
    draft: str = ""
    """The text as the prompt had it, with blocks and images; empty when it was not typed."""
    is_command: bool = False
    """A shell command of the person's own, behind its mark."""


class TurnView(Protocol):
    """What the screen does for the controller. UI thread only."""

    def show_sent(self, text: str) -> None:
        """Show a message that starts a turn now."""

    def show_queue(self, texts: Sequence[str], *, held: bool = False) -> None:
        """Show what waits; ``held`` for the next message, not for the end of a turn."""

    def show_refused(self, message: QueuedMessage) -> None:
        """Hand back a message that cannot be sent: the session is only read here."""

    def show_busy(self, busy: bool) -> None:
        """A turn runs, or none does."""

    def show_failed(self, message: QueuedMessage) -> None:
        """Hand back a message that was sent and is stored nowhere; why was said."""

    def run_in_thread(self, work: Callable[[], object], name: str, failed: Callable[[], object]) -> None:
        """Run blocking work in a worker thread; ``failed`` is called when it ends with an error."""


class Turns:
    """Decides what happens to a message. UI thread only.

    Args:
        view: The screen.
    """

    def __init__(self, view: TurnView) -> None:
        self._view = view
        self.session: AgentSession | None = None
        self.running = False
        self.read_only = False
        """The session may be read only; messages are handed back."""
        self.queue: list[QueuedMessage] = []
        self._unstored: QueuedMessage | None = None
        """What was sent, until its row is there."""
        self._has_come_back = False
        """It was handed back; what is sent next takes its place before the queue."""
        self._held = False
        """After an interrupt the queue waits for the next message: stopping never starts it."""

    def attach(self, session: AgentSession, *, read_only: bool = False) -> None:
        """Use this session from now on, and send what was typed before it was ready."""
        self.session, self.read_only = session, read_only
        self._start_next()

    def detach(self) -> AgentSession | None:
        """Let go of the session and of everything queued for it."""
        session, self.session = self.session, None
        self.queue.clear()
        self._unstored = None
        self._view.show_queue(())
        self._set_running(False)
        self._held = self._has_come_back = False
        return session

    def send(self, text: str, images: Sequence[str] = (), draft: str = "", *, is_command: bool = False) -> None:
        """Send a message now, or queue it while a turn runs or the engine still starts."""
        place = 0 if self._has_come_back else len(self.queue)
        self.queue.insert(place, QueuedMessage(text, images, draft, is_command))
        self._held = self._has_come_back = False
        self._start_next()

    def steer_returned(self, text: str) -> None:
        """Queue steering text that came too late, first; after an interrupt it waits like all the others."""
        self.queue.insert(0, QueuedMessage(text))
        if self._held:
            self._show_queue()
        else:
            self._start_next()

    def steer(self, text: str) -> None:
        """Hand text to the running turn; without one it is an ordinary message."""
        if self.running and self.session is not None:
            self.session.steer(text)
        else:
            self.send(text)

    def occupy(self) -> bool:
        """Count other work of the session as a turn, until :meth:`finished`; False while a turn runs."""
        if self.running:
            return False
        self._set_running(True)
        return True

    def interrupt(self) -> bool:
        """Stop the running turn; False when none runs."""
        if not self.running or self.session is None:
            return False
        self._held = True
        self.session.interrupt()
        return True

    def started(self) -> None:
        """The turn's first event arrived. An interrupt that came before it found nothing to stop yet: again."""
        if self._held and self.running and self.session is not None:
            self.session.interrupt()

    def stored(self) -> None:
        """The row of the message that was sent is there."""
        self._unstored = None

    def finished(self) -> None:
        """The turn's last event arrived. When it could not even store its message, the next ones wait too."""
        self._set_running(False)
        lost, self._unstored = self._unstored, None
        if lost is not None:
            self._held = self._has_come_back = True
            self._view.show_failed(lost)
        if self._held:
            self._show_queue()
        else:
            self._start_next()

    def take_back(self, index: int) -> QueuedMessage | None:
        """Remove a queued message and return it."""
        if not 0 <= index < len(self.queue):
            return None
        message = self.queue.pop(index)
        self._show_queue()
        return message

    def move(self, index: int, to: int) -> None:
        """Move a queued message to another place."""
        if 0 <= index < len(self.queue) and 0 <= to < len(self.queue):
            self.queue.insert(to, self.queue.pop(index))
            self._show_queue()

    def answer_approval(self, request_id: str, decision: ApprovalDecision) -> None:
        """Pass an answer on."""
        if self.session is not None:
            self.session.answer_approval(request_id, decision)

    def answer_clarify(self, request_id: str, answer: ClarifyAnswer) -> None:
        """Pass an answer on."""
        if self.session is not None:
            self.session.answer_clarify(request_id, answer)

    def _start_next(self) -> None:
        session = self.session
        if session is None or self.running or not self.queue:
            self._show_queue()
            return
        message = self.queue.pop(0)
        if self.read_only:
            self._show_queue()
            self._view.show_refused(message)
            return
        self._set_running(True)
        self._unstored = None if message.is_command else message
        self._view.show_sent(message.text)
        self._view.run_in_thread(lambda: _run(session, message), "turn", lambda: self._failed(message))
        self._show_queue()

    def _failed(self, message: QueuedMessage) -> None:
        """No turn came about, so none will end."""
        self._unstored = None
        self._view.show_failed(message)
        self.finished()

    def _show_queue(self) -> None:
        held = self._held and not self.running
        self._view.show_queue([message.text for message in self.queue], held=held)

    def _set_running(self, running: bool) -> None:
        self.running = running
        self._view.show_busy(running)


def _run(session: AgentSession, message: QueuedMessage) -> None:
    if message.is_command:
        session.run_command(message.text[1:].strip())
    else:
        session.run_turn(message.text, message.images)
