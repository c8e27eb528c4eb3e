"""What was spent, going back, and questions with a few answers."""

from datetime import UTC, datetime, timedelta

import pytest
from support import scenes, story
from support.snapshots import NOW, Stage

from hermes_tui.engine.types.sessions import UsageReport, UsageRow
from hermes_tui.screens.choose import ChooseScreen
from hermes_tui.screens.rewind import RewindScreen
from hermes_tui.screens.usage import UsageScreen
from hermes_tui.widgets.choice_list import Choice

SIZES = [("120x40", "hermes-dark"), ("80x24", "hermes-light"), ("40x12", "hermes-dark")]
TODAY = datetime.fromtimestamp(NOW, UTC).date()


def _spent(label: str, tokens: int, cost: float, unpriced: int = 0) -> UsageRow:
    return UsageRow(
        label=label, request_count=tokens // 9_000 + 1, input_tokens=tokens // 5, output_tokens=tokens // 20,
        cache_read_tokens=tokens * 3 // 4, cost_usd=cost, unpriced_count=unpriced,
    )  # fmt: skip


def _day(ago: int) -> str:
    return (TODAY - timedelta(days=ago)).isoformat()


_DAYS = tuple(
    _spent(_day(ago), 40_000 + 90_000 * (ago * 7 % 5), 0.2 + 0.3 * (ago * 7 % 5)) for ago in (24, 15, 9, 3, 0)
)
REPORT = UsageReport(
    by_day=_DAYS,
    by_model=(
        _spent("anthropic/claude-opus-4-6", 900_000, 6.1),
        _spent("openai/gpt-5.2", 310_000, 0.9),
        _spent("local/qwen3", 120_000, 0, 14),
    ),
    by_folder=(_spent("/home/eva/src/lighthouse", 990_000, 5.8), _spent("/home/eva/src/harbour", 340_000, 1.2)),
)


@pytest.mark.parametrize(("size", "theme"), SIZES)
def test_usage(looks_as_kept, size, theme):
    """Tokens by day, by model and by folder."""

    async def scene(stage: Stage) -> None:
        await scenes.whole_turn(stage)
        stage.engine.spent = REPORT
        await stage.show(UsageScreen(stage.engine, today=lambda: TODAY))  # type: ignore[arg-type]
        await stage.shows("By model" if size != "40x12" else "tokens")
        await stage.idle()

    assert looks_as_kept(scene, size, theme)


@pytest.mark.parametrize(("size", "theme"), SIZES)
def test_rewind(looks_as_kept, size, theme):
    """One's own messages, the newest first."""

    async def scene(stage: Stage) -> None:
        await scenes.whole_turn(stage)
        stage.engine.messages = {"s": list(story.stored_messages())}
        await stage.show(RewindScreen(stage.engine, "s", clock=lambda: NOW))  # type: ignore[arg-type]
        await stage.shows("edit and send again" if size != "40x12" else "Go back")
        await stage.idle()

    assert looks_as_kept(scene, size, theme)


@pytest.mark.parametrize(("size", "theme"), SIZES)
def test_a_question_with_a_few_answers(looks_as_kept, size, theme):
    """Why a session cannot simply go on, and what can be done."""
    text = "It is open in another terminal.\nTwo programs writing one session would mix its messages."
    answers = [
        Choice("1", "Go on in a copy", "copy", "a fork; the other one stays as it is"),
        Choice("2", "Only read it", "read"),
        Choice("3", "Start a new session", "new"),
    ]

    async def scene(stage: Stage) -> None:
        await scenes.whole_turn(stage)
        await stage.show(ChooseScreen("Resume", text, answers))
        await stage.press("down")
        await stage.shows("Only read it")
        await stage.idle()

    assert looks_as_kept(scene, size, theme)
