"""A process killed in the middle of an undo leaves every file old or new, and the undo can be repeated."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.edited_tree import EditedTree, remove

SCRIPT = Path(__file__).parents[2] / "support" / "cut_off_undo.py"
POINTS = (0, 1, 2, 3, 5, 7, 9, 12, 16, 99)


def run(tree: EditedTree, number: int, what: str) -> bool:
    """Undo in another process; returns whether it came to its end."""
    command = [sys.executable, str(SCRIPT), str(tree.work.parent), str(number), what]
    done = subprocess.run(command, capture_output=True, text=True, cwd=Path(__file__).parents[3], check=False)
    assert done.returncode in (0, -9), done.stderr
    return done.stdout == "done"


def edited(root: Path) -> tuple[EditedTree, dict[str, object], dict[str, object]]:
    """A tree with one turn's edits, and how it looked before and after them."""
    tree = EditedTree(root)
    work = tree.work
    (work / "old" / "deep").mkdir(parents=True)
    for name in ("a", "b", "old/c", "old/deep/d"):
        (work / name).write_text(f"before {name}")
    (work / "link").symlink_to("a")
    before = dict(tree.now())
    tree.begin_turn()
    with tree.command():
        (work / "a").write_text("after a")
        (work / "b").chmod(0o755)
        remove(work / "old")
        remove(work / "link")
        (work / "link").symlink_to("b")
        (work / "new" / "deep").mkdir(parents=True)
        (work / "new" / "deep" / "e").write_text("after e")
    return tree, before, dict(tree.now())


@pytest.mark.parametrize("number", POINTS)
def test_a_killed_undo_and_a_killed_redo_are_finished_by_the_next(number: int, tmp_path: Path) -> None:
    tree, before, after = edited(tmp_path)
    assert run(tree, number, "undo") == (number == POINTS[-1])
    for name, found in tree.now().items():
        if not name.endswith(".undo.tmp"):
            assert found in (before.get(name), after.get(name)), name
    assert not tree.undo().kept
    assert tree.now() == before
    if not run(tree, number, "redo"):
        for name, found in tree.now().items():
            if not name.endswith(".undo.tmp"):
                assert found in (before.get(name), after.get(name)), name
        tree.redo()
    assert tree.now() == after
