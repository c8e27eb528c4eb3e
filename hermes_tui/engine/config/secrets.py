"""API keys: where they are looked for, how they are cleaned, stored, and kept out of texts. Never printed.

Looked for in this order: ``api_key`` in the configuration, the credentials file, environment variables,
``api_key_command``.
"""

from __future__ import annotations

import subprocess
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ..types.errors import ConfigError
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
    """For messages: ``OPENAI_API_KEY``, ``credentials file``, ``config.toml``, ``api_key_command``."""

    @property
    def values(self) -> tuple[str, ...]:
        """The single keys; several may stand in one place with commas between them."""
        return tuple(self.value.split(","))


_KEY_NAMES = ("_API_KEY", "_TOKEN", "_SECRET", "_SECRET_KEY")
"""How the names of variables end that hold secrets."""


class Keys:
    """Finds keys; one per process, since a command is run once and its answer kept.

    Usable from any thread: at worst a command runs twice.

    Args:
        env: Usually ``os.environ``.
        paths: Where the credentials file is.
    """

    def __init__(self, env: Mapping[str, str], paths: Paths) -> None:
        self._env = env
        self._paths = paths
        self._from_commands: dict[str, str] = {}

    def find(self, provider: str, settings: ProviderSettings, env_names: Sequence[str] = ()) -> FoundKey | None:
        """Return a provider's key, None when there is none. Blocks while a command runs.

        Raises:
            ConfigError: A key is there but cannot be right, or its command failed.
        """
        if key := clean(settings.api_key, f"providers.{provider}.api_key"):
            return FoundKey(key, "config.toml")
        if key := clean(self._stored(provider), f"the key of {provider} in {self._paths.credentials_file}"):
            return FoundKey(key, "credentials file")
        for name in (settings.api_key_env, *env_names):
            if name and (key := clean(self._env.get(name, ""), name)):
                return FoundKey(key, name)
        if settings.api_key_command and (key := self._ask(provider, settings.api_key_command)):
            return FoundKey(key, "api_key_command")
        return None

    def forget(self, provider: str) -> None:
        """Run the provider's command again next time, because its key was refused."""
        self._from_commands.pop(provider, None)

    def _stored(self, provider: str) -> str:
        table = read_toml(self._paths.credentials_file).get(provider)
        return str(table.get("api_key", "")) if isinstance(table, dict) else ""

    def _ask(self, provider: str, command: Sequence[str]) -> str:
        if provider not in self._from_commands:
            self._from_commands[provider] = clean(_run(command), f"the output of {command[0]}")
        return self._from_commands[provider]


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


def save_api_key(paths: Paths, provider: str, api_key: str) -> Path:
    """Store a key in the private credentials file and return that file. An empty key removes the stored one.

    Raises:
        ConfigError: The key cannot be right, or the file cannot be written.
    """
    import tomli_w

    table = read_toml(paths.credentials_file)
    if key := clean(api_key, "the key"):
        table[provider] = {"api_key": key}
    else:
        table.pop(provider, None)
    write_private(paths.credentials_file, tomli_w.dumps(table))
    return paths.credentials_file


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
