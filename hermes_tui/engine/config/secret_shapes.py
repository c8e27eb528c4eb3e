"""What well-known credentials look like, and how they are taken out of a text."""

from __future__ import annotations

import re

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


def redact_shapes(text: str) -> str:
    """Return the text with everything that looks like a credential as ``[redacted:kind]``."""
    if any(hint in text for hint in _HINTS):
        return _SHAPE.sub(lambda match: f"[redacted:{match.lastgroup}]", text)
    return text
