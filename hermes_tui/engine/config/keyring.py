"""The system's keyring, where the extra ``[keyring]`` is installed and a safe one is there.

Only asked for keys that were put there: a start without any loads and unlocks nothing. Every call may block, while a
person unlocks it.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..types.errors import ConfigError

SERVICE = "hermes-tui"
"""The name under which the entries stand; the user of each is the provider."""
PLACE = "the system's keyring"
_SAFE = 1
"""Lowest priority of a backend that encrypts. Source: keyring's documentation of ``KeyringBackend.priority``."""


def is_there() -> bool:
    """Whether keys can be put into a keyring."""
    try:
        return bool(import_module("keyring").get_keyring().priority >= _SAFE)
    except Exception:  # noqa: BLE001 - a backend that fails to start is none
        return False


def store(provider: str, key: str) -> bool:
    """Put a provider's key into the keyring; False when there is none that takes it."""
    if not is_there():
        return False
    try:
        import_module("keyring").set_password(SERVICE, provider, key)
    except Exception:  # noqa: BLE001 - locked, refused, gone: the file takes it
        return False
    return True


def read(provider: str) -> str:
    """Return a key that was put there.

    Raises:
        ConfigError: It cannot be had.
    """
    try:
        found: Any = import_module("keyring").get_password(SERVICE, provider)
    except Exception as error:
        raise ConfigError(
            f"The key of {provider} is in {PLACE}, which does not give it: {str(error) or type(error).__name__}.",
            hint="Unlock it, or give the key again with /setup.",
        ) from error
    if not found:
        raise ConfigError(f"The key of {provider} is gone from {PLACE}.", hint="Give it again with /setup.")
    return str(found)


def remove(provider: str) -> None:
    """Take a key out; one that is not there, or a keyring that refuses, is left alone."""
    try:
        import_module("keyring").delete_password(SERVICE, provider)
    except Exception:  # noqa: BLE001 - nothing depends on it: the entry is not read any more
        return


__all__ = ["PLACE", "is_there", "read", "remove", "store"]
