"""Foreign failures -> the error tree, once. By type, status and machine code; by wording only where a server has none.

Knows the SDKs' exceptions by name, so that no SDK is imported to look at an error.
"""

from __future__ import annotations

import errno
import json
import math
import os
import re
import socket
import time
from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from ..config.secrets import redact
from ..types.errors import (
    AuthError,
    BadRequest,
    BillingError,
    ConnectionFailed,
    ContextOverflow,
    HermesError,
    ModelNotFound,
    OutputCapTooLarge,
    Overloaded,
    PartRejected,
    ProviderError,
    ProviderTimeout,
    RateLimited,
    Refused,
    StreamBroken,
)
from .base import Endpoint
from .catalog import PROVIDERS
from .proxies import proxy_for
from .rejections import allowed_output, rejected_quirk

MESSAGE_LIMIT = 300
"""Characters of a provider's own message that are passed on."""

_BY_STATUS: dict[int, type[ProviderError]] = {
    400: BadRequest,
    401: AuthError,
    402: BillingError,
    403: AuthError,
    404: ModelNotFound,
    408: ProviderTimeout,
    413: ContextOverflow,
    422: BadRequest,
    425: Overloaded,
    429: RateLimited,
    451: Refused,
}

# Source: the error pages of OpenAI, Anthropic, Google, OpenRouter, llama.cpp; lower case.
_BY_CODE: dict[str, type[ProviderError]] = {
    "authentication_error": AuthError,
    "invalid_api_key": AuthError,
    "permission_error": AuthError,
    "permission_denied": AuthError,
    "billing_error": BillingError,
    "billing_not_active": BillingError,
    "insufficient_quota": BillingError,
    "insufficient_balance": BillingError,
    "model_not_found": ModelNotFound,
    "model_not_available": ModelNotFound,
    "not_found_error": ModelNotFound,
    "rate_limit_error": RateLimited,
    "rate_limit_exceeded": RateLimited,
    "resource_exhausted": RateLimited,
    "overloaded_error": Overloaded,
    "server_is_overloaded": Overloaded,
    "server_error": Overloaded,
    "api_error": Overloaded,
    "internal_server_error": Overloaded,
    "unavailable": Overloaded,
    "service_unavailable": Overloaded,
    "timeout_error": ProviderTimeout,
    "context_length_exceeded": ContextOverflow,
    "exceed_context_size_error": ContextOverflow,
    "request_too_large": ContextOverflow,
    "string_above_max_length": ContextOverflow,
    "content_filter": Refused,
    "content_policy_violation": Refused,
    "invalid_prompt": Refused,
    "invalid_request_error": BadRequest,
}

# Servers without a code for it; checked for 400-class answers only.
# What is too large must be said as well: "reduce the context length to save memory" is no overflow.
_OVERFLOW_WORDS = re.compile(
    r"(?=.*(?:exceed|too (?:long|large|many)|(?:longer|larger|greater) than|maximum context length is|> ?\d|overflow))"
    r".*?(?:context (?:length|window|size)|maximum context|\bprompt\b|too many (?:input )?tokens|n_ctx"
    r"|\binput (?:is|length|token)|request too large)",
    re.I | re.S,
)
_WINDOW = re.compile(
    r"(?:context (?:length|window|size)\D{0,30}|n_ctx\D{0,5}|maximum(?: of| is)?\D{0,20}|limit of |> )(\d[\d,]{3,})"
    r"|(\d[\d,]{3,}) maximum context",
    re.I,
)
_UNKNOWN_MODEL = re.compile(r"\bmodel\b", re.I)

_UNREACHABLE = {
    errno.ECONNREFUSED: "nothing listens there",
    errno.EHOSTUNREACH: "no route to it",
    errno.ENETUNREACH: "this machine is offline",
    errno.ECONNRESET: "it closed the connection",
}


def classify(error: BaseException, endpoint: Endpoint, env: Mapping[str, str] = os.environ) -> HermesError:
    """Return the error of our tree for anything that a request may raise.

    Args:
        error: Raised by an SDK, its HTTP library or the socket.
        endpoint: Where the request went.
        env: For naming the proxy that stood between.
    """
    if isinstance(error, HermesError):
        return error
    names = {kind.__name__ for kind in type(error).__mro__}
    response = getattr(error, "response", None)
    if "APIStatusError" in names and response is not None:
        return from_answer(error.status_code, response.headers, _body_of(response, error), endpoint)  # type: ignore[attr-defined]
    if names & {"APITimeoutError", "TimeoutException"} and "WriteTimeout" not in names:
        return ProviderTimeout(f"{_place(endpoint)} did not accept a connection in time.", hint=_reach(endpoint, env))
    if "APIConnectionError" in names:
        return _unreachable(error, endpoint, env)
    return StreamBroken(f"The connection to {_place(endpoint)} broke: {_reason(error)}.")


