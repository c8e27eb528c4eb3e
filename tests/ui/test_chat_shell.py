"""What surrounds the transcript hears what a turn costs and fills the window with, and asks only where one looks."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from support import inspected

from hermes_tui.engine.types.events import UsageUpdated
from hermes_tui.engine.types.usage import Usage
from hermes_tui.screens.chat_shell import ChatShell


class Kept:
    """Notes how it was called."""

    def __init__(self, **fields: Any) -> None:
        self.calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []
        self.__dict__.update(fields)

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **options: self.calls.append((name, args, options))


def shown(*, panel_is_open: bool) -> tuple[Kept, Kept]:
    status, panel = Kept(), Kept(display=panel_is_open)
    session = SimpleNamespace(context=lambda: inspected.REPORT)
    chat: Any = SimpleNamespace(status=status, panel=panel, turns=SimpleNamespace(session=session))
    event = UsageUpdated(
        turn=Usage(), session=Usage(), cost_usd=1.5, cost_cap_usd=2.0, context_tokens=9, context_window=20
    )
    ChatShell(chat).show_usage(event)
    return status, panel


def test_the_status_bar_gets_the_cap_with_the_cost() -> None:
    ((name, _, options),) = shown(panel_is_open=False)[0].calls
    assert name == "set_usage"
    assert options == {"context_tokens": 9, "context_window": 20, "cost_usd": 1.5, "cost_cap_usd": 2.0}


def test_an_open_panel_shows_the_categories_of_the_inspector_and_a_closed_one_asks_nothing() -> None:
    assert not shown(panel_is_open=False)[1].calls
    ((name, (rows, window), _),) = shown(panel_is_open=True)[1].calls
    assert (name, window) == ("set_context", 200_000)
    assert [(row.name, row.tokens) for row in rows] == [(part.name, part.tokens) for part in inspected.REPORT.parts]
