"""The stored form of a conversation: OpenAI-style dicts with a few side fields.

A history is a list of :class:`Message`, system first if at all, then user and assistant alternating; only ``tool`` rows
may repeat, directly after the assistant row that called them.
"""

from __future__ import annotations

from typing import Literal, NotRequired, TypeAlias, TypedDict

JsonValue: TypeAlias = "dict[str, JsonValue] | list[JsonValue] | str | int | float | bool | None"
JsonObject: TypeAlias = dict[str, JsonValue]

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]


class FunctionCall(TypedDict):
    """The function part of a tool call."""

    name: str
    arguments: str
    """A JSON object as text."""


class ToolCall(TypedDict):
    """One call that the model asked for."""

    id: str
    type: Literal["function"]
    function: FunctionCall


class ReasoningDetail(TypedDict):
    """An opaque reasoning block to send back unchanged, and only to its issuer."""

    provider: str
    """Name of the provider that issued it."""
    api_mode: str
    position: int
    """Index among the answer's blocks, so that interleaving survives."""
    block: JsonObject
    """The block exactly as received."""


class Compressed(TypedDict):
    """On a summary row: what of the session before it is still sent as it was, and what it came to."""

    first: int
    """Messages kept from the beginning of that session's history."""
    last: int
    """Messages kept from its end; they follow the summary."""
    tool_chars: int
    """Longest tool result among the kept ones, longer ones are sent cut; 0 leaves them whole."""
    summarised: int
    """Messages that the summary stands for."""
    before_tokens: int
    after_tokens: int
    files: list[str]
    """Files in work, newest first."""
    request: str
    """What the person asked for, when that message itself is not kept."""


class PersonCommand(TypedDict):
    """On a user row: a command that the person ran themselves.

    The row's content is text parts: what was typed, what came of it in words, the output if there is any.
    """

    call: ToolCall
    """As a model would have made it."""
    outcome: str
    """An :data:`~hermes_tui.engine.types.events.Outcome`."""
    result: JsonObject
    """The tool's result without its output."""
    duration_s: float


class Message(TypedDict):
    """One row of a history."""

    role: Role
    content: str | list[JsonObject] | None
    """Text; or content parts (``{"type": "text" | "image_url", ...}``); None for a pure tool call."""
    tool_calls: NotRequired[list[ToolCall]]
    tool_call_id: NotRequired[str]
    tool_name: NotRequired[str]
    """Name of the tool a ``tool`` row answers for."""
    reasoning: NotRequired[str]
    """Reasoning as readable text; shown, never sent as text."""
    reasoning_details: NotRequired[list[ReasoningDetail]]
    finish_reason: NotRequired[str]
    """``stop``, ``tool_calls``, ``length``, ``content_filter``, ``interrupted`` or ``error``."""
    partial: NotRequired[str]
    """Text streamed before an interrupt: shown, never sent."""
    api_content: NotRequired[str]
    """The exact text sent when it differs from ``content``, repeated byte for byte in later requests."""
    damaged: NotRequired[bool]
    """True for a stored row of which a part could not be read."""
    synthetic: NotRequired[bool]
    """True for a row the engine wrote to close an interrupted turn."""
    compressed: NotRequired[Compressed]
    """Present on the row that stands for summarised messages."""
    ran: NotRequired[PersonCommand]
    """Present on the row of a command that the person ran."""
    attached: NotRequired[list[str]]
    """What went along with the typed text, in words; the text is then the first of the content's parts."""
    created_at: NotRequired[float]
    """Unix seconds."""


class ApiMessage(TypedDict, total=False):
    """A neutral message of one request, after windowing and repair; providers translate it to their wire form."""

    role: Role
    content: str | list[JsonObject] | None
    tool_calls: list[ToolCall]
    tool_call_id: str
    tool_name: str
    reasoning: str
    reasoning_details: list[ReasoningDetail]


def text_of(message: Message | ApiMessage) -> str:
    """Return a message's text, joining the text parts of multi-part content."""
    content = message.get("content")
    if isinstance(content, str):
        return content
    if not content:
        return ""
    return "\n".join(str(part.get("text", "")) for part in content if part.get("type") == "text")


def typed_text(message: Message) -> str:
    """Return what the person typed for a user row, without what came of a command and without attached files."""
    content = message.get("content")
    has_more = isinstance(content, list) and ("ran" in message or "attached" in message)
    return str(content[0].get("text", "")) if has_more else text_of(message)  # type: ignore[index, union-attr]
