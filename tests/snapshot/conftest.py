"""Pictures of screens: where they are kept, and what must not differ between machines."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_textual_snapshot
from pytest_textual_snapshot import SVGImageExtension
from support.scenes import Scene
from support.snapshots import Stage, StageApp
from syrupy.location import PyTestLocation
from textual.pilot import Pilot

PICTURES = Path(__file__).parents[2] / "snapshots"


FONT_FACE = re.compile(r"@font-face\s*\{[^}]*\}\s*")


def _dirname(cls: type[SVGImageExtension], *, test_location: PyTestLocation) -> str:
    return str(PICTURES / Path(test_location.filepath).stem)


def _without_fonts(svg: str) -> str:
    """Take out the fonts that a picture would load from the web; it falls back to any of fixed width."""
    return FONT_FACE.sub("", _without_ids(svg))


# The plugin names its own extension and function, so that a subclass would not be asked.
SVGImageExtension.dirname = classmethod(_dirname)
_without_ids = pytest_textual_snapshot.normalize_svg
pytest_textual_snapshot.normalize_svg = _without_fonts


@pytest.fixture(scope="session")
def report_folder() -> str:
    """Where the plugin collects its report; a test's own environment does not have it any more."""
    return os.environ["TEXTUAL_SNAPSHOT_TEMPDIR"]


@pytest.fixture(autouse=True)
def fixed_place(report_folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """An empty working folder, and times in UTC."""
    monkeypatch.setenv("TEXTUAL_SNAPSHOT_TEMPDIR", report_folder)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.delenv("TZ")
    time.tzset()


@pytest.fixture
def looks_as_kept(snap_compare: Callable[..., bool]) -> Callable[..., bool]:
    """Return a function that plays a scene in the real app and compares the screen with the kept picture."""

    def compare(scene: Scene, size: str = "120x40", theme: str = "hermes-dark", **ui: Any) -> bool:
        width, height = map(int, size.split("x"))

        async def play(pilot: Pilot[Any]) -> None:
            await scene(Stage(pilot))

        return snap_compare(StageApp(theme, **ui), terminal_size=(width, height), run_before=play)

    return compare
