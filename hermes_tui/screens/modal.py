"""What every dialog and page here shares: one result, and engine calls in threads whose late results are dropped."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Generic, TypeVar

from textual import events
from textual.screen import ModalScreen
from textual.types import CSSPathType

from hermes_tui.engine.types.errors import HermesError

Result = TypeVar("Result")
Value = TypeVar("Value")


class Modal(ModalScreen[Result], Generic[Result]):
    """A screen that ends once, with one typed result."""

    CSS_PATH: ClassVar[CSSPathType | None] = "modal.tcss"
    AUTO_FOCUS: ClassVar[str | None] = ""
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (60, "-medium"), (80, "-wide")]  # noqa: RUF012 - as Screen declares it
    VERTICAL_BREAKPOINTS = [(0, "-tiny"), (9, "-short"), (20, "-tall")]  # noqa: RUF012 - as Screen declares it

    def __init__(self) -> None:
        super().__init__()
        self._ended = False
        self._result: Result | None = None
        self._newest: dict[str, int] = {}

    def on_compose(self) -> None:
        """Begin in the classes of the present size; set later, they would style everything a second time."""
        width, height = self.app.size
        for length, breakpoints in ((width, self.HORIZONTAL_BREAKPOINTS), (height, self.VERTICAL_BREAKPOINTS)):
            self.add_class(*self._get_breakpoint_classes(length, breakpoints))

    @property
    def ended(self) -> bool:
        """Whether the result is set; nothing counts after that."""
        return self._ended

    def finish(self, result: Result | None) -> None:
        """End with a result. Later calls do nothing; under another screen it goes when that one is gone."""
        if self._ended:
            return
        self._ended = True
        self._result = result
        if self.app.screen is self:
            self.dismiss(result)

    def on_screen_resume(self, event: events.ScreenResume) -> None:
        """Go now if the end came while another screen lay on top."""
        del event
        if self._ended and self.is_attached and self.app.screen is self:
            self.call_later(self._dismiss_if_current)

    def _dismiss_if_current(self) -> None:
        if self.app.screen is self:
            self.dismiss(self._result)

    def ask(
        self,
        slot: str,
        work: Callable[[], Value],
        done: Callable[[Value], None],
        failed: Callable[[HermesError], None] | None = None,
    ) -> None:
        """Run an engine call in a thread and hand its result to ``done`` on the UI thread.

        The call goes on when the screen is closed: a change that was asked for is made.

        Args:
            slot: Names the question; a newer call of the same slot makes this one's result unwanted.
            work: The call.
            done: Gets the result, unless it came too late.
            failed: Gets the error; shown as a notice when omitted.
        """
        number = self._newest.get(slot, 0) + 1
        self._newest[slot] = number

        def is_wanted() -> bool:
            return self._newest.get(slot) == number and self.is_attached and not self._ended

        def deliver(value: Value) -> None:
            if is_wanted():
                done(value)

        def complain(error: HermesError) -> None:
            if is_wanted():
                (failed or self.show_error)(error)

        def run() -> None:
            try:
                value = work()
            except HermesError as error:
                self.call_later(complain, error)
            else:
                self.call_later(deliver, value)

        self.app.run_worker(run, thread=True, group=f"engine-{slot}", description=slot)

    def forget(self, slot: str) -> None:
        """Make the running call of a slot unwanted."""
        self._newest[slot] = self._newest.get(slot, 0) + 1

    def show_error(self, error: HermesError) -> None:
        """Say what went wrong without leaving the screen."""
        self.app.notify(str(error), severity="error", markup=False)