def from_answer(status: int, headers: Mapping[str, str], body: object, endpoint: Endpoint) -> ProviderError:
    """Return the error for an HTTP status and body.

    Args:
        status: HTTP status; 0 for an error inside a stream.
        headers: Response headers; any case when it is a plain mapping of lower-case names.
        body: Parsed JSON, or text.
        endpoint: Where the request went.
    """
    fields = _fields(body)
    code, message = _code(fields), _message(fields, body)
    if status in (0, 200) and isinstance(fields.get("code"), int):
        status = fields["code"]
    kind = _kind(status, code, message)
    shown = _one_line(message, endpoint)
    if isinstance(body, str) and body.lstrip()[:1] == "<":
        headline = f"{status} from {_host(endpoint)} (HTML page)."
    else:
        headline = f"{_place(endpoint)} answered {status or 'with an error'}" + (f": {shown}" if shown else ".")
    if mendable := _mendable(kind, status, code, fields, message, headline):
        return mendable
    if kind is ContextOverflow:
        window = _WINDOW.search(message)
        tokens = int((window[1] or window[2]).replace(",", "")) if window else None
        return ContextOverflow(headline, hint=_HINTS[kind], status=status, window_tokens=tokens)
    if kind is ModelNotFound and status == 404 and not _UNKNOWN_MODEL.search(f"{code} {message}"):
        kind, hint = BadRequest, f"Check base_url ({endpoint.base_url}); it usually ends in /v1."
    elif kind is ModelNotFound:
        headline = f"{endpoint.provider} does not know the model {endpoint.model}."
        hint = "Choose another one with /model."
    elif kind is BadRequest and status == 200:
        hint = f"Check base_url ({endpoint.base_url}); it usually ends in /v1."
    elif kind is AuthError:
        headline, hint = _auth(headline, endpoint)
    else:
        hint = _HINTS.get(kind, "")
    return kind(headline, hint=hint, status=status, code=code, retry_after_s=retry_after(headers, fields))


def _mendable(
    kind: type[ProviderError], status: int, code: str, fields: Mapping[str, Any], message: str, headline: str
) -> ProviderError | None:
    """Return the error for a request of which only one part is wrong."""
    if kind in (BadRequest, ContextOverflow) and (tokens := allowed_output(message)):
        return OutputCapTooLarge(headline, max_tokens=tokens, status=status, code=code)
    if kind in (BadRequest, ModelNotFound, Overloaded):
        param = fields.get("param")
        if quirk := rejected_quirk(status, code, param if isinstance(param, str) else "", message):
            return PartRejected(headline, quirk=quirk, status=status, code=code)
    return None


_HINTS: dict[type[ProviderError], str] = {
    BillingError: "Check credit and limits on the provider's page, or choose another model with /model.",
    RateLimited: "Wait a moment, or choose another model with /model.",
    Overloaded: "The provider has trouble; try again in a moment.",
    ContextOverflow: "Make the conversation smaller with /compress, or start a new one.",
    Refused: "The provider's rules forbid this request; change its words.",
}


def retry_after(headers: Mapping[str, str], fields: Mapping[str, Any] | None = None) -> float | None:
    """Return the seconds that the provider asks to wait: milliseconds, seconds, a date, or Google's ``retryDelay``."""
    candidates: list[float | None] = [
        _number(headers.get("retry-after-ms"), 0.001),
        _number(headers.get("retry-after")),
        _date(headers.get("retry-after")),
        *(_number(str(row["retryDelay"]).rstrip("s")) for row in _details(fields or {}) if "retryDelay" in row),
    ]
    return next((seconds for seconds in candidates if seconds is not None), None)


def _number(text: str | None, scale: float = 1.0) -> float | None:
    try:
        value = float(text or "") * scale
    except ValueError:
        return None
    return max(0.0, value) if math.isfinite(value) else None


