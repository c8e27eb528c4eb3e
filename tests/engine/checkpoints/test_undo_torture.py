"""Whatever an agent, its commands and a person do: an undo leaves what the person made, a redo restores all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.edited_tree import EditedTree, remove

from hermes_tui.engine.types.files import NOTHING

MAX_EXAMPLES = int(os.environ.get("UNDO_EXAMPLES", "12"))
FOLDERS = ("d", "d/e", "k")
FILES = ("a", "b.bin", "d/f", "d/e/g", "k/h")
VERBS = ("write", "write", "delete", "chmod", "link", "mkdir")
WHO = ("tool", "command", "command", "person", "person", "turn", "restart")

Step = tuple[str, str, str]
steps = st.tuples(st.sampled_from(WHO), st.sampled_from(VERBS), st.sampled_from((*FILES, *FOLDERS)))


class World:
    """Carries steps out, and knows for each path the state that the person left last."""

    def __init__(self, tree: EditedTree) -> None:
        self.tree = tree
        self.count = 0
        self.person: dict[str, object] = {}
        self.agent: dict[str, set[object]] = {}
        for folder in FOLDERS:
            (tree.work / folder).mkdir()
        for name in FILES:
            (tree.work / name).write_bytes(self._content())
        self._note_person()
        tree.begin_turn()

    def _content(self) -> bytes:
        self.count += 1
        return b"\0\r\n%d\xff" % self.count

    def step(self, who: str, verb: str, name: str) -> None:
        if who == "turn":
            self.tree.begin_turn()
        elif who == "restart":
            self.tree.restart()
        elif who == "person":
            self._as_person(self._action(verb, name), name)
        else:
            watched = self.tree.command() if who == "command" else self.tree.tool(*self._below(name))
            before = self._states()
            with watched:
                self._action(verb, name)()
            for path, state in self._states().items():
                if before[path] != state:
                    self.agent.setdefault(path, set()).update((before[path], state))

    def _action(self, verb: str, name: str) -> Callable[[], None]:
        path = self.tree.work / name

        def act() -> None:
            if not path.parent.is_dir():
                return
            if verb == "chmod":
                if path.is_file() and not path.is_symlink():
                    path.chmod(path.stat().st_mode ^ 0o111)
                return
            if verb == "mkdir":
                if not path.is_dir() or path.is_symlink():
                    remove(path)
                    path.mkdir()
                return
            remove(path)
            if verb == "write":
                path.write_bytes(self._content())
            elif verb == "link":
                path.symlink_to(f"to-{self.count}")
                self.count += 1

        return act

    def _as_person(self, act: Callable[[], None], name: str) -> None:
        """Act, unless that made a path what the agent made of it once: nobody could tell who did."""
        saved = self.tree.work.parent / "saved"
        shutil.copytree(self.tree.work, saved, symlinks=True)
        before = self._states()
        act()
        now = self._states()
        changed = [path for path in now if before[path] != now[path]]
        if any(now[path] in self.agent.get(path, ()) for path in changed):
            remove(self.tree.work)
            saved.rename(self.tree.work)
            return
        remove(saved)
        for path in changed:
            self.person[path] = now[path]
            above = path
            while (cut := above.rfind("/")) > 0:  # who puts a file into a folder wants the folder
                above = above[:cut]
                self.person[above] = now[above]

    def _below(self, name: str) -> list[str]:
        return [path for path in (*FILES, *FOLDERS) if path == name or path.startswith(f"{name}/")]

    def _states(self) -> dict[str, object]:
        return {name: self.tree.state(name) for name in (*FILES, *FOLDERS)}

    def _note_person(self) -> None:
        self.person = self._states()

    def person_only(self) -> dict[str, object]:
        """What is expected once all of the agent's turns are taken back: nothing where the folder is the person's."""
        expected: dict[str, object] = {}
        for path in sorted(self.person):
            above = path.rpartition("/")[0]
            has_folder = not above or getattr(expected[above], "kind", "") == "folder"
            expected[path] = self.person[path] if has_folder else NOTHING
        return expected


@pytest.mark.parametrize("git", [False, True], ids=["plain", "git"])
def test_undo_leaves_the_persons_changes_only_and_redo_restores(git: bool) -> None:
    @settings(max_examples=MAX_EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(steps, min_size=1, max_size=14), st.booleans())
    def check(sequence: list[Step], at_once: bool) -> None:
        with tempfile.TemporaryDirectory() as folder:
            tree = EditedTree(Path(folder), git=git)
            world = World(tree)
            for step in sequence:
                world.step(*step)
            before = tree.now()
            turns = range(tree.turn, 0, -1)
            undone = [tree.undo(1, onwards=True)] if at_once else [tree.undo(turn) for turn in turns]
            assert not tree.problems
            assert world._states() == world.person_only()
            for _ in [done for done in undone if done.files]:
                tree.redo()
            assert tree.now() == before
            tree.db.close()

    check()
