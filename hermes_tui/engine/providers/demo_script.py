"""Which step of the demo comes next, from the conversation alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..types.messages import ApiMessage, text_of
from .demo_chapters import AFTERWARDS, CLEANING, ERRAND, ERRAND_STEPS, FOLDER, MORE, OPENING, Seen, Step

_OTHER_TOOLS = frozenset(name for step in MORE for name, _ in step.calls) - {"todo", "terminal"}


def next_step(messages: Sequence[ApiMessage], tools: frozenset[str]) -> Step:
    """Return the step that comes next."""
    turn = _read(messages)
    chapter = _chapter(turn, tools)
    playable = [step for step in chapter if not step.calls or any(name in tools for name, _ in step.calls)]
    return _bound(playable[min(turn.answers, len(playable) - 1)], turn.seen, tools)


def _chapter(turn: _Turn, tools: frozenset[str]) -> tuple[Step, ...]:
    if turn.asked.startswith(ERRAND):
        return ERRAND_STEPS
    if turn.has_cleaned or not tools & {"write_file", "terminal"}:
        return AFTERWARDS
    if "write_file" not in turn.earlier:
        return OPENING
    if "clean" in turn.asked.lower() or turn.earlier & _OTHER_TOOLS or not tools & _OTHER_TOOLS:
        return CLEANING
    return MORE


def _bound(step: Step, seen: Seen, tools: frozenset[str]) -> Step:
    text = step.text if isinstance(step.text, str) else step.text(seen)
    calls = tuple((name, args(seen) if callable(args) else args) for name, args in step.calls if name in tools)
    return Step(text=text, reasoning=step.reasoning, calls=calls)


@dataclass(frozen=True)
class _Turn:
    """Where the conversation is."""

    asked: str
    """The last user message."""
    answers: int
    """How many answers it has."""
    seen: Seen
    earlier: frozenset[str]
    """Tools that earlier turns used."""
    has_cleaned: bool
    """Whether an earlier turn asked what should become of the folder."""


def _read(messages: Sequence[ApiMessage]) -> _Turn:
    start = max((at for at, message in enumerate(messages) if message["role"] == "user"), default=-1) + 1
    names: dict[str, str] = {}
    earlier: set[str] = set()
    answers, has_cleaned = 0, False
    results: dict[str, str] = {}
    for at, message in enumerate(messages):
        for call in message.get("tool_calls", ()):
            names[call["id"]] = name = call["function"]["name"]
            if at < start:
                earlier.add(name)
                has_cleaned |= name == "clarify" or f"rm -r {FOLDER}" in call["function"]["arguments"]
        answers += at >= start and message["role"] == "assistant"
        if at >= start and message["role"] == "tool":
            results[names.get(message.get("tool_call_id", ""), "")] = text_of(message)
    asked = text_of(messages[start - 1]) if start else ""
    return _Turn(asked, answers, Seen(results), frozenset(earlier), has_cleaned)
