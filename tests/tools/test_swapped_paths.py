"""Somebody puts links where folders were, between the gate's look and the tool's hand: nothing outside changes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from support.tool_context import PlainContext, run_tool

from hermes_tui.tools import atomic
from hermes_tui.tools.base import ToolFailure
from hermes_tui.tools.registry import load_builtin_tools


class Place:
    """A folder inside, one outside with the same names, and somebody who swaps the one for a link to the other."""

    def __init__(self, root: Path) -> None:
        self.inside = root / "ws" / "a" / "b"
        self.outside = root / "outside"
        for folder in (self.inside, self.outside / "b"):
            folder.mkdir(parents=True)
            (folder / "f").write_text(f"of {folder.parent.name}\n")

    def swap(self, which: str) -> None:
        """Put a link where ``b`` (or its parent ``a``) was."""
        folder = self.inside if which == "parent" else self.inside.parent
        target = self.outside / "b" if which == "parent" else self.outside
        folder.rename(folder.with_name("moved"))
        folder.symlink_to(target)

    def untouched(self) -> bool:
        folder = self.outside / "b"
        return (folder / "f").read_text() == "of outside\n" and [entry.name for entry in folder.iterdir()] == ["f"]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.mark.parametrize("which", ["parent", "grandparent"])
@pytest.mark.parametrize(
    "act",
    [
        lambda path, check: atomic.write_atomic(path, "f", b"new\n", exists=True, check=check),
        lambda path, check: atomic.write_atomic(path.with_name("new"), "new", b"new\n", exists=False, check=check),
        lambda path, check: atomic.remove_file(path, "f", check),
    ],
    ids=["rewrite", "new file", "delete"],
)
def test_a_link_put_there_in_the_last_moment_is_not_followed(
    act: Callable[[Path, Callable[[], None]], None], which: str, place: Place
) -> None:
    act(place.inside / "f", lambda: place.swap(which))
    assert place.untouched()


@pytest.mark.parametrize("which", ["parent", "grandparent"])
def test_a_link_that_is_there_already_is_refused(which: str, place: Place) -> None:
    place.swap(which)
    for act in (
        lambda: atomic.write_atomic(place.inside / "f", "f", b"new\n", exists=True, check=lambda: None),
        lambda: atomic.remove_file(place.inside / "f", "f", lambda: None),
        lambda: atomic.make_parents(place.inside / "more" / "f", "f"),
    ):
        with pytest.raises(ToolFailure, match="became a link"):
            act()
    assert place.untouched()


def test_a_file_turned_into_a_link_is_replaced_not_followed(place: Place) -> None:
    path, target = place.inside / "f", place.outside / "b" / "f"

    def swap() -> None:
        path.unlink()
        path.symlink_to(target)

    atomic.write_atomic(path, "f", b"new\n", exists=True, check=swap)
    assert place.untouched() and path.read_text() == "new\n" and not path.is_symlink()


def test_a_hard_linked_file_turned_into_a_link_is_refused(place: Place) -> None:
    path = place.inside / "f"
    path.with_name("twin").hardlink_to(path)

    def swap() -> None:
        path.unlink()
        path.symlink_to(place.outside / "b" / "f")

    with pytest.raises(ToolFailure):
        atomic.write_atomic(path, "f", b"new\n", exists=True, check=swap)
    assert place.untouched()


@pytest.mark.parametrize("tool_name", ["write_file", "patch"])
def test_a_link_that_flips_all_the_time_never_leads_a_write_outside(
    tool_name: str, context: PlainContext, tmp_path: Path
) -> None:
    tool = load_builtin_tools().get(tool_name)
    assert tool is not None
    inside, link, outside = context.workspace / "inside", context.workspace / "a", tmp_path / "beyond"
    for folder in (inside, outside):
        folder.mkdir()
        (folder / "f").write_text("old\n")
    link.symlink_to(inside)
    stop = threading.Event()

    def flip() -> None:
        fresh = link.with_name("fresh")
        while not stop.is_set():
            for target in (outside, inside):
                fresh.symlink_to(target)
                fresh.replace(link)

    flipper = threading.Thread(target=flip)
    flipper.start()
    try:
        for number in range(200):
            args = {"path": "a/f", "content": f"{number}\n"}
            if tool_name == "patch":
                (inside / "f").write_text("old\n")
                args = {"path": "a/f", "old_string": "old", "new_string": "new"}
            (use,) = tool.assess(args, context).paths
            if use.real == str(inside / "f"):  # the gate lets pass what lies inside
                run_tool(context, tool, args)
    finally:
        stop.set()
        flipper.join()
    assert (outside / "f").read_text() == "old\n" and [entry.name for entry in outside.iterdir()] == ["f"]
