"""The model's question to the person: up to four choices, or words of one's own.

Like the approval dialog it posts its answer and is closed by the engine's word.
"""

from __future__ import annotations

from typing import ClassVar

from textual import on
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.message import Message
from textual.types import CSSPathType

from hermes_tui.engine.types.requests import ClarifyAnswer, ClarifyRequest
from hermes_tui.widgets.choice_list import Choice, ChoiceList
from hermes_tui.widgets.field import Field
from hermes_tui.widgets.hint_line import HintLine
from hermes_tui.widgets.inert import clean, one_line
from hermes_tui.widgets.line_text import Line, line, shown
from hermes_tui.widgets.line_view import LineView

from .approval_guard import Pacing
from .approval_modal import ArmMark, GuardedModal

_OWN_WORDS = "t"
_SCROLLS = {"pageup": "page_up", "pagedown": "page_down", "home": "scroll_home", "end": "scroll_end"}


class ClarifyScreen(GuardedModal[ClarifyAnswer]):
    """Asks one question.

    Args:
        request: The question.
        pacing: Times and clock.
    """

    CSS_PATH: ClassVar[CSSPathType | None] = ["modal.tcss", "clarify.tcss"]

    class Answered(Message):
        """The person answered, or declined with an empty text."""

        def __init__(self, request_id: str, answer: ClarifyAnswer) -> None:
            super().__init__()
            self.request_id = request_id
            self.answer = answer

    def __init__(self, request: ClarifyRequest, *, pacing: Pacing | None = None) -> None:
        super().__init__(pacing)
        self.request = request
        self._writing = False

    def compose(self) -> ComposeResult:
        """Lay out the question and the answers."""
        request = self.request
        with Vertical(classes="dialog", id="clarify") as dialog:
            dialog.border_title = "A question for you"
            question = LineView(_question_lines(request), id="question")
            question.can_focus = False
            yield question
            yield ArmMark()
            if request.choices:
                yield ChoiceList(_choices(request), id="choices")
            yield Field(placeholder="Type an answer", id="own")
            yield HintLine()

    def on_mount(self) -> None:
        """Start the guard."""
        super().on_mount()
        self._show_mode()

    def close(self, answer: ClarifyAnswer | None = None) -> None:
        """Go, because the question was resolved.

        Args:
            answer: The answer that counted.
        """
        if answer is not None and not self._answered and not self.ended and answer.by == "user":
            self.app.notify("The question was answered elsewhere.", markup=False)
        self._answered = True
        self.finish(answer)

    def reads_keys(self) -> bool:
        """Keys are choices until one's own words are written."""
        return not self._writing

    def is_answer(self, key: str) -> bool:
        """Return whether a key answers now. Without choices any typing opens the field once it is armed."""
        if key == "escape":
            return True
        if not self.request.choices:
            return key == "enter"
        return self.query_one(ChoiceList).picked_by(key) >= 0

    def navigate(self, key: str) -> bool:
        """Move between the choices or scroll the question."""
        if key in {"up", "down"} and self.request.choices:
            self.query_one(ChoiceList).move(-1 if key == "up" else 1)
        elif key in _SCROLLS:
            getattr(self.query_one(LineView), f"action_{_SCROLLS[key]}")()
        else:
            return False
        return True

    def answer(self, key: str) -> None:
        """Act on a key that counts."""
        if key == "escape":
            self._give("")
        elif not self.request.choices:
            self._write()
        else:
            self._choose(self.query_one(ChoiceList).picked_by(key))

    def _choose(self, index: int) -> None:
        if index < len(self.request.choices):
            self._give(self.request.choices[index])
        else:
            self._write()

    def armed_changed(self) -> None:
        """Without choices the field opens by itself once nobody types elsewhere."""
        if self.armed and not self.request.choices and not self._writing:
            self._write()

    def leave_field(self) -> None:
        """Back to the choices; without any, decline."""
        if not self.request.choices:
            self._give("")
            return
        self._writing = False
        self.set_focus(None)
        self._guard.disturb(self.now())
        self._show_mode()
        self._schedule()

    def _write(self) -> None:
        self._writing = True
        self._show_mode()
        self.query_one(Field).focus()

    def _give(self, text: str) -> None:
        """Post the answer once."""
        if self._answered or self.ended:
            return
        self._answered = True
        self.post_message(self.Answered(self.request.request_id, ClarifyAnswer(text=text)))
        self._schedule()

    @on(ChoiceList.Clicked)
    def _clicked(self, event: ChoiceList.Clicked) -> None:
        if self.click_counts:
            self._choose(event.index)

    @on(Field.Submitted)
    def _written(self, event: Field.Submitted) -> None:
        event.stop()
        if event.value.strip():
            self._give(event.value.strip())

    def _show_mode(self) -> None:
        self.query_one("#clarify").set_class(self._writing, "-writing")
        back = "back" if self.request.choices else "decline"
        self.query_one(HintLine).set_hints(
            (("enter", "answer"), ("esc", back))
            if self._writing
            else (
                ("\u2191\u2193 enter", "choose"),
                ("esc", "decline"),
            )
            if self.request.choices
            else (("esc", "decline"),)
        )

    def on_resize(self) -> None:
        """Give the question what the answers leave over."""
        self.call_after_refresh(self._fit)

    @on(LineView.Scrolled)
    def _state_hidden(self, event: LineView.Scrolled) -> None:
        self.query_one("#clarify").border_subtitle = event.view.hidden_words

    def _fit(self) -> None:
        if self.is_mounted:
            below = sum(widget.size.height for widget in self.query(ChoiceList)) + 1
            chrome = 1 if self.size.height < 9 else 3 if self.size.height < 20 else 6
            self.query_one(LineView).styles.max_height = max(1, self.size.height - chrome - below)


def _question_lines(request: ClarifyRequest) -> list[Line]:
    lines = [line(f"Subagent {one_line(request.agent_id)} asks", "heading")] if request.agent_id else []
    return lines + [line(shown(text)) for text in clean(request.question).split("\n")]


def _choices(request: ClarifyRequest) -> list[Choice]:
    numbered = [Choice(str(number), text) for number, text in enumerate(request.choices, 1)]
    return [*numbered, Choice(_OWN_WORDS, "Something else", style="muted")]
