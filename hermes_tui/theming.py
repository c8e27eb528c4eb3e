"""Themes: TOML files of colours, turned into Textual themes when they are needed.

Owns where theme files are found, their format, and what is wrong with a bad one. Knows no widget. A start parses one
file only; the theme picker may ask for the rest later.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from hermes_tui.engine.types.errors import ConfigError

if TYPE_CHECKING:
    from textual.theme import Theme

DEFAULT_THEME: Final = "hermes-dark"

BASE_COLORS: Final = (
    "primary", "secondary", "accent", "success", "warning", "error", "foreground", "background", "surface", "panel",
    "boost",
)  # fmt: skip
"""Keys of ``[colors]``; all but ``boost`` are required."""

OWN_VARIABLES: Final = (
    "user-bg", "muted", "tool", "reasoning", "rule", "link", "code-bg", "mark-bg", "mark-fg",
    "diff-add", "diff-add-bg", "diff-remove", "diff-remove-bg",
)  # fmt: skip
"""Variables of ours that style sheets may use; every theme defines each of them."""

TEXT_PAIRS: Final = (
    ("foreground", "background"), ("foreground", "surface"), ("foreground", "panel"), ("foreground", "user-bg"),
    ("foreground", "code-bg"), ("muted", "background"), ("muted", "surface"), ("muted", "panel"), ("muted", "user-bg"),
    ("primary", "background"), ("primary", "panel"), ("primary", "user-bg"), ("secondary", "background"),
    ("accent", "background"), ("accent", "panel"), ("success", "background"), ("success", "panel"),
    ("warning", "background"), ("warning", "panel"), ("error", "background"), ("error", "panel"),
    ("tool", "background"), ("tool", "surface"), ("reasoning", "background"), ("link", "background"),
    ("link", "surface"), ("mark-fg", "mark-bg"), ("diff-add", "diff-add-bg"), ("diff-remove", "diff-remove-bg"),
    ("foreground", "diff-add-bg"), ("foreground", "diff-remove-bg"), ("muted", "diff-add-bg"),
    ("muted", "diff-remove-bg"), ("block-cursor-foreground", "block-cursor-background"),
    ("input-cursor-foreground", "input-cursor-background"),
    ("input-selection-foreground", "input-selection-background"),
    ("screen-selection-foreground", "screen-selection-background"),
)  # fmt: skip
"""Text on ground as the screens use it; shipped themes keep each at a contrast of 4.5 or more."""

_ANSI_VARIABLES: Final = {"ansi-background": "ansi_black", "ansi-foreground": "ansi_white"}
"""Textual's own sheets use these, but its ANSI colour system leaves them to the theme."""


def shipped_themes_dir() -> Path:
    """Return the folder of the shipped themes: inside the wheel, or beside the package in a checkout."""
    package = Path(__file__).parent
    inside = package / "themes"
    return inside if inside.is_dir() else package.parent / "themes"


def theme_names(user_dir: Path | None = None) -> list[str]:
    """Return the names of all themes, shipped ones first, without parsing a file.

    Args:
        user_dir: The user's themes folder; it need not exist.
    """
    shipped = sorted(path.stem for path in shipped_themes_dir().glob("*.toml"))
    shipped.sort(key=lambda name: name != DEFAULT_THEME)
    own = sorted(path.stem for path in user_dir.glob("*.toml")) if user_dir is not None else []
    return shipped + [name for name in own if name not in shipped]


def fitting_theme(name: str, color_system: str | None) -> str:
    """Return the theme to start with: shades of the default one are lost in 16 colours, so there it is the terminal's.

    Args:
        name: The chosen theme; any other choice than the default is kept.
        color_system: What the terminal can show, in Rich's words; ``standard`` has 16 colours.
    """
    return "terminal" if name == DEFAULT_THEME and color_system == "standard" else name


