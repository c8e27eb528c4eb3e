"""Where things live on disk, and private files: 0600 in 0700 folders, written atomically.

Nothing is created until something is written, so a read-only home works until then.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ..types.errors import ConfigError

APP = "hermes-tui"

_XDG = {
    "config_dir": "XDG_CONFIG_HOME",
    "data_dir": "XDG_DATA_HOME",
    "log_dir": "XDG_STATE_HOME",
    "cache_dir": "XDG_CACHE_HOME",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Paths:
    """The folders of one installation. They may not exist yet."""

    config_dir: Path
    data_dir: Path
    log_dir: Path
    cache_dir: Path
    problem: str = ""
    """One line for the user when the usual place cannot be used."""

    @property
    def config_file(self) -> Path:
        """The user's own settings; written only on request."""
        return self.config_dir / "config.toml"

    @property
    def settings_file(self) -> Path:
        """The app's own choices: theme, last model, allow rules."""
        return self.config_dir / "settings.toml"

    @property
    def credentials_file(self) -> Path:
        """API keys by provider."""
        return self.config_dir / "credentials.toml"

    @property
    def database(self) -> Path:
        """All sessions."""
        return self.data_dir / "state.db"

    @property
    def checkpoints(self) -> Path:
        """What the agent did to files, to take it back."""
        return self.data_dir / "checkpoints.db"

    @property
    def rule_hits_file(self) -> Path:
        """How often each approval rule decided."""
        return self.data_dir / "rule_hits.json"

    @property
    def trust_file(self) -> Path:
        """What the person said to the files of folders."""
        return self.config_dir / "trust.json"

    @property
    def soul_file(self) -> Path:
        """The agent's identity, when the user wrote one."""
        return self.data_dir / "SOUL.md"

    @property
    def memory_file(self) -> Path:
        """What the agent noted for later sessions."""
        return self.data_dir / "MEMORY.md"

    @property
    def user_file(self) -> Path:
        """What the agent noted about the person."""
        return self.data_dir / "USER.md"


def find_paths(env: Mapping[str, str]) -> Paths:
    """Return where things live; creates nothing.

    ``HERMES_TUI_HOME`` puts everything under one folder. Without a usable home, everything that has no ``XDG_*``
    variable of its own goes to a private folder below the temporary one, and ``problem`` says so.
    """
    if root := env.get("HERMES_TUI_HOME", "").strip():
        home = _home(env)
        return _paths(_below(home / root[2:] if home and root.startswith("~/") else Path.cwd() / root))
    if _home(env):
        return _paths(_platform(_XDG))
    fallback = _fallback_root()
    given = _platform([name for name, variable in _XDG.items() if Path(env.get(variable, "")).is_absolute()])
    reason = f"HOME ({env['HOME']!r}) is not a folder" if "HOME" in env else "No home folder is known"
    problem = f"{reason}; using {fallback} for now. Set HOME or HERMES_TUI_HOME."
    return _paths(_below(fallback) | given, "" if len(given) == len(_XDG) else problem)


def _home(env: Mapping[str, str]) -> Path | None:
    """The user's home, None when it is unknown or not there."""
    try:
        home = Path(env["HOME"]) if "HOME" in env else Path.home()
    except RuntimeError:  # no HOME, and the user id is in no password file
        return None
    return home if home.is_absolute() and home.is_dir() else None


def _paths(folders: Mapping[str, Path], problem: str = "") -> Paths:
    return Paths(
        config_dir=folders["config_dir"],
        data_dir=folders["data_dir"],
        log_dir=folders["log_dir"],
        cache_dir=folders["cache_dir"],
        problem=problem,
    )


def _below(root: Path) -> dict[str, Path]:
    return {"config_dir": root, "data_dir": root, "log_dir": root / "logs", "cache_dir": root / "cache"}


def _platform(names: Iterable[str]) -> dict[str, Path]:
    from platformdirs import PlatformDirs

    dirs = PlatformDirs(APP, appauthor=False)
    return {name: getattr(dirs, f"user_{name.removesuffix('_dir')}_path") for name in names}


def _fallback_root() -> Path:
    """A folder of this user below the temporary one; never one that somebody else put there."""
    import secrets
    import tempfile

    uid = os.getuid() if hasattr(os, "getuid") else 0
    root = Path(tempfile.gettempdir()) / f"{APP}-{uid}"
    with suppress(FileNotFoundError):
        found = root.lstat()
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != uid:
            return root.with_name(f"{root.name}-{secrets.token_hex(6)}")
    return root


def ensure_private_dir(folder: Path) -> Path:
    """Create a folder (0700) with its parents and return it; an existing one is left as it is.

    Raises:
        ConfigError: It cannot be created, or something else has its name.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        taken = folder.is_symlink() or folder.exists()
        reason = "it is not a folder" if taken else (error.strerror or str(error))
        raise ConfigError(
            f"Cannot use {folder}: {reason}.", hint="Move it away or set HERMES_TUI_HOME to another folder."
        ) from error
    return folder


def write_private(path: Path, text: str) -> None:
    """Replace a file's content atomically; the file is 0600 afterwards, whatever it was. Blocks on the disk.

    A symbolic link stays one: the file it points to is replaced.

    Raises:
        ConfigError: The place cannot be written.
    """
    import secrets

    target = path.resolve()
    ensure_private_dir(target.parent)
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, stat.S_IRUSR | stat.S_IWUSR)
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(target)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink()
        raise ConfigError(
            f"Cannot write {path}: {error.strerror or error}.", hint="Check the folder's owner and free space."
        ) from error
