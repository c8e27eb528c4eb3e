"""API keys: where they are looked for, how they are cleaned, stored, and kept out of texts. Never printed.

Looked for in this order: ``api_key`` in the configuration, what was typed in (the system's keyring, else the
credentials file), environment variables, ``api_key_command``.
"""

from __future__ import annotations

import subprocess
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ..types.errors import ConfigError
from . import keyring
from .paths import Paths, write_private
from .secret_shapes import redact_shapes
from .settings import ProviderSettings
from .toml_file import read_toml

COMMAND_TIMEOUT_S = 30.0
"""Long enough for a person to unlock a password store."""

_INVISIBLE = dict.fromkeys(map(ord, "\ufeff\u200b\u200c\u200d\u2060\u00ad\u200e\u200f"))
_QUOTES = "\"'`“”‘’«»"
_UNEXPANDED = ("${", "$", "%", "<")


@dataclass(frozen=True, slots=True)
class FoundKey:
    """A key and where it was found."""

    value: str = field(repr=False)
    source: str
    """For messages: ``OPENAI_API_KEY``, ``credentials file``, ``keyring``, ``config.toml``, ``api_key_command``."""

    @property
    def values(self) -> tuple[str, ...]:
        """The single keys; several may stand in one place with commas between them."""
        return tuple(self.value.split(","))


_KEY_NAMES = ("_API_KEY", "_TOKEN", "_SECRET", "_SECRET_KEY")
"""How the names of variables end that hold secrets."""


class Keys:
    """Finds keys; one per process, since a command or keyring is asked once and its answer kept.

    Usable from any thread: at worst it is asked twice.

    Args:
        env: Usually ``os.environ``.
        paths: Where the credentials file is.
    """

    def __init__(self, env: Mapping[str, str], paths: Paths) -> None:
        self._env = env
        self._paths = paths
        self._answers: dict[str, str] = {}
        """Of commands and the keyring."""

    def find(self, provider: str, settings: ProviderSettings, env_names: Sequence[str] = ()) -> FoundKey | None:
        """Return a provider's key, None when there is none. Blocks while a command or the keyring is asked.

        Raises:
            ConfigError: A key is there but cannot be right or cannot be had, or its command failed.
        """
        if key := clean(settings.api_key, f"providers.{provider}.api_key"):
            return FoundKey(key, "config.toml")
        entry = _entry(self._paths, provider)
        if entry.get("keyring"):
            return FoundKey(self._ask(provider, lambda: keyring.read(provider), keyring.PLACE), "keyring")
        if key := clean(str(entry.get("api_key", "")), f"the key of {provider} in {self._paths.credentials_file}"):
            return FoundKey(key, "credentials file")
        for name in (settings.api_key_env, *env_names):
            if name and (key := clean(self._env.get(name, ""), name)):
                return FoundKey(key, name)
        command = settings.api_key_command
        if command and (key := self._ask(provider, lambda: _run(command), f"the output of {command[0]}")):
            return FoundKey(key, "api_key_command")
        return None

    def forget(self, provider: str) -> None:
        """Ask the provider's command or keyring again next time, because its key was refused."""
        self._answers.pop(provider, None)

    def _ask(self, provider: str, ask: Callable[[], str], place: str) -> str:
        if provider not in self._answers:
            self._answers[provider] = clean(ask(), place)
        return self._answers[provider]


def _entry(paths: Paths, provider: str) -> Mapping[str, object]:
    """What the credentials file holds of a provider: its key, or that the keyring has it."""
    table = read_toml(paths.credentials_file).get(provider)
    return table if isinstance(table, dict) else {}


def known_keys(env: Mapping[str, str], paths: Paths) -> tuple[str, ...]:
    """Return the keys that lie in the credentials file and in the environment, to be taken out of texts."""
    given = [value for name, value in env.items() if name.endswith(_KEY_NAMES)]
    return (*stored_keys(paths), *single_keys(given))


def stored_keys(paths: Paths) -> tuple[str, ...]:
    """Return the keys that lie in the credentials file."""
    tables = read_toml(paths.credentials_file).values()
    return single_keys(str(table.get("api_key", "")) for table in tables if isinstance(table, dict))


def single_keys(texts: Iterable[str]) -> tuple[str, ...]:
    """Return each key of texts that may hold several with commas between them."""
    return tuple(key for text in texts for part in text.split(",") if (key := part.strip()))


def save_api_key(paths: Paths, provider: str, api_key: str) -> str:
    """Store a key and return where: in the system's keyring if there is one, else in the private credentials file.

    The file then says which keys the keyring has. An empty key removes the stored one. Blocks.

    Raises:
        ConfigError: The key cannot be right, or the file cannot be written.
    """
    import tomli_w

    table = read_toml(paths.credentials_file)
    old = table.pop(provider, {})
    key = clean(api_key, "the key")
    in_ring = bool(key) and keyring.store(provider, key)
    if key:
        table[provider] = {"keyring": True} if in_ring else {"api_key": key}
    write_private(paths.credentials_file, tomli_w.dumps(table))
    if isinstance(old, dict) and old.get("keyring") and not in_ring:
        keyring.remove(provider)
    return keyring.PLACE if in_ring else str(paths.credentials_file)


def clean(raw: str, source: str) -> str:
    """Return a key without what copying adds: blanks, quotes, ``Bearer``, byte-order marks, zero-width characters.

    Several keys may be given with commas between them.

    Args:
        raw: The key as found.
        source: Where it was found, for the message.

    Raises:
        ConfigError: It holds a character that no key has; the message names the position, never the key.
    """
    key = raw.translate(_INVISIBLE).strip().strip(_QUOTES).strip()
    if "," in key:
        return ",".join(filter(None, (clean(part, source) for part in key.split(","))))
    key = key.removeprefix("Bearer ").strip()
    if key.startswith(_UNEXPANDED):
        raise ConfigError(
            f"{source} holds a placeholder, not a key.", hint="Put the key itself there, or name its variable instead."
        )
    for position, letter in enumerate(key, start=1):
        if not "!" <= letter <= "~":
            name = unicodedata.name(letter, f"U+{ord(letter):04X}")
            raise ConfigError(
                f"{source} has a character that no key has at position {position}: {name}.",
                hint="Copy the key again from the provider's page.",
            )
    return key


def redact(text: str, keys: Iterable[str]) -> str:
    """Return a text with every key as ``[redacted:key]``, and without what looks like somebody else's."""
    for key in sorted((key for key in keys if key), key=len, reverse=True):
        text = text.replace(key, "[redacted:key]")
    return redact_shapes(text)


def _run(command: Sequence[str]) -> str:
    shown = command[0]
    try:
        done = subprocess.run(
            list(command), stdin=subprocess.DEVNULL, capture_output=True, timeout=COMMAND_TIMEOUT_S, check=False
        )
    except OSError as error:
        raise ConfigError(
            f"api_key_command {shown} cannot run: {error.strerror or error}.", hint="Check it in config.toml."
        ) from error
    except subprocess.TimeoutExpired as error:
        raise ConfigError(
            f"api_key_command {shown} did not answer within {COMMAND_TIMEOUT_S:.0f} s.", hint="Run it by hand once."
        ) from error
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise ConfigError(
            f"api_key_command {shown} failed with exit code {done.returncode}.", hint=said[-1][:200] if said else ""
        )
    return done.stdout.decode("utf-8", "replace").strip().partition("\n")[0]
