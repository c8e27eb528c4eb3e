"""The trust dialog: everything that would be used is readable, and nobody answers by accident."""

from __future__ import annotations

import pytest
from support.screens import Clock, Dialog, Host, painted, until
from textual import events
from textual.pilot import Pilot

from hermes_tui.engine.types.choices import TrustItem, TrustRequest
from hermes_tui.screens.approval_guard import Pacing
from hermes_tui.screens.approval_modal import GuardedModal
from hermes_tui.screens.trust import TrustScreen

ITEM = TrustItem(
    kind="instructions", path="/p/AGENTS.md", digest="d", text="Use tabs.\nSecond [b]line[/b].", size_bytes=30
)


async def ask(host: Host, pilot: Pilot[None], item: TrustItem = ITEM) -> Dialog[TrustScreen]:
    clock = Clock()
    screen = TrustScreen(TrustRequest(folder="/p", items=(item,)), pacing=Pacing(clock=clock))
    host.open(screen)
    await until(pilot, lambda: screen.is_mounted and host.screen is screen)
    return Dialog(host, pilot, clock, screen)


@pytest.mark.parametrize(
    ("keys", "answer"),
    [
        (["1"], "trust"),
        (["2"], "once"),
        (["3"], "later"),
        (["4"], "never"),
        (["escape"], "later"),
        (["ctrl+c"], "later"),
        (["down", "enter"], "trust"),
        (["up", "enter"], "never"),
    ],
)
async def test_each_key_gives_its_answer(keys: list[str], answer: str) -> None:
    host = Host()
    async with host.run_test(size=(100, 30)) as pilot:
        asked = await ask(host, pilot)
        await asked.arm()
        await asked.press(*keys)
        await until(pilot, lambda: host.results)
        assert host.results == [answer]


async def test_enter_alone_early_keys_and_pastes_answer_nothing_and_reach_the_draft() -> None:
    host = Host()
    async with host.run_test(size=(100, 30)) as pilot:
        asked = await ask(host, pilot)
        await pilot.press("1", "y")
        asked.screen.post_message(events.Paste("1\n"))
        await pilot.pause()
        await asked.arm()
        await asked.press("enter", "y")
        typed = "".join(said.text for said in host.hear(GuardedModal.TypedEarly))
        assert host.results == [] and typed == "1y1\ny"


async def test_it_shows_the_words_that_would_be_used_without_interpreting_them() -> None:
    host = Host()
    async with host.run_test(size=(100, 30)) as pilot:
        item = TrustItem(
            kind="instructions", path="/p/AGENTS.md", digest="d", text="[/b] x \x1b[2J", hidden_count=2, changed=True
        )
        await ask(host, pilot, item)
        await pilot.pause()
        screen = painted(host)
        assert "AGENTS.md goes" in screen and "[/b] x" in screen and "\x1b" not in screen
        assert "2 invisible characters" in screen and "changed since you were asked" in screen


@pytest.mark.parametrize("size", [(100, 30), (40, 12), (20, 6)])
async def test_a_long_text_scrolls_to_its_end_and_the_answers_stay_reachable(size: tuple[int, int]) -> None:
    host = Host()
    async with host.run_test(size=size) as pilot:
        text = "\n".join(f"line {number}" for number in range(300)) + "\nthe very end"
        asked = await ask(host, pilot, TrustItem(kind="instructions", path="/p/A", digest="d", text=text))
        await asked.arm()
        assert "rust it" in painted(host) or "trust" in painted(host)
        await asked.press("end")
        await until(pilot, lambda: "the very end" in painted(host))
        await asked.press("4")
        await until(pilot, lambda: host.results == ["never"])
