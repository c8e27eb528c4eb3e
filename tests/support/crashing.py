"""Run the app with a fault in one place: ``python crashing.py PLACE FOLDER``. For tests of how the program ends.

``later`` runs the real engine and fails once the folder holds a file named ``now``.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any, NoReturn

from hermes_tui.app import HermesApp, run_app
from hermes_tui.engine.api import Engine
from hermes_tui.engine.types.errors import HermesError
from hermes_tui.engine.types.preferences import StartRequest, UiSettings
from hermes_tui.screens.chat import ChatScreen
from hermes_tui.widgets.status_bar import StatusBar

ready = HermesApp.on_ready


def crash(*args: Any) -> NoReturn:
    raise RuntimeError("a [red] fault [/]")


def crash_when_told() -> None:
    if (Path(folder) / "now").exists():
        crash()


def ready_and_crash(app: HermesApp) -> None:
    ready(app)
    match place:
        case "timer":
            app.set_timer(0.01, crash)
        case "worker":
            app.run_worker(crash, thread=True)
        case "paint":
            StatusBar.render_lines = crash  # type: ignore[method-assign]
            app.chat.status.refresh()
        case "later":
            app.set_interval(0.05, crash_when_told)


def build_engine() -> Engine:
    if place == "engine":
        crash()
    if place != "later":
        raise HermesError("There is no engine here.")
    from hermes_tui.bootstrap import build_engine as build
    from hermes_tui.engine.config.loader import load_settings

    return build(load_settings(os.environ))


place, folder = sys.argv[1:]
HermesApp.on_ready = ready_and_crash  # type: ignore[method-assign]
if place == "compose":
    ChatScreen.compose = crash  # type: ignore[method-assign]
sys.exit(run_app(build_engine, UiSettings(), StartRequest(), config_home=Path(folder)))
