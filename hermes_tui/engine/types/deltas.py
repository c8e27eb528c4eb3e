"""What a stream says, independent of the API that says it.

One decoder per stream turns wire events into these; ``runtime/accumulate.py`` folds them into a message.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from .messages import JsonObject
from .usage import Usage


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningPiece:
    """A piece of readable reasoning."""

    text: str


@dataclass(frozen=True, slots=True)
class ReasoningBlock:
    """A complete opaque block (signature, redacted or encrypted item) to be replayed to the same provider."""

    block: JsonObject


@dataclass(frozen=True, slots=True)
class ToolCallStart:
    """A call begins. ``index`` is the decoder's own dense numbering, stable within the stream."""

    index: int
    call_id: str
    name: str


@dataclass(frozen=True, slots=True)
class ToolCallArgs:
    """A fragment of a call's JSON arguments."""

    index: int
    fragment: str


@dataclass(frozen=True, slots=True)
class UsageReport:
    """Token counts; a later report of the same stream replaces an earlier one."""

    usage: Usage


@dataclass(frozen=True, slots=True)
class Finish:
    """The provider's own end mark: ``stop``, ``tool_calls``, ``length``, ``content_filter``."""

    reason: str


StreamDelta: TypeAlias = (
    TextPiece | ReasoningPiece | ReasoningBlock | ToolCallStart | ToolCallArgs | UsageReport | Finish
)
