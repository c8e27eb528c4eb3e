"""Takes secrets out of text before it is stored, indexed, logged, exported or notified."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

MIN_SECRET_CHARS = 8
"""Shorter configured values are too likely to be ordinary words."""

SHAPES: tuple[tuple[str, str], ...] = (
    (
        "private_key",
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[A-Za-z0-9+/=\s]|\\[nr])*(?:-----END [A-Z ]*PRIVATE KEY-----)?",
    ),
    ("anthropic", r"\bsk-ant-[A-Za-z0-9_-]{16,}"),
    ("openrouter", r"\bsk-or-[A-Za-z0-9_-]{16,}"),
    ("api_key", r"\bsk-[A-Za-z0-9_-]{16,}"),
    ("github", r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})"),
    ("gitlab", r"\bglpat-[A-Za-z0-9_-]{16,}"),
    ("aws", r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    ("google", r"\bAIza[A-Za-z0-9_-]{30,}"),
    ("slack", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    ("groq", r"\bgsk_[A-Za-z0-9]{20,}"),
    ("xai", r"\bxai-[A-Za-z0-9]{20,}"),
    ("huggingface", r"\bhf_[A-Za-z0-9]{20,}"),
    ("stripe", r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    ("jwt", r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
)
"""Kind and shape of well-known credentials. Source: the issuers' published prefixes."""

_HINTS = (
    *("PRIVATE KEY-----", "sk-", "ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_", "glpat-", "AKIA", "ASIA"),
    *("AIza", "xox", "gsk_", "xai-", "hf_", "k_live_", "k_test_", "eyJ"),
)
"""Any shape contains one of these; looking for them first spares ordinary text the expressions."""
_SHAPE = re.compile("|".join(f"(?P<{kind}>{shape})" for kind, shape in SHAPES))


class Redactor:
    """Replaces secrets by ``[redacted:kind]``. Usable from any thread.

    Args:
        known_secrets: Returns the values of the configured keys; asked on each use, so that a new key counts at once.
    """

    def __init__(self, known_secrets: Callable[[], Iterable[str]] = tuple) -> None:
        self._known_secrets = known_secrets

    def text(self, text: str) -> str:
        """Return the text without secrets; the same object when there are none."""
        for secret in self._known_secrets():
            if len(secret) >= MIN_SECRET_CHARS and secret in text:
                text = text.replace(secret, "[redacted:configured_key]")
        if any(hint in text for hint in _HINTS):
            text = _SHAPE.sub(lambda match: f"[redacted:{match.lastgroup}]", text)
        return text

    def value(self, value: Any) -> Any:
        """Return a JSON value with every string in it redacted."""
        if isinstance(value, str):
            return self.text(value) if not value.startswith("data:") else value
        if isinstance(value, Mapping):
            return {key: self.value(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        return value