def _date(text: str | None) -> float | None:
    try:
        moment = parsedate_to_datetime(text or "")
        return max(0.0, moment.timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None


def _details(fields: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    details = fields.get("details")
    yield from (row for row in details if isinstance(row, dict)) if isinstance(details, list) else ()


def _kind(status: int, code: str, message: str) -> type[ProviderError]:
    by_code = _BY_CODE.get(code.lower())
    if by_code in (None, BadRequest, Overloaded) and status in (0, 400, 422, 500) and _OVERFLOW_WORDS.search(message):
        return ContextOverflow
    if by_code is not None and by_code is not BadRequest and not (by_code is Overloaded and status in _BY_STATUS):
        return by_code
    if status == 400 and re.search(r"model.{0,80}(?:not found|does not exist|not exist|invalid model)", message, re.I):
        return ModelNotFound
    if status >= 500:
        return Overloaded
    return _BY_STATUS.get(status) or by_code or (BadRequest if status else Overloaded)


def _fields(body: object) -> Mapping[str, Any]:
    """Return the object that holds message and code, in any of the usual wrappings."""
    if isinstance(body, list) and body:
        body = body[0]
    if not isinstance(body, dict):
        return {}
    error = body.get("error")
    if isinstance(error, dict):
        return error
    return {**body, "message": error} if isinstance(error, str) else body


def _code(fields: Mapping[str, Any]) -> str:
    metadata = fields.get("metadata")
    inner = metadata.get("error_type") if isinstance(metadata, dict) else None
    for value in (fields.get("code"), inner, fields.get("status"), fields.get("type")):
        if isinstance(value, str) and value and not value.isdigit() and value != "error":
            return value
    return ""


def _message(fields: Mapping[str, Any], body: object) -> str:
    for name in ("message", "detail", "error_message", "msg"):
        value = fields.get(name)
        if isinstance(value, str) and value:
            return value
        if value:
            return json.dumps(value)
    return body if isinstance(body, str) else ""


def _body_of(response: Any, error: Any) -> object:
    try:
        return json.loads(response.content)
    except (ValueError, RuntimeError):  # not JSON, or closed before it was read
        return getattr(error, "body", None) or ""


def _one_line(message: str, endpoint: Endpoint) -> str:
    line = redact(" ".join(message.split()), [endpoint.api_key])
    return line if len(line) <= MESSAGE_LIMIT else line[: MESSAGE_LIMIT - 1] + "…"


def _auth(headline: str, endpoint: Endpoint) -> tuple[str, str]:
    provider = PROVIDERS.get(endpoint.provider)
    names = provider.key_envs if provider else ()
    where = endpoint.key_source or (names[0] if names else "")
    page = f" Keys: {provider.key_url}" if provider and provider.key_url else ""
    if not endpoint.api_key:
        wanted = names[0] if names else f"providers.{endpoint.provider}.api_key_env"
        return f"{endpoint.provider} wants a key, and there is none.", f"Set {wanted}.{page}"
    return headline, f"The key came from {where}: check it.{page}"


def _unreachable(error: BaseException, endpoint: Endpoint, env: Mapping[str, str]) -> ProviderError:
    return ConnectionFailed(f"Cannot reach {endpoint.base_url}: {_reason(error)}.", hint=_reach(endpoint, env))


def _reach(endpoint: Endpoint, env: Mapping[str, str]) -> str:
    """Say what to check when an endpoint cannot be reached."""
    provider = PROVIDERS.get(endpoint.provider)
    if proxy := proxy_for(endpoint.base_url, env):
        return f"The request goes through the proxy {proxy.url} ({proxy.variable}); check it or unset it."
    if provider and provider.is_local:
        return f"Start {provider.title}, or set providers.{provider.name}.base_url."
    return "Check the network connection and base_url."


def _reason(error: BaseException) -> str:
    """Return what the innermost cause says, in a few words."""
    chain = [error]
    while (cause := chain[-1].__cause__ or chain[-1].__context__) is not None and cause not in chain:
        chain.append(cause)
    for link in reversed(chain):
        if isinstance(link, socket.gaierror):
            return "its name cannot be resolved; this machine may be offline"
        if isinstance(link, OSError) and link.errno in _UNREACHABLE:
            return _UNREACHABLE[link.errno]
        if "CERTIFICATE_VERIFY_FAILED" in str(link):
            return "its certificate is not trusted here (SSL_CERT_FILE names a file with more authorities)"
    words = " ".join(str(next((link for link in reversed(chain) if str(link)), error)).split())
    return (words[:120] or type(error).__name__).rstrip(".")


def _place(endpoint: Endpoint) -> str:
    return f"{endpoint.provider} ({_host(endpoint)})"


def _host(endpoint: Endpoint) -> str:
    return urlsplit(endpoint.base_url).netloc.rpartition("@")[2] or endpoint.base_url
