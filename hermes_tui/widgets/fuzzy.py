"""Fuzzy ranking of short texts and paths. Pure."""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

_BOUNDARY = frozenset("/_-. :")
MAX_SCORED = 4_000
"""More candidates than this are ranked by length before they are scored in detail."""


@dataclass(frozen=True, slots=True)
class Match:
    """A candidate that fits a query."""

    text: str
    score: float
    """Higher is better; comparable within one query."""
    positions: tuple[int, ...]
    """Indices of the characters that matched."""


def matcher(query: str) -> Callable[[str], bool]:
    """Return a fast test: are the query's characters in a lower-case text, in order?"""
    pattern = re.compile(".*?".join(re.escape(char) for char in query.lower()), re.DOTALL)
    search = pattern.search
    return lambda text: search(text) is not None


def match(query: str, text: str) -> Match | None:
    """Score one text, or return None if it does not fit. An upper-case letter in the query must match exactly.

    The order: the name starts with the query, the name holds it, the whole holds it, its letters at word starts, its
    letters anywhere. Shorter texts win ties.
    """
    if not query:
        return Match(text, -len(text), ())
    wanted, lowered = query.lower(), text.lower()
    if len(lowered) != len(text):  # a letter such as İ grows in lower case; positions would be off
        lowered = text
    name_start = text.rstrip("/").rfind("/") + 1
    penalty = len(text) / 100
    exact_bonus = 0.5 if query in text else 0.0
    if (at := lowered.find(wanted, name_start)) >= 0:
        score = 400.0 if at == name_start else 300.0 if text[at - 1] in _BOUNDARY else 250.0
        return Match(text, score + exact_bonus - penalty, tuple(range(at, at + len(wanted))))
    if (at := lowered.find(wanted)) >= 0:
        score = 220.0 if at == 0 or text[at - 1] in _BOUNDARY else 200.0
        return Match(text, score + exact_bonus - penalty, tuple(range(at, at + len(wanted))))
    best: Match | None = None
    for start in {name_start, 0}:
        positions = _subsequence(wanted, text, lowered, start)
        if positions is not None:
            score = (120.0 if start else 60.0) + _compactness(positions, text) - penalty
            if best is None or score > best.score:
                best = Match(text, score, positions)
    return best


def rank(query: str, candidates: Iterable[str], limit: int) -> list[Match]:
    """Return the best matches, best first; equal ones keep a stable order by length and name."""
    fits = matcher(query) if query else None
    found = [text for text in candidates if fits is None or fits(text.lower())]
    if len(found) > MAX_SCORED:
        found = heapq.nsmallest(MAX_SCORED, found, key=len)
    matches = [m for text in found if (m := match(query, text)) is not None]
    return heapq.nsmallest(limit, matches, key=lambda m: (-m.score, len(m.text), m.text))


def _subsequence(wanted: str, text: str, lowered: str, start: int) -> tuple[int, ...] | None:
    """Find the query's characters in order, at word starts where that still lets the rest fit."""
    positions: list[int] = []
    at = start
    for index, char in enumerate(wanted):
        place = lowered.find(char, at)
        if place < 0:
            return None
        boundary = _next_boundary(char, text, lowered, place)
        rest = wanted[index + 1 :]
        if boundary > place and _fits_in_order(rest, lowered, boundary + 1):
            place = boundary if not positions or positions[-1] != place - 1 else place
        positions.append(place)
        at = place + 1
    return tuple(positions)


def _next_boundary(char: str, text: str, lowered: str, at: int) -> int:
    while at >= 0:
        if at == 0 or text[at - 1] in _BOUNDARY or (text[at].isupper() and text[at - 1].islower()):
            return at
        at = lowered.find(char, at + 1)
    return -1


def _fits_in_order(wanted: str, lowered: str, at: int) -> bool:
    for char in wanted:
        at = lowered.find(char, at) + 1
        if not at:
            return False
    return True


def _compactness(positions: Sequence[int], text: str) -> float:
    """Reward word starts and neighbours, in proportion to the query's length."""
    starts = sum(1 for p in positions if p == 0 or text[p - 1] in _BOUNDARY)
    runs = sum(1 for a, b in pairwise(positions) if b == a + 1)
    spread = positions[-1] - positions[0] + 1 - len(positions)
    return 40.0 * (starts + runs) / len(positions) - spread / 10
