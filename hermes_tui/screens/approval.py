"""The approval dialog: the whole action, why it asks, and five answers that nobody gives by accident.

It never closes itself. It posts :class:`ApprovalScreen.Decided`; the app closes it with :meth:`ApprovalScreen.close`
when the engine says that the request was resolved, by this answer or by another one.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar, Literal

from textual import on
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.types import CSSPathType
from textual.widgets import TextArea

from hermes_tui.engine.types.requests import ApprovalDecision, ApprovalRequest
from hermes_tui.widgets.choice_list import Choice, ChoiceList
from hermes_tui.widgets.command_view import CommandView
from hermes_tui.widgets.countdown import Countdown
from hermes_tui.widgets.field import Field
from hermes_tui.widgets.hint_line import HintLine
from hermes_tui.widgets.line_view import LineView

from .approval_guard import Pacing
from .approval_modal import ArmMark, GuardedModal

_TITLES = {
    "command": "Run this command?",
    "code": "Run this Python script?",
    "edit": "Change this file?",
    "read": "Read this file?",
    "send": "Reach this in the web?",
    "tool": "Use this tool?",
}
_EDITABLE = {"command": "command", "code": "script"}
_ALLOWED = {"once": "allowed once", "session": "allowed for this session", "always": "always allowed", "edit": "edited"}
_SCROLL_HINT = ("pgup/pgdn", "scroll")
_HINTS = {
    "choose": (("\u2191\u2193 enter", "choose"), ("esc", "deny")),
    "message": (("enter", "deny and say this"), ("esc", "back")),
    "edit": (("ctrl+s", "run it like this"), ("esc", "back")),
}
_SCROLLS = ("pageup", "pagedown", "home", "end", "shift+up", "shift+down")
_SCOPE_KEYS = ("tab", "left", "right", "shift+tab")


class ApprovalScreen(GuardedModal[ApprovalDecision]):
    """Asks about one request.

    Args:
        request: What waits.
        position: Its place in the queue, from 1.
        count: How many wait.
        asked_at: Monotonic time of the request, for the countdown; now when omitted.
        pacing: Times and clock.
    """

    CSS_PATH: ClassVar[CSSPathType | None] = ["modal.tcss", "approval.tcss"]

    class Decided(Message):
        """The person answered."""

        def __init__(self, request_id: str, decision: ApprovalDecision) -> None:
            super().__init__()
            self.request_id = request_id
            self.decision = decision

    def __init__(
        self,
        request: ApprovalRequest,
        *,
        position: int = 1,
        count: int = 1,
        asked_at: float | None = None,
        pacing: Pacing | None = None,
    ) -> None:
        super().__init__(pacing)
        self.request = request
        self._queue = (position, count)
        self._asked_at = self.now() if asked_at is None else asked_at
        self._scope: Literal["project", "everywhere"] = "project"
        self._mode: Literal["choose", "message", "edit"] = "choose"

    def compose(self) -> ComposeResult:
        """Lay out the body, the state line and the answers."""
        request = self.request
        with Vertical(classes="dialog", id="approval") as dialog:
            dialog.border_title = _TITLES[request.action]
            yield CommandView(request, home=str(Path.home()), id="body")
            if request.action in _EDITABLE:
                yield TextArea(request.text, id="editor", soft_wrap=True, show_line_numbers=False)
            yield Horizontal(ArmMark(), Countdown(request.deadline_s, self._asked_at, self.now), id="state")
            yield ChoiceList(self._choices(), id="choices")
            yield Field(placeholder="Tell the model what to do instead", id="message")
            yield HintLine(_HINTS["choose"])

    def on_mount(self) -> None:
        """Show the place in the queue and start the guard."""
        super().on_mount()
        self.set_queue(*self._queue)

    def set_queue(self, position: int, count: int) -> None:
        """Show another place in the queue."""
        self._queue = (position, count)
        if self.is_mounted:
            self.query_one(ArmMark).note = f"{position} of {count}" if count > 1 else ""

    def close(self, decision: ApprovalDecision | None = None) -> None:
        """Go, because the request was resolved; says so when somebody or something else answered.

        Args:
            decision: The answer that counted.
        """
        if decision is not None and not self._answered and not self.ended and decision.by != "interrupt":
            self.app.notify(_words_for(decision), markup=False)
        self._answered = True
        self.finish(decision)

    # Answers

    def _choices(self) -> list[Choice]:
        request = self.request
        choices = [
            Choice("1", "Allow once", "once"),
            Choice("2", "Allow for this session", "session"),
        ]
        if request.always_rules:
            scope = (
                "in this project (tab: everywhere)" if self._scope == "project" else "everywhere (tab: this project)"
            )
            rules = " + ".join(request.always_rules)
            choices.append(Choice("3", f"Always allow {scope}", "always", f"stores: {rules}"))
        choices += [Choice("4", "Deny", "deny"), Choice("5", "Deny and say why", "say why")]
        if request.action in _EDITABLE and request.can_edit:
            choices.append(Choice("e", f"Edit the {_EDITABLE[request.action]}", "edit"))
        return choices

    def reads_keys(self) -> bool:
        """Choices are read unless a text is being written."""
        return self._mode == "choose"

    def is_answer(self, key: str) -> bool:
        """Return whether a key answers now; Enter does only with a choice under the arrows."""
        return key == "escape" or self.query_one(ChoiceList).picked_by(key) >= 0

    def navigate(self, key: str) -> bool:
        """Move between the choices, scroll the body, switch the scope."""
        choices = self.query_one(ChoiceList)
        if key in {"up", "down"}:
            choices.move(-1 if key == "up" else 1)
        elif key in _SCROLLS:
            self._scroll(key)
        elif key in _SCOPE_KEYS and self.request.always_rules:
            self._scope = "everywhere" if self._scope == "project" else "project"
            choices.set_choices(self._choices())
        else:
            return False
        return True

    def _scroll(self, key: str) -> None:
        body = self.query_one(CommandView)
        {
            "pageup": body.action_page_up,
            "pagedown": body.action_page_down,
            "home": body.action_scroll_home,
            "end": body.action_scroll_end,
            "shift+up": body.action_scroll_up,
            "shift+down": body.action_scroll_down,
        }[key]()

    def answer(self, key: str) -> None:
        """Act on a key that counts."""
        choices = self.query_one(ChoiceList)
        if key == "enter":
            key = choices.choices[choices.highlighted].key
        if key in {"5", "e"}:
            self._write("message" if key == "5" else "edit")
        elif key == "3":
            self._decide(ApprovalDecision(choice="always", scope=self._scope))
        elif key == "1":
            self._decide(ApprovalDecision(choice="once"))
        elif key == "2":
            self._decide(ApprovalDecision(choice="session"))
        else:
            self._decide(ApprovalDecision(choice="deny"))

    def _decide(self, decision: ApprovalDecision) -> None:
        """Post the answer once; the dialog stays until the engine confirms."""
        if self._answered or self.ended:
            return
        self._answered = True
        self.post_message(self.Decided(self.request.request_id, decision))
        self._schedule()

    @on(ChoiceList.Clicked)
    def _clicked(self, event: ChoiceList.Clicked) -> None:
        if self.click_counts:
            self.answer(event.view.choices[event.index].key)

    # Writing a message or another command

    def _write(self, mode: Literal["message", "edit"]) -> None:
        self._mode = mode
        self._show_mode()
        self.query_one("#message" if mode == "message" else "#editor").focus()

    def leave_field(self) -> None:
        """Come back to the choices; what was written stays."""
        self._mode = "choose"
        self.set_focus(None)
        self._guard.disturb(self.now())
        self._show_mode()
        self._schedule()

    def _show_mode(self) -> None:
        dialog = self.query_one("#approval")
        dialog.set_class(self._mode == "message", "-message")
        dialog.set_class(self._mode == "edit", "-edit")
        self._show_hints()
        self.call_after_refresh(self._fit)

    def _show_hints(self) -> None:
        scroll = (_SCROLL_HINT,) * (self._mode == "choose" and bool(self.query_one(CommandView).hidden_words))
        self.query_one(HintLine).set_hints((*_HINTS[self._mode], *scroll))

    @on(Field.Submitted, "#message")
    def _message_written(self, event: Field.Submitted) -> None:
        event.stop()
        self._decide(ApprovalDecision(choice="deny", message=event.value.strip()))

    def key_ctrl_s(self) -> None:
        """Send the edited command."""
        if self._mode == "edit":
            text = self.query_one(TextArea).text
            if text.strip():
                self._decide(ApprovalDecision(choice="edit", message=text))

    # Layout

    def on_resize(self) -> None:
        """Give the body what the answers leave over."""
        short = self.size.height < 20
        self.query_one(ChoiceList).flow = short
        self.call_after_refresh(self._fit)

    def _fit(self) -> None:
        if not self.is_mounted:
            return
        tiny = self.size.height < 9
        below = self.query_one(ChoiceList).size.height if self._mode != "message" else 1
        chrome = 1 if tiny else 4 if self.size.height < 20 else 6
        self.query_one(CommandView).styles.max_height = max(1, self.size.height - chrome - below)

    @on(LineView.Scrolled)
    def _state_hidden(self) -> None:
        """Say how much of the text is out of sight."""
        body = self.query_one(CommandView)
        below = body.hidden_below
        self.query_one("#approval").border_subtitle = body.hidden_words
        self._show_hints()
        position, count = self._queue
        note = [f"{position} of {count}"] * (count > 1) + [f"{below} more below"] * (below > 0 and self.size.height < 9)
        self.query_one(ArmMark).note = ", ".join(note)


def _words_for(decision: ApprovalDecision) -> str:
    """Say in words how a request ended that was not answered here."""
    if decision.by == "timeout":
        return "Nobody answered in time, so the action was denied."
    return f"Answered elsewhere: {_ALLOWED.get(decision.choice, 'denied')}."
