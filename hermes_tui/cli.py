"""Arguments to a surface. Imports late: the full screen starts without loading the engine.

Exit codes: 0 ok, 1 failed turn, 2 usage, 3 config, 4 provider or key, 130 interrupted.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from io import TextIOWrapper
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

from hermes_tui.engine.types.errors import ConfigError, HermesError, ProviderError

if TYPE_CHECKING:
    from argparse import Namespace

    from hermes_tui.engine.api import Engine, StoredSession
    from hermes_tui.engine.config.loader import LoadedSettings

OK, FAILED, USAGE, CONFIG, PROVIDER, INTERRUPTED = 0, 1, 2, 3, 4, 130


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    if argv is None:
        _ensure_utf8()
    words = list(sys.argv[1:] if argv is None else argv)
    _set_output(errors="backslashreplace")
    try:
        return _run_words(words)
    except ConfigError as error:
        return _complain(error, CONFIG)
    except ProviderError as error:
        return _complain(error, PROVIDER)
    except HermesError as error:
        return _complain(error, FAILED)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader of our output left, e.g. `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return OK


def _ensure_utf8() -> None:
    """Start again in UTF-8 mode where Python would read file names in another encoding."""
    if sys.getfilesystemencoding() != "utf-8" and sys.platform != "win32":
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])


def _set_output(encoding: str | None = None, errors: str | None = None) -> None:
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):  # something else where a test reads along
            stream.reconfigure(encoding=encoding, errors=errors)


def _run_words(words: Sequence[str]) -> int:
    """Run the command that the first word names, or the screen."""
    command = _COMMANDS.get(words[0]) if words else None
    try:
        return command(words[1:]) if command else _screen(words)
    finally:
        sys.stdout.flush()  # here a reader that left is met by an answer, at the interpreter's end by a traceback


def _complain(error: HermesError, code: int) -> int:
    sys.stderr.write(f"hermes-tui: {error.message}\n")
    if error.hint:
        sys.stderr.write(f"  {error.hint}\n")
    return code


def _flags(options: Namespace | SimpleNamespace) -> dict[str, object]:
    """The settings that flags override, by dotted key."""
    given: dict[str, object] = {}
    if options.model:
        given["model"] = options.model
    if options.toolsets:
        given["agent.toolsets"] = [name.strip() for name in options.toolsets.split(",") if name.strip()]
    if getattr(options, "yolo", False):
        given["approvals.mode"] = "off"
    if getattr(options, "max_turns", None):
        given["agent.max_turns"] = options.max_turns
    return given


def _endpoint_flags(options: Namespace | SimpleNamespace) -> dict[str, str]:
    """Flags that describe the endpoint of this run."""
    names = ("provider", "api_mode", "base_url")
    return {name: value for name in names if (value := getattr(options, name, None))}


def _load(options: Namespace | SimpleNamespace) -> LoadedSettings:
    from hermes_tui.engine.config.loader import load_settings

    return load_settings(os.environ, _flags(options))


NO_ARGUMENTS = SimpleNamespace(
    prompt="", continue_last=False, resume="", demo=False, yolo=False, plain=False,
    model=None, provider=None, api_mode=None, base_url=None, toolsets=None,
)  # fmt: skip
"""What the screen's parser makes of an empty command line, without loading the parser; a test holds it to that."""


def _parse_screen(words: Sequence[str]) -> Namespace | SimpleNamespace:
    if not words:
        return NO_ARGUMENTS
    from hermes_tui.arguments import screen_parser

    return screen_parser().parse_args(words)


