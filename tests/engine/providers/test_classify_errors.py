"""Every foreign failure becomes one error of our tree, in words that say what to do."""

from __future__ import annotations

import socket
import ssl
import time
from dataclasses import replace
from email.utils import formatdate
from typing import Any

import pytest
from support.streams import LOCAL

from hermes_tui.engine.providers.base import Endpoint
from hermes_tui.engine.providers.classify import classify, from_answer, retry_after
from hermes_tui.engine.types.errors import (
    AuthError,
    BadRequest,
    BillingError,
    ConnectionFailed,
    ContextOverflow,
    ModelNotFound,
    Overloaded,
    ProviderError,
    ProviderTimeout,
    RateLimited,
    Refused,
    StreamBroken,
)

OPENAI = Endpoint(
    provider="openai",
    model="gpt-x",
    api_mode="chat_completions",
    base_url="https://api.openai.com/v1",
    api_key="sk-SECRET",
    key_source="OPENAI_API_KEY",
)


def error(message: str = "m", **more: Any) -> dict[str, Any]:
    return {"error": {"message": message, **more}}


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, error(), BadRequest),
        (401, error(), AuthError),
        (402, error(), BillingError),
        (403, error(), AuthError),
        (404, error("The model `x` does not exist", code="model_not_found"), ModelNotFound),
        (404, error('model "x" not found, try pulling it first'), ModelNotFound),
        (404, {"detail": "Not Found"}, BadRequest),
        (404, "", BadRequest),
        (408, error(), ProviderTimeout),
        (413, error(), ContextOverflow),
        (422, error(), BadRequest),
        (429, error(), RateLimited),
        (429, error("You exceeded your quota", code="insufficient_quota"), BillingError),
        (429, error("busy", type="overloaded_error"), RateLimited),
        (429, {"error": {"code": 429, "status": "RESOURCE_EXHAUSTED", "message": "m"}}, RateLimited),
        (451, error(), Refused),
        (500, error(), Overloaded),
        (500, error("max_tokens is 4096"), Overloaded),
        (502, "<html>bad</html>", Overloaded),
        (503, error(), Overloaded),
        (529, {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, Overloaded),
        (400, error("x", code="context_length_exceeded"), ContextOverflow),
        (400, error("x", type="exceed_context_size_error", n_ctx=512), ContextOverflow),
        (
            400,
            error("prompt is too long: 208310 tokens > 200000 maximum", type="invalid_request_error"),
            ContextOverflow,
        ),
        (400, error("blocked", code="content_policy_violation"), Refused),
        (400, error("x", code="model_not_found"), ModelNotFound),
        (400, error("Model gpt-9 does not exist"), ModelNotFound),
        (400, error("messages.3.content: field required", type="invalid_request_error"), BadRequest),
        (400, [{"error": {"message": "API key not valid", "status": "UNAUTHENTICATED"}}], BadRequest),
        (418, error(), BadRequest),
        (0, error(type="overloaded_error"), Overloaded),
        (0, error(code=402), BillingError),
    ],
)
def test_status_and_code_decide(status: int, body: object, kind: type[ProviderError]) -> None:
    found = from_answer(status, {}, body, OPENAI)
    assert type(found) is kind
    assert "SECRET" not in str(found)


