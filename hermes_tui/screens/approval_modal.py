"""A dialog that cannot be answered by accident: what the approval and the question dialog share.

Keys go through :class:`~hermes_tui.screens.approval_guard.ApprovalGuard`. Whatever was typed and did not answer is
posted on as :class:`GuardedModal.TypedEarly`, so that the draft in the composer loses nothing.
"""

from __future__ import annotations

import time
from typing import Generic, TypeVar

from textual import events
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.timer import Timer
from textual.widget import Widget

from .approval_guard import ApprovalGuard, Pacing
from .modal import Modal

Result = TypeVar("Result")


class ArmMark(Widget):
    """Says whether keys answer now, in a fixed number of cells."""

    DEFAULT_CSS = """
    ArmMark { height: 1; width: 1fr; color: $muted; }
    ArmMark.-armed { color: $success; }
    """
    armed: reactive[bool] = reactive(False, toggle_class="-armed")
    note: reactive[str] = reactive("")
    """Said after the state, such as ``2 of 3``."""
    sent: reactive[bool] = reactive(False)

    def render(self) -> Content:
        """Return the state in words."""
        word = "\u2713 answered" if self.sent else "\u25cf ready" if self.armed else "\u25cb wait"
        return Content(f"{word:<10}{self.note}" if self.note else word)


class GuardedModal(Modal[Result], Generic[Result]):
    """Reads answers key by key, after a pause. Subclasses say which keys answer and which move.

    Args:
        pacing: Times and clock.
    """

    class TypedEarly(Message):
        """Something was typed that is not an answer; the app hands it to the composer."""

        def __init__(self, text: str, key: str = "") -> None:
            super().__init__()
            self.text = text
            """Text to insert at the caret."""
            self.key = key
            """A key without text (``enter``, ``backspace``...), or empty."""

    class InterruptWanted(Message):
        """Ctrl+C was pressed: stop the running turn."""

    def __init__(self, pacing: Pacing | None = None) -> None:
        super().__init__()
        self._pacing = pacing or Pacing()
        self._guard = ApprovalGuard(self._pacing)
        self._timer: Timer | None = None
        self._armed_at_press = False
        self._answered = False

    @property
    def armed(self) -> bool:
        """Whether a key pressed now may answer."""
        return not self._answered and self._guard.is_armed(self.now())

    def now(self, event: events.Event | None = None) -> float:
        """Return the present, or the time an event arrived."""
        if self._pacing.clock is not None:
            return self._pacing.clock()
        return event.time if event is not None else time.monotonic()

    # What a subclass says

    def is_answer(self, key: str) -> bool:
        """Return whether this key answers in the present state."""
        raise NotImplementedError

    def answer(self, key: str) -> None:
        """Act on an answer key that counts."""
        raise NotImplementedError

    def navigate(self, key: str) -> bool:
        """Move or scroll; False when the key does neither."""
        raise NotImplementedError

    def reads_keys(self) -> bool:
        """Return whether choices are read now (and no text field is)."""
        return True

    def leave_field(self) -> None:
        """Come back from a text field to the choices."""

    # The guard at work

    def on_mount(self) -> None:
        """Start counting when the dialog has been painted."""
        self.watch(self.app, "app_focus", self._focus_changed, init=False)
        self.call_after_refresh(self._painted)

    def _painted(self) -> None:
        self._guard.painted(self.now())
        self._schedule()

    def _focus_changed(self) -> None:
        self._guard.disturb(self.now())
        self._schedule()

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        """Another screen lay on top: wait again."""
        super().on_screen_resume(event)
        self._guard.disturb(self.now())
        self._schedule()

    def on_mouse_down(self, event: events.MouseDown) -> None:
        """Remember whether a click that starts now may answer."""
        self._armed_at_press = not self._answered and self._guard.is_armed(self.now(event))

    @property
    def click_counts(self) -> bool:
        """Whether the present click began when the dialog was armed."""
        return self._armed_at_press and self.armed

    def on_paste(self, event: events.Paste) -> None:
        """A paste never answers; it belongs to the draft."""
        if self.reads_keys():
            event.stop()
            self._guard.disturb(self.now(event))
            self._schedule()
            self.post_message(self.TypedEarly(event.text))

    def on_key(self, event: events.Key) -> None:
        """Sort a key: answer, movement, or text that belongs to the draft."""
        if event.key == "ctrl+c":
            event.stop()
            event.prevent_default()
            self.post_message(self.InterruptWanted())
            return
        if not self.reads_keys():
            if event.key == "escape":
                event.stop()
                event.prevent_default()
                self.leave_field()
            return
        event.stop()
        event.prevent_default()
        now = self.now(event)
        text = event.character if event.is_printable and event.character else ""
        is_armed = not self._answered and self._guard.is_armed(now)
        if is_armed and self.navigate(event.key):
            self._guard.touch(now)
        elif is_armed and not text and not self.is_answer(event.key):
            self._guard.touch(now)  # Enter with nothing chosen, and other keys that type nothing
        else:
            answers = not self._answered and self.is_answer(event.key)
            pressed = self._guard.press(event.key, text, now, answers=answers)
            if not pressed.waits and (pressed.early or not text):
                self.post_message(self.TypedEarly(pressed.early, "" if text else event.key))
        self._schedule()

    def armed_changed(self) -> None:
        """React when the dialog may have armed."""

    def _schedule(self) -> None:
        """Show the state, and wake up when it changes by itself."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        if not self.is_attached:
            return
        now = self.now()
        for mark in self.query(ArmMark):
            mark.armed = self.armed
            mark.sent = self._answered
        delay = self._guard.next_change_s(now)
        if delay is not None and not self._answered:
            self._timer = self.set_timer(max(delay, 0.01), self._wake)

    def _wake(self) -> None:
        key = self._guard.take_answer(self.now())
        if key and not self._answered:
            self.answer(key)
        self._schedule()
        self.armed_changed()