def load_theme(name: str, user_dir: Path | None = None) -> Theme:
    """Read one theme. A file in ``user_dir`` wins over a shipped one of the same name.

    Blocks on one small file.

    Args:
        name: The file's name without ``.toml``.
        user_dir: The user's themes folder; it need not exist.

    Raises:
        ConfigError: No such theme, or the file cannot be used; the message names the file and the key.
    """
    for folder in (user_dir, shipped_themes_dir()):
        if folder is not None and (path := folder / f"{name}.toml").is_file():
            return parse_theme(_read(path), path)
    known = ", ".join(theme_names(user_dir))
    raise ConfigError(f"There is no theme named {name!r}.", hint=f"Choose one of: {known}.")


def theme_stamp(name: str, user_dir: Path | None) -> tuple[int, int]:
    """Return what tells versions of a user's theme file apart; zeros for a shipped theme. Blocks on one ``stat``."""
    if user_dir is None:
        return 0, 0
    try:
        status = (user_dir / f"{name}.toml").stat()
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size


def parse_theme(table: Mapping[str, object], path: Path) -> Theme:
    """Build a Textual theme from a parsed file.

    Args:
        table: The file's content.
        path: The file, for messages; its stem is the theme's name.

    Raises:
        ConfigError: A key is missing, unknown, or not a colour.
    """
    from textual.theme import Theme

    if unknown := sorted(set(table) - {"name", "dark", "ansi", "colors", "variables"}):
        raise ConfigError(
            f"{path}: unknown key {unknown[0]!r}.", hint="A theme has: name, dark, ansi, [colors], [variables]."
        )
    colors = _strings(table, "colors", path)
    if unknown := sorted(set(colors) - set(BASE_COLORS)):
        raise ConfigError(f"{path}: unknown key colors.{unknown[0]}.", hint=f"Use: {', '.join(BASE_COLORS)}.")
    for key in BASE_COLORS:
        if key not in colors and key != "boost":
            raise ConfigError(f"{path}: colors.{key} is missing.", hint=f"[colors] needs: {', '.join(BASE_COLORS)}.")
    ansi = _flag(table, "ansi", path, default=False)
    variables = _fallbacks(colors) | (_ANSI_VARIABLES if ansi else {}) | _strings(table, "variables", path)
    for key, value in {**colors, **variables}.items():
        if not key.endswith("-style"):
            _check_color(path, key, value)
    return Theme(
        name=path.stem,
        dark=_flag(table, "dark", path, default=True),
        ansi=ansi,
        variables=variables,
        **colors,  # type: ignore[arg-type]
    )


def _read(path: Path) -> Mapping[str, object]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(
            f"{path} cannot be read: {error.strerror or error}.", hint="Check its permissions."
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not valid TOML: {error}.", hint="Mend the file or choose another theme.") from error


def _strings(table: Mapping[str, object], key: str, path: Path) -> dict[str, str]:
    section = table.get(key, {})
    if not isinstance(section, dict):
        raise ConfigError(f"{path}: {key} must be a table.", hint=f"Write [{key}] and one colour a line below it.")
    for name, value in section.items():
        if not isinstance(value, str):
            raise ConfigError(f"{path}: {key}.{name} must be a text.", hint='Write a colour like "#e2a94f".')
    return section


def _flag(table: Mapping[str, object], key: str, path: Path, *, default: bool) -> bool:
    value = table.get(key, default)
    if not isinstance(value, bool):
        raise ConfigError(f"{path}: {key} must be true or false.", hint=f"Write {key} = true or {key} = false.")
    return value


def _fallbacks(colors: Mapping[str, str]) -> dict[str, str]:
    """What a user's theme gets for variables of ours that it leaves out."""
    source = {
        "user-bg": "panel", "muted": "secondary", "tool": "secondary", "reasoning": "secondary", "rule": "panel",
        "link": "primary", "code-bg": "surface", "mark-bg": "primary", "mark-fg": "background",
        "diff-add": "success", "diff-add-bg": "background", "diff-remove": "error", "diff-remove-bg": "background",
    }  # fmt: skip
    return {name: colors[source[name]] for name in OWN_VARIABLES}


def _check_color(path: Path, key: str, value: str) -> None:
    from textual.color import Color, ColorParseError

    try:
        Color.parse(value)
    except ColorParseError as error:
        raise ConfigError(
            f"{path}: {key} = {value!r} is not a colour.", hint='Use "#rrggbb" or a name like "ansi_green".'
        ) from error
