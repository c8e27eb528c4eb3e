"""What an undo would do, path by path: the agent's edits are taken back, the person's never. Looks, changes nothing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from ..types.files import NOTHING, FileEdit, FileMove, FileState
from .look import look

CHANGED = "changed since, not by this turn"
PARTLY = "only the latest edit is taken back: it was changed between the edits"
UNKEPT = "too large to be kept, or not readable"
NOT_EMPTY = "holds files that are not the agent's"
NO_FOLDER = "its folder is gone"


@dataclass(slots=True)
class Plan:
    """Moves that can be made, and why others cannot."""

    moves: list[FileMove] = field(default_factory=list)
    settled: set[int] = field(default_factory=set)
    """Numbers of the edits that do not hold any more once the moves are made."""
    kept: dict[str, str] = field(default_factory=dict)
    """Path -> why it stays, or a part of what was done to it."""


def plan_undo(edits: Sequence[FileEdit], state_at: Callable[[str], FileState] = lambda path: look(path).state) -> Plan:
    """Plan to take edits back, the newest first.

    Args:
        edits: In order; those that hold.
        state_at: What is at a path now.
    """
    plan = Plan()
    for path, chain in by_path(edits).items():
        _plan_path(plan, path, chain, state_at(path))
    _keep_impossible(plan)
    return plan


def plan_moves(moves: Iterable[FileMove], state_at: Callable[[str], FileState] = lambda path: look(path).state) -> Plan:
    """Plan to bring paths to their targets, where they are still as they were left; for a redo."""
    plan = Plan()
    for move in moves:
        now = state_at(move.path)
        if now in (move.now, move.target):
            plan.moves.append(FileMove(path=move.path, now=now, target=move.target))
        else:
            plan.kept[move.path] = CHANGED
    _keep_impossible(plan)
    return plan


def by_path(edits: Iterable[FileEdit]) -> dict[str, list[FileEdit]]:
    """Group edits by path, each group in order."""
    found: dict[str, list[FileEdit]] = {}
    for edit in edits:
        found.setdefault(edit.path, []).append(edit)
    return found


def _plan_path(plan: Plan, path: str, chain: Sequence[FileEdit], now: FileState) -> None:
    """Go back along a chain of edits from where the file is now, as far as each edit begins where another ended."""
    target, settled = now, set[int]()
    for at, edit in _entry(chain, now):
        if target not in (edit.after, edit.before):
            plan.kept[path] = PARTLY if settled else CHANGED
            break
        settled |= {later.no for later in chain[at:]}
        target = edit.before
    if not settled:
        return
    if not target.is_kept:
        plan.kept[path] = UNKEPT
        return
    plan.settled |= settled
    plan.moves.append(FileMove(path=path, now=now, target=target))


def _entry(chain: Sequence[FileEdit], now: FileState) -> list[tuple[int, FileEdit]]:
    """Return the edits from the newest one that ends or begins at the present state back to the first.

    Usually the last one ends there. After an undo that was cut off, or a file that a person brought back, it is an
    earlier one; what came later is gone then.
    """
    numbered = list(enumerate(chain))
    newest_first = numbered[::-1]
    for skipped, (at, edit) in enumerate(newest_first):
        if now in (edit.after, edit.before):
            return newest_first[skipped:]
        if at and chain[at - 1].after != edit.before:
            break
    return newest_first


def _keep_impossible(plan: Plan) -> None:
    """Take out moves that the present tree does not allow, until none is left that depends on one of them."""
    while True:
        targets = {move.path: move.target for move in plan.moves}
        blocked = {move.path: why for move in plan.moves if (why := _obstacle(move, targets))}
        if not blocked:
            return
        plan.kept |= blocked
        plan.moves = [move for move in plan.moves if move.path not in blocked]


def _obstacle(move: FileMove, targets: dict[str, FileState]) -> str:
    if move.now == move.target:
        return ""
    if move.now.kind == "folder" and move.target.kind != "folder":
        try:
            names = os.listdir(move.path)  # noqa: PTH208
        except OSError:
            names = []
        if any(targets.get(f"{move.path}/{name}") != NOTHING for name in names):
            return NOT_EMPTY
    if move.target != NOTHING:
        above = os.path.dirname(move.path)  # noqa: PTH120
        kind = targets[above].kind if above in targets else look(above).state.kind
        if kind != "folder":
            return NO_FOLDER
    return ""
