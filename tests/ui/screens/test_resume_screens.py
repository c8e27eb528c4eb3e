"""The questions of a resume, and the list of one's own messages."""

from __future__ import annotations

import pytest
from support.fake_engine import FakeEngine
from support.screens import Host, painted, picture, until

from hermes_tui.engine.types.sessions import StoredMessage
from hermes_tui.screens.choose import ChooseScreen
from hermes_tui.screens.rewind import RewindScreen
from hermes_tui.widgets.choice_list import Choice

CHOICES = (Choice("f", "Fork it and go on"), Choice("r", "Read it here"), Choice("n", "New session"))


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        (["r"], "r"),
        (["down", "enter"], "f"),
        (["down", "down", "down", "enter"], "n"),
        (["x", "enter", "F1", "escape"], None),
        (["ctrl+c"], None),
    ],
)
@pytest.mark.parametrize("size", [(100, 30), (40, 12)])
async def test_an_answer_is_one_key_or_the_arrows(size: tuple[int, int], keys: list[str], answer: str | None) -> None:
    host = Host()
    async with host.run_test(size=size) as pilot:
        host.open(ChooseScreen("Resume", "It is open [b]elsewhere[/b].\nRead or fork it.", CHOICES))
        await until(pilot, lambda: "New session" in painted(host))
        assert "[b]elsewhere[/b]" in painted(host)
        await pilot.press(*keys)
        await until(pilot, lambda: host.results)
        assert host.results == [answer]


def engine() -> FakeEngine:
    texts = ("first \u4f60\u597d", "answer", "second\nwith lines", "answer", "third")
    stored = [
        StoredMessage(id=at, message={"role": ("user", "assistant")[at % 2], "content": text, "created_at": 1.0})  # type: ignore[typeddict-item]
        for at, text in enumerate(texts)
    ]
    return FakeEngine(messages={"s": stored})


@pytest.mark.parametrize(
    ("keys", "chosen"),
    [(["enter"], 4), (["down", "enter"], 2), ([*"first", "enter"], 0), (["escape"], None)],
)
async def test_ones_own_messages_are_listed_newest_first(keys: list[str], chosen: int | None) -> None:
    host = Host()
    async with host.run_test() as pilot:
        host.open(RewindScreen(engine(), "s"))  # type: ignore[arg-type]
        await until(pilot, lambda: "second with lines" in painted(host))
        assert "answer" not in painted(host)
        picture(host, "rewind")
        await pilot.press(*keys)
        await until(pilot, lambda: host.results)
        assert [stored.id if stored else None for stored in host.results] == [chosen]
