"""Takes secrets out of text before it is stored, indexed, logged, exported or notified."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ..config.secret_shapes import redact_shapes

MIN_SECRET_CHARS = 8
"""Shorter configured values are too likely to be ordinary words."""
_IMAGE = re.compile(r"data:image/[\w.+-]+;base64,")


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
        return redact_shapes(text)

    def value(self, value: Any) -> Any:
        """Return a JSON value with every string in it redacted."""
        if isinstance(value, str):
            return value if _is_image(value) else self.text(value)
        if isinstance(value, Mapping):
            return {key: self.value(item) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.value(item) for item in value]
        return value


def _is_image(text: str) -> bool:
    """Whether a text is a data URL and nothing else: megabytes that hold no secret and must not be altered."""
    return _IMAGE.match(text) is not None and not any(blank in text for blank in " \n")