def _screen(words: Sequence[str]) -> int:
    gc.disable()  # until the engine is built: importing makes no garbage worth looking for
    options = _parse_screen(words)
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        sys.stderr.write(
            "hermes-tui: the full screen needs a terminal.\n"
            '  In a script or a pipe use: hermes-tui run "PROMPT" (or - to read it from stdin).\n'
        )
        return USAGE
    _set_output(encoding="utf-8", errors="backslashreplace")
    os.environ.setdefault("ESCDELAY", "25" if os.environ.get("SSH_CONNECTION") is None else "50")
    from hermes_tui.app import run_app
    from hermes_tui.engine.config.peek import peek_ui
    from hermes_tui.engine.types.preferences import StartRequest

    def build_engine() -> Engine:
        from hermes_tui.bootstrap import build_engine as build

        return build(_load(options), demo=options.demo, **_endpoint_flags(options))

    ui, paths = peek_ui(os.environ)

    def find_past() -> StoredSession | None:
        from hermes_tui.engine.runtime.reader import find_session

        return find_session(paths.database, options.resume, _folder())

    start = StartRequest(
        prompt=options.prompt, resume=options.resume, continue_last=options.continue_last, demo=options.demo
    )
    return run_app(
        build_engine,
        replace(ui, plain=True, animation=False) if options.plain or ui.plain else ui,
        start,
        find_past=find_past,
        config_home=paths.config_dir,
    )


def _folder() -> str:
    try:
        return str(Path.cwd())
    except OSError:  # it was removed under us
        return ""


def _run(words: Sequence[str]) -> int:
    from hermes_tui.arguments import run_parser

    parser = run_parser()
    options = parser.parse_args(words)
    from hermes_tui.bootstrap import build_engine
    from hermes_tui.engine.surfaces.oneshot import run_once

    prompt = sys.stdin.read() if options.prompt == "-" else options.prompt
    if not prompt.strip():
        parser.error("the prompt is empty")
    loaded = _load(options)
    engine = build_engine(loaded, demo=options.demo, **_endpoint_flags(options))
    try:
        _report(text for level, text in engine.notices if level != "info")
        if options.trust and (wishes := engine.pending_trust(os.curdir, again=True)):
            engine.answer_trust(wishes, "once")
        return run_once(engine, prompt, session=options.resume, json_lines=options.json, approve=options.approve)
    finally:
        engine.close()


def _report(texts: Iterable[str]) -> None:
    for text in texts:
        sys.stderr.write(f"hermes-tui: {text}\n")


def _gate(words: Sequence[str]) -> int:
    if not words or words[0] != "explain":
        sys.stderr.write('hermes-tui gate: the command is: hermes-tui gate explain "CMD" [--json]\n')
        return OK if words and words[0] in ("-h", "--help") else USAGE
    from hermes_tui.engine.config.loader import load_settings
    from hermes_tui.engine.policy.gate.explain import main as explain
    from hermes_tui.engine.policy.trust import TrustStore, settings_in

    loaded = load_settings(os.environ)
    here, _ = settings_in(Path(_folder() or Path.home()), loaded, TrustStore(loaded.paths.trust_file))
    return explain(words[1:], here.settings.approvals)


def _sessions(words: Sequence[str]) -> int:
    from hermes_tui.arguments import Parser
    from hermes_tui.engine.surfaces.session_commands import main as sessions

    return sessions(words, parser_class=Parser)


def _models(words: Sequence[str]) -> int:
    from hermes_tui.arguments import Parser
    from hermes_tui.bootstrap import build_engine
    from hermes_tui.engine.config.loader import load_settings
    from hermes_tui.engine.surfaces.model_commands import main as models

    return models(words, lambda: build_engine(load_settings(os.environ)), Parser)


def _config(words: Sequence[str]) -> int:
    from hermes_tui.arguments import Parser
    from hermes_tui.engine.surfaces.config_commands import main as config

    return config(words, parser_class=Parser)


def _doctor(words: Sequence[str]) -> int:
    from hermes_tui.arguments import Parser
    from hermes_tui.bootstrap import build_engine
    from hermes_tui.engine.config.loader import load_settings
    from hermes_tui.engine.surfaces.doctor import main as doctor

    loaded = load_settings(os.environ)
    return doctor(words, loaded, lambda: build_engine(loaded), Parser)


_COMMANDS: Mapping[str, Callable[[Sequence[str]], int]] = {
    "run": _run,
    "sessions": _sessions,
    "gate": _gate,
    "models": _models,
    "config": _config,
    "doctor": _doctor,
}
