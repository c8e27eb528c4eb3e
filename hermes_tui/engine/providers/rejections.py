"""What a provider says when only one part of a request is wrong: which part, and what it would take instead.

A rejected part is left out by a quirk of the endpoint; the adapters know what each quirk means. Pure functions.
"""

from __future__ import annotations

import re

MIN_OUTPUT_TOKENS = 256
"""With less room than this for an answer the prompt is too long, not the output cap."""

_NUMBER = r"`?(\d[\d,]*)"
_CAP = r"`?max_(?:completion_|output_|new_)?tokens`?"

# Source: answers of OpenAI and vLLM. The first number less the second is what fits.
_LEFT_OVER = (
    re.compile(rf"maximum context length is {_NUMBER} tokens.{{0,80}}?\({_NUMBER} in the messages", re.I | re.S),
    re.compile(rf"maximum context length is {_NUMBER} tokens and your request has {_NUMBER} input tokens", re.I),
)
_INPUT_AND_CAP = re.compile(rf"exceed context limit: {_NUMBER} \+ {_NUMBER} > {_NUMBER}", re.I)
_AT_MOST = (
    re.compile(rf"{_CAP}\W{{0,3}}\d[\d,]* > {_NUMBER}", re.I),
    re.compile(rf"supports at most {_NUMBER} (?:completion|output) tokens", re.I),
    re.compile(rf"valid range of {_CAP} is \[\d+, ?{_NUMBER}\]", re.I),
    re.compile(rf"{_CAP} (?:must be|should be|cannot be|is) .{{0,40}}?(?:than|to|at most|<=|and) {_NUMBER}", re.I),
)


def allowed_output(message: str) -> int | None:
    """Return the output tokens that would be accepted, when the message says so; None otherwise."""
    if found := _INPUT_AND_CAP.search(message):
        return _enough(_int(found[3]) - _int(found[1]))
    for pattern in _LEFT_OVER:
        if found := pattern.search(message):
            return _enough(_int(found[1]) - _int(found[2]))
    for pattern in _AT_MOST:
        if found := pattern.search(message):
            return _int(found[1]) or None
    return None


def _enough(tokens: int) -> int | None:
    return tokens if tokens >= MIN_OUTPUT_TOKENS else None


def _int(text: str) -> int:
    return int(text.replace(",", ""))


# Source: answers of Anthropic, OpenAI, OpenRouter, DeepSeek, Mistral, Ollama, llama.cpp, vLLM.
_BLOCKS = re.compile(
    r"invalid.{0,20}signature|signature.{0,40}(?:invalid|verif|required)|encrypted.content.{0,80}(?:verif|decrypt|invalid)"
    r"|thinking.{0,60}blocks?.{0,80}cannot be modified|of type 'reasoning' was provided without",
    re.I | re.S,
)
_IMAGES = re.compile(
    r"image.{0,60}(?:not supported|unsupported|only supported|not process|exceed|too large|invalid)"
    r"|(?:support|unknown variant|process).{0,20}`?image|unsupported image|does not support (?:image|vision)",
    re.I | re.S,
)
_UNSUPPORTED = re.compile(
    r"unsupported (?:parameter|value)|(?:not|n't) (?:be )?(?:supported|permitted|allowed|accepted)"
    r"|(?:does not|doesn't) support"
    r"|unrecogni[sz]ed (?:request )?(?:argument|parameter|field)|unknown (?:field|parameter|name|argument)"
    r"|unexpected keyword|extra (?:inputs|fields)|must be verified to|must start with a thinking block",
    re.I,
)
_UNSUPPORTED_CODES = frozenset({"unsupported_parameter", "unsupported_value", "unknown_parameter"})
_PARAMETERS = (
    (re.compile(r"max_completion_tokens.{0,20}instead", re.I | re.S), "max_completion_tokens"),
    (re.compile(r"\bstream_options\b", re.I), "no_stream_options"),
    (re.compile(r"\bprompt_cache_key\b", re.I), "no_cache_key"),
    (re.compile(r"\bcache_control\b", re.I), "no_cache_control"),
    (re.compile(r"\breasoning\b|\breasoning_effort\b|\bthinking\b|\boutput_config\b|\beffort\b", re.I), "no_reasoning"),
    (re.compile(r"\bstream(?:ing)?\b", re.I), "no_stream"),
    (re.compile(r"\btools?\b|\btool_choice\b|\bfunction call", re.I), "no_tools"),
)
_STATUSES = frozenset({0, 200, 400, 404, 422, 500, 501})


def rejected_quirk(status: int, code: str, param: str, message: str) -> str:
    """Return the quirk that leaves the rejected part out; empty when no single part is named.

    Args:
        status: HTTP status; 0 inside a stream.
        code: The provider's machine code.
        param: The parameter it names, if any.
        message: Its words.
    """
    if status not in _STATUSES:
        return ""
    if code == "invalid_encrypted_content" or _BLOCKS.search(message):
        return "no_reasoning_blocks"
    if _IMAGES.search(message):
        return "no_images"
    if code not in _UNSUPPORTED_CODES and not _UNSUPPORTED.search(message):
        return ""
    for text in (message if "instead" in message else "", param, message):
        for pattern, quirk in _PARAMETERS:
            if text and pattern.search(text):
                return quirk
    return ""
