"""Answers that reject one part of a request: which part, and what would be taken instead."""

from __future__ import annotations

import pytest

from hermes_tui.engine.providers.base import Endpoint
from hermes_tui.engine.providers.classify import from_answer
from hermes_tui.engine.types.errors import BadRequest, ContextOverflow, OutputCapTooLarge, PartRejected

HERE = Endpoint(provider="p", model="m", api_mode="chat_completions", base_url="http://127.0.0.1:9/v1")


@pytest.mark.parametrize(
    ("message", "allowed"),
    [
        ("max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for m", 8_192),
        ("max_tokens is too large: 200000. This model supports at most 16384 completion tokens.", 16_384),
        ("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", 8_192),
        ("`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens`", 8_192),
        ("input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease either", 10_000),
        (
            "This model's maximum context length is 8192 tokens. However, you requested 10000 tokens (2000 in the "
            "messages, 8000 in the completion).",
            6_192,
        ),
        (
            "'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context length is 32768 "
            "tokens and your request has 5000 input tokens (32000 > 32768 - 5000).",
            27_768,
        ),
    ],
)
def test_an_output_cap_that_is_too_large_names_what_is_allowed(message: str, allowed: int) -> None:
    found = from_answer(400, {}, {"error": {"message": message}}, HERE)
    assert isinstance(found, OutputCapTooLarge)
    assert found.max_tokens == allowed


def test_a_prompt_that_leaves_no_room_for_an_answer_is_an_overflow() -> None:
    message = "input length and `max_tokens` exceed context limit: 199990 + 20000 > 200000"
    assert isinstance(from_answer(400, {}, {"error": {"message": message}}, HERE), ContextOverflow)


@pytest.mark.parametrize(
    ("status", "error", "quirk"),
    [
        (400, {"message": "messages.1.content.0: Invalid `signature` in `thinking` block"}, "no_reasoning_blocks"),
        (400, {"message": "x", "code": "invalid_encrypted_content"}, "no_reasoning_blocks"),
        (400, {"message": "The encrypted content gAAA could not be verified."}, "no_reasoning_blocks"),
        (400, {"message": "Invalid content type. image_url is only supported by certain models."}, "no_images"),
        (404, {"message": "No endpoints found that support image input"}, "no_images"),
        (500, {"message": "image input is not supported - hint: you may need to provide the mmproj"}, "no_images"),
        (422, {"message": "unknown variant `image_url`, expected `text`"}, "no_images"),
        (
            400,
            {
                "message": "Unsupported parameter: 'max_tokens' is not supported. Use 'max_completion_tokens' instead.",
                "code": "unsupported_parameter",
                "param": "max_tokens",
            },
            "max_completion_tokens",
        ),
        (400, {"message": "Unrecognized request argument supplied: reasoning_effort"}, "no_reasoning"),
        (400, {"message": "bad value", "code": "unsupported_value", "param": "reasoning.effort"}, "no_reasoning"),
        (400, {"message": "adaptive thinking is not supported on this model"}, "no_reasoning"),
        (400, {"message": "unknown field `stream_options`"}, "no_stream_options"),
        (400, {"message": "registry/x does not support tools"}, "no_tools"),
        (400, {"message": "Your organization must be verified to stream this model.", "param": "stream"}, "no_stream"),
        (400, {"message": "system.0.cache_control: Extra inputs are not permitted"}, "no_cache_control"),
    ],
)  # fmt: skip
def test_the_rejected_part_is_found(status: int, error: dict[str, str], quirk: str) -> None:
    found = from_answer(status, {}, {"error": error}, HERE)
    assert isinstance(found, PartRejected)
    assert found.quirk == quirk


def test_a_list_of_problems_is_read_too() -> None:
    detail = [{"loc": ["body", "reasoning_effort"], "msg": "Extra inputs are not permitted"}]
    found = from_answer(422, {}, {"detail": detail}, HERE)
    assert isinstance(found, PartRejected) and found.quirk == "no_reasoning"


@pytest.mark.parametrize(
    "message",
    [
        "messages: odd",
        "Error",
        "model needs 12 GB: use a smaller quant or reduce context length",
        "tools[0].name is bad",
    ],
)
def test_other_bad_requests_are_neither_overflow_nor_mendable(message: str) -> None:
    assert type(from_answer(400, {}, {"error": {"message": message}}, HERE)) is BadRequest


@pytest.mark.parametrize(
    ("status", "message", "window"),
    [
        (500, "Context size has been exceeded.", None),
        (400, "Your input exceeds the context window of this model.", None),
        (422, "Prompt contains 40000 tokens and is too large for model with 32768 maximum context length", 32_768),
        (400, "input length exceeds the context length", None),
    ],
)
def test_an_overflow_in_disguise_is_recognised(status: int, message: str, window: int | None) -> None:
    found = from_answer(status, {}, {"error": {"message": message, "type": "server_error"}}, HERE)
    assert isinstance(found, ContextOverflow)
    assert found.window_tokens == window
