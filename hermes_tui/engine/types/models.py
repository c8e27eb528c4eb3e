"""Models and providers as a front end lists them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRow:
    """One model in the picker."""

    id: str
    """``provider/model``."""
    provider: str
    name: str
    context_window: int = 0
    input_usd_per_mtok: float | None = None
    output_usd_per_mtok: float | None = None
    usable: bool = False
    """A key is present, or the provider needs none."""
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderRow:
    """One provider and whether it can be used."""

    name: str
    title: str
    base_url: str = ""
    key_env: str = ""
    """The environment variable that holds its key; empty for local servers."""
    state: Literal["ready", "no_key", "not_running"] = "no_key"
    models: tuple[str, ...] = ()
    """Models seen at the endpoint (local servers) or shipped as suggestions."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectionCheck:
    """Result of a one-token test call."""

    ok: bool
    text: str
    """One sentence in words."""
    hint: str = ""
