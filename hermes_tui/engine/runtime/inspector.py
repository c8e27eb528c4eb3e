"""Shows what the request log holds, worked out when somebody looks: differences, categories, the exact JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

from ..context.compare import compare, context_parts, parts_of_request
from ..context.tokens import tool_tokens
from ..policy.redaction import Redactor
from ..types.errors import HermesError
from ..types.inspection import ContextReport, MessagePair, RequestDetail, RequestRow
from ..types.messages import JsonObject, JsonValue
from .accumulate import Answer
from .compress import Compressor
from .conversation import Conversation
from .ports import ClientFor, Cost
from .request_log import RequestLog, RequestRecord
from .route import Route


class Inspector:
    """Looks at one session's requests. Any thread; :meth:`detail` takes as long as its messages are many.

    Args:
        log: What was recorded.
        client_for: API mode -> the adapter that knows the wire form.
        cost: The price of one request.
        redactor: Takes secrets out.
        factor: Returns how many tokens the provider counts for each estimated one.
    """

    def __init__(
        self,
        log: RequestLog,
        client_for: ClientFor,
        cost: Cost,
        redactor: Redactor,
        factor: Callable[[], float],
    ) -> None:
        self._log = log
        self._client_for = client_for
        self._cost = cost
        self._redactor = redactor
        self._factor = factor

    def rows(self) -> list[RequestRow]:
        """Return the kept requests, oldest first."""
        return [self._row(record) for record in self._log.records()]

    def detail(self, number: int) -> RequestDetail:
        """Return everything about one request.

        Raises:
            HermesError: It is not kept any more.
        """
        record = next((record for record in self._log.records() if record.number == number), None)
        if record is None:
            raise HermesError(f"Request {number} is not kept any more.", hint="Only the newest ones are.")
        request = record.request
        issuer = (request.endpoint.provider, request.endpoint.api_mode)
        pairs = compare(record.history[: record.row_count], request.messages, request.cache_marks, issuer)
        wire = self._client_for(request.endpoint.api_mode).wire(request)
        url, body = wire if wire is not None else ("", None)
        return RequestDetail(
            row=self._row(record),
            pairs=tuple(self._clean(pair) for pair in pairs),
            parts=parts_of_request(request.messages, request.tools, pairs, self._factor()),
            url=url,
            body=self._redactor.value(body),
            answer=self._redactor.value(_answer(record.answer)),
            raw=self._redactor.text(record.raw.text()),
            raw_bytes=record.raw.size,
        )

    def _row(self, record: RequestRecord) -> RequestRow:
        row = record.as_row(self._cost)
        return replace(row, problem=self._redactor.text(row.problem))

    def _clean(self, pair: MessagePair) -> MessagePair:
        return replace(pair, stored=self._redactor.text(pair.stored), sent=self._redactor.text(pair.sent))


def _answer(answer: Answer | None) -> JsonValue:
    """Return what came, in words that people know from the stored rows."""
    if answer is None:
        return None
    fields: dict[str, Any] = {**answer.as_message(), "finish_reason": answer.finish_reason}
    if answer.usage is not None:
        fields["usage"] = answer.usage.as_dict()
    return cast(JsonObject, fields)


def context_report(
    conversation: Conversation, definitions: Sequence[JsonObject], route: Route, compressor: Compressor
) -> ContextReport:
    """Return what the next request would carry, by category. Any thread, never blocks."""
    parts = context_parts(
        conversation.system, tool_tokens(definitions), conversation.tokens_by_role(), conversation.factor
    )
    try:
        return ContextReport(parts=parts, window=route.endpoint.context_window, limit=compressor.limit)
    except HermesError:  # the model cannot be resolved, which the next turn says
        return ContextReport(parts=parts)
