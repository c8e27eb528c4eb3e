"""From a reply's bytes to deltas: the part that all API modes share. Tells event streams, JSON and HTML apart."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Any, Protocol

from ..types.deltas import StreamDelta
from ..types.errors import StreamBroken
from .base import Endpoint
from .sse import SseParser
from .transport import Reply

AFTER_END_S = 0.25
"""How long the connection may stay open after the end mark; then it is closed instead of reused."""
AFTER_FINISH_S = 5.0
"""How long the usage and the end mark may take after the finish reason; some servers send neither."""

_UNREADABLE = (KeyError, TypeError, AttributeError, IndexError, ValueError)
"""What code that trusts a shape raises when the shape is another."""


class Decoder(Protocol):
    """Turns one answer of one API mode into deltas. Made anew for each answer."""

    is_done: bool
    """The end mark was seen; what follows means nothing."""
    is_finishing: bool
    """The finish reason was seen; little can follow."""

    def event(self, name: str, data: str) -> Iterable[StreamDelta]:
        """Decode one event of a stream."""
        ...

    def whole(self, body: Any) -> Iterable[StreamDelta]:
        """Decode an answer that came in one piece."""
        ...

    def close(self) -> Iterable[StreamDelta]:
        """Finish when the stream has ended.

        Raises:
            StreamBroken: It ended too early.
        """
        ...


def decode(reply: Reply, decoder: Decoder, endpoint: Endpoint) -> Iterator[StreamDelta]:
    """Yield the deltas of a reply; blocks between them.

    Raises:
        ProviderError: The reply is not what was asked for, or says that something failed.
    """
    chunks = reply.chunks()
    head = b""
    for chunk in chunks:
        head += chunk
        if head.strip():
            break
    first = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if first in (b"{", b"[", b"<"):
        body = head + b"".join(chunks)
        yield from _guarded(decoder.whole, _whole_body(body, reply, endpoint), endpoint)
        return
    parser = SseParser()
    finishing = False
    for chunk in chain((head,), chunks):
        for name, data in parser.feed(chunk):
            if not decoder.is_done:
                yield from _guarded(decoder.event, name, data, endpoint)
        if decoder.is_done:
            reply.expect_end(AFTER_END_S)
        elif decoder.is_finishing and not finishing:
            finishing = True
            reply.expect_end(AFTER_FINISH_S)
    for name, data in parser.close():
        if not decoder.is_done:
            yield from _guarded(decoder.event, name, data, endpoint)
    try:
        yield from decoder.close()
    except StreamBroken as broken:
        raise broken from reply.end_error


def loads(data: str) -> Any:
    """Return an event's JSON; None for what is not an object (``ping``, an empty line).

    Raises:
        ValueError: It begins like an object and is none.
    """
    if data[:1] != "{" and not data.lstrip().startswith("{"):
        return None
    return json.loads(data)


def _guarded(decode_part: Any, *args: Any) -> Iterable[StreamDelta]:
    *parts, endpoint = args
    try:
        return decode_part(*parts)  # type: ignore[no-any-return]
    except _UNREADABLE as error:
        raise StreamBroken(f"{endpoint.provider} sent something unreadable.", hint="Try again.") from error


def _whole_body(body: bytes, reply: Reply, endpoint: Endpoint) -> Any:
    from .classify import from_answer

    text = body.decode("utf-8-sig", "replace").strip()
    try:
        parsed = json.loads(text)
    except ValueError as error:
        if text.startswith("<"):
            raise from_answer(200, reply.headers, text, endpoint) from error
        raise StreamBroken(f"{endpoint.provider} sent JSON that is cut off.", hint="Try again.") from error
    if isinstance(parsed, list) or (isinstance(parsed, dict) and parsed.get("error")):
        raise from_answer(200, reply.headers, parsed, endpoint)
    return parsed
