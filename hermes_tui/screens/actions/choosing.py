"""What several actions share: the next of some values, and remembering a choice."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from hermes_tui.screens.chat import ChatScreen

Value = TypeVar("Value", bound=str)


def cycle(chat: ChatScreen, values: tuple[Value, ...], now: str, args: str) -> Value | None:
    """The value asked for, or the next one; None, after saying so, when it is not one of them."""
    names = [str(value) for value in values]
    if not args:
        return values[(names.index(now) + 1) % len(values)] if now in names else values[0]
    if args in names:
        return values[names.index(args)]
    chat.say(f"Choose one of: {', '.join(names)}.", error=True)
    return None


def remember(chat: ChatScreen, key: str, value: str) -> None:
    """Keep a choice for the next start."""
    engine = chat.engine
    if engine is not None:
        chat.run_in_thread(lambda: engine.save_choice(key, value), "save choice")
