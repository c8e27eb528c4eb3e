"""Finding and reading."""

from support import scenes, story
from support.snapshots import Stage

from hermes_tui.screens.entry_view import EntryView


def test_finding(looks_as_kept):
    """Hits are marked while one types."""

    async def scene(stage: Stage) -> None:
        await scenes.whole_turn(stage)
        await stage.press("ctrl+f")
        await stage.shows("Find in this session")
        await stage.press(*"flush")
        await stage.shows("hits")
        await stage.drawn()

    assert looks_as_kept(scene, "80x24")


def test_walking_hits(looks_as_kept):
    """The present hit stands out, and its number is told."""

    async def scene(stage: Stage) -> None:
        await scenes.whole_turn(stage)
        stage.chat.sessions.find("flush")
        await stage.shows("hit ")
        await stage.drawn()

    assert looks_as_kept(scene, "80x24", "hermes-light")


def test_an_entry_in_full(looks_as_kept):
    """One entry over the whole screen, searched."""

    async def scene(stage: Stage) -> None:
        await scenes.whole_turn(stage)
        await stage.show(EntryView(story.PYTEST_TAIL, "terminal  pytest -q tests/test_sync.py --count 20"))
        await stage.press("slash", *"take")
        await stage.shows("1 of 1")

    assert looks_as_kept(scene, "80x24")