@pytest.mark.parametrize(
    ("message", "window"),
    [
        ("This model's maximum context length is 128000 tokens. However, you requested 130000", 128_000),
        ("prompt is too long: 208310 tokens > 200000 maximum", 200_000),
        ("the request exceeds the available context size (4096 tokens)", 4_096),
        ("Input token count 1,050,000 exceeds the maximum of 1,048,576", 1_048_576),
        ("maximum context length exceeded", None),
    ],
)
def test_an_overflow_adopts_the_window_that_the_provider_states(message: str, window: int | None) -> None:
    found = from_answer(400, {}, error(message), OPENAI)
    assert isinstance(found, ContextOverflow)
    assert found.window_tokens == window


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (from_answer(401, {}, error("Bad key: sk-SECRET"), OPENAI), ["OPENAI_API_KEY", "platform.openai.com"]),
        (from_answer(404, {}, error("model not found"), OPENAI), ["openai does not know the model gpt-x", "/model"]),
        (from_answer(404, {}, {"detail": "Not Found"}, OPENAI), ["base_url", "https://api.openai.com/v1", "/v1"]),
        (from_answer(502, {}, "<html>" + "x" * 8000, OPENAI), ["502 from api.openai.com (HTML page)"]),
        (from_answer(500, {}, error("a\n\n  b"), OPENAI), ["answered 500: a b"]),
        (from_answer(500, {}, "", OPENAI), ["answered 500."]),
        (from_answer(402, {}, error("no money"), OPENAI), ["no money", "/model"]),
        (from_answer(401, {}, error(), replace(LOCAL, api_key="")), ["providers.local.api_key_env", "there is none"]),
    ],
)  # fmt: skip
def test_the_words_say_what_to_do(found: ProviderError, words: list[str]) -> None:
    for word in words:
        assert word in str(found)
    assert "SECRET" not in str(found)
    assert "\n" not in str(found)
    assert len(found.message) < 400


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"retry-after-ms": "800", "retry-after": "1"}, 0.8),
        ({"retry-after": "-3"}, 0.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
    ],
)
def test_the_time_to_wait_is_read_in_all_its_forms(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers) == seconds


def test_a_date_in_the_future_is_a_time_to_wait() -> None:
    wait = retry_after({"retry-after": formatdate(time.time() + 100, usegmt=True)})
    assert wait is not None and 90 < wait <= 100


def test_google_says_it_in_the_body() -> None:
    body = error("m", status="RESOURCE_EXHAUSTED", details=[{"@type": "x"}, {"retryDelay": "21s"}])
    assert from_answer(429, {}, body, OPENAI).retry_after_s == 21.0


class APIConnectionError(Exception):
    """Named as the SDKs name theirs."""


class APITimeoutError(APIConnectionError):
    """Named as the SDKs name theirs."""


def caused(kind: type[Exception], cause: Exception) -> Exception:
    failure = kind("Connection error.")
    failure.__cause__ = cause
    return failure


@pytest.mark.parametrize(
    ("failure", "kind", "words"),
    [
        (caused(APIConnectionError, ConnectionRefusedError(111, "x")), ConnectionFailed, ["nothing listens there"]),
        (caused(APIConnectionError, socket.gaierror(-2, "x")), ConnectionFailed, ["cannot be resolved", "offline"]),
        (caused(APIConnectionError, OSError(101, "x")), ConnectionFailed, ["this machine is offline"]),
        (
            caused(APIConnectionError, ssl.SSLError("[SSL: CERTIFICATE_VERIFY_FAILED] self-signed")),
            ConnectionFailed,
            ["certificate is not trusted", "SSL_CERT_FILE"],
        ),
        (caused(APIConnectionError, RuntimeError("odd thing")), ConnectionFailed, ["odd thing"]),
        (APITimeoutError("timed out"), ProviderTimeout, ["api.openai.com", "in time"]),
        (ConnectionResetError(104, "x"), StreamBroken, ["broke: it closed the connection"]),
    ],
)
def test_what_cannot_be_reached_is_explained(failure: Exception, kind: type[ProviderError], words: list[str]) -> None:
    found = classify(failure, OPENAI, {})
    assert type(found) is kind
    for word in words:
        assert word in str(found)


def test_a_proxy_between_is_named() -> None:
    failure = caused(APIConnectionError, ConnectionRefusedError(111, "x"))
    env = {"HTTPS_PROXY": "http://user:secret@proxy.example:8080"}
    assert "http://proxy.example:8080 (HTTPS_PROXY)" in str(classify(failure, OPENAI, env))
    assert "secret" not in str(classify(failure, OPENAI, env))
    assert "proxy" not in str(classify(failure, OPENAI, {**env, "NO_PROXY": "api.openai.com"}))


def test_our_own_errors_pass_unchanged() -> None:
    own = StreamBroken("x")
    assert classify(own, OPENAI, {}) is own
