"""The library's face: an agent runtime, its sessions, and a full-screen terminal over both.

Importing this package loads nothing heavy; each public name is resolved on first use (PEP 562).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hermes_tui.engine.store.db import SessionDB as SessionDB
    from hermes_tui.library import AIAgent as AIAgent
    from hermes_tui.library import run_batch as run_batch
    from hermes_tui.tools.registry import registry as registry

__version__ = "0.1.0"

_PUBLIC = {
    "AIAgent": "hermes_tui.library",
    "SessionDB": "hermes_tui.engine.store.db",
    "registry": "hermes_tui.tools.registry",
    "run_batch": "hermes_tui.library",
}

__all__ = ["AIAgent", "SessionDB", "__version__", "registry", "run_batch"]


def __getattr__(name: str) -> Any:
    """Resolve a public name on first use."""
    if name in _PUBLIC:
        return getattr(import_module(_PUBLIC[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
