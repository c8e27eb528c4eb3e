"""``hermes-tui doctor``: what works here, what does not, and what to do about it."""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from ..api import Engine
from ..config.loader import LoadedSettings
from ..config.settings import WebSettings
from .output import out, out_json

_MARKS = {"ok": "ok", "warning": "!!", "error": "XX"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report."""

    name: str
    level: Literal["ok", "warning", "error"]
    text: str
    hint: str = ""


def main(
    argv: Sequence[str],
    loaded: LoadedSettings,
    build: Callable[[], Engine],
    parser_class: type[argparse.ArgumentParser] = argparse.ArgumentParser,
) -> int:
    """Look around and return 0 when nothing is wrong, 1 otherwise. Asks local servers only.

    Args:
        argv: The words after ``doctor``.
        loaded: The settings.
        build: Makes the engine.
        parser_class: For the program's own way of telling errors.
    """
    parser = parser_class(prog="hermes-tui doctor", description="Check what hermes-tui needs.")
    parser.add_argument("--json", action="store_true", help="one JSON value on stdout, nothing else")
    options = parser.parse_args(argv)
    findings = list(
        _once([*_machine(), *_web(loaded.settings.web), *_places(loaded), *_settings(loaded), *_engine(build)])
    )
    if options.json:
        out_json([asdict(finding) for finding in findings])
    else:
        for finding in findings:
            out(f"{_MARKS[finding.level]}  {finding.name}: {finding.text}")
            if finding.hint:
                out(f"      {finding.hint}")
    return int(any(finding.level == "error" for finding in findings))


def _once(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Leave out what was said before: the engine repeats the problems of the settings."""
    said: set[tuple[str, str]] = set()
    for finding in findings:
        words = finding.text, finding.hint
        if finding.level == "ok" or words not in said:
            yield finding
        said.add(words)


def _machine() -> Iterator[Finding]:
    yield Finding("python", "ok", f"{platform.python_version()} ({sys.executable})")
    yield Finding("sqlite", "ok", sqlite3.sqlite_version)
    yield Finding("terminal", "ok", f"TERM={os.environ.get('TERM', '')} COLORTERM={os.environ.get('COLORTERM', '')}")
    if shutil.which("bash"):
        yield Finding("bash", "ok", shutil.which("bash") or "")
    else:
        yield Finding("bash", "warning", "not found", "Commands run in a plain sh; install bash.")
    from ...tools.ripgrep import find_ripgrep

    if ripgrep := find_ripgrep(os.environ.get("PATH")):
        yield Finding("ripgrep", "ok", str(ripgrep))
    else:
        yield Finding("ripgrep", "warning", "not found", "Search is slower without it: pip install ripgrep.")
    level: Literal["ok", "warning"] = "ok" if shutil.which("git") else "warning"
    yield Finding("git", level, shutil.which("git") or "not found; branches and ignored files are not known")


def _web(settings: WebSettings) -> Iterator[Finding]:
    from ...tools.web_extract import check
    from ...tools.web_providers import NONE_READY, find_engine
    from ..providers.proxies import proxy_for

    if missing := check():
        yield Finding("web pages", "warning", "not read", missing)
    elif proxy := proxy_for("https://example.com", os.environ):
        text = f"read with trafilatura, straight and not through the proxy of {proxy.variable}"
        yield Finding("web pages", "warning", text, "The address that was checked must be the one that is reached.")
    else:
        yield Finding("web pages", "ok", "read with trafilatura")
    if engine := find_engine(settings.search_provider, settings.search_url, os.environ):
        yield Finding("web search", "ok", engine.title)
    else:
        yield Finding("web search", "warning", "no search engine is set up", NONE_READY)


def _places(loaded: LoadedSettings) -> Iterator[Finding]:
    paths = loaded.paths
    if paths.problem:
        yield Finding("home", "warning", paths.problem)
    for name, folder in (("config", paths.config_dir), ("data", paths.data_dir), ("logs", paths.log_dir)):
        if _is_writable(folder):
            yield Finding(name, "ok", str(folder))
        else:
            yield Finding(name, "error", f"{folder} cannot be written", "Mend its permissions or set HERMES_TUI_HOME.")


def _is_writable(folder: Path) -> bool:
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder.is_dir() and os.access(folder, os.W_OK)


def _settings(loaded: LoadedSettings) -> Iterator[Finding]:
    for problem in loaded.problems:
        level: Literal["warning", "error"] = "error" if problem.level == "error" else "warning"
        yield Finding("settings", level, problem.text)
    if not loaded.problems:
        yield Finding("settings", "ok", str(loaded.paths.config_file))


def _engine(build: Callable[[], Engine]) -> Iterator[Finding]:
    engine = build()
    try:
        for level, text in engine.notices:
            yield Finding("start", "error" if level == "error" else "warning", text)
        ready = [row for row in engine.list_providers() if row.state == "ready" and row.name != "demo"]
        names = ", ".join(row.name for row in ready)
        if ready:
            yield Finding("providers", "ok", f"ready: {names}")
        else:
            hint = "Set a key such as ANTHROPIC_API_KEY, start a local server, or run: hermes-tui --demo"
            yield Finding("providers", "warning", "none is ready", hint)
        if engine.default_model:
            yield Finding("model", "ok", engine.default_model)
        else:
            yield Finding(
                "model", "warning", "none is chosen", 'Choose one in the app, or: hermes-tui config set model "P/M"'
            )
    finally:
        engine.close()
