"""The command line's words: parsers for the screen and for ``run``. Loaded only when there are words to parse."""

from __future__ import annotations

import argparse
from typing import NoReturn

from hermes_tui import __version__

USAGE = 2
"""Exit code for a command line that makes no sense."""
APPROVE = ("never", "plan", "rules", "all")
"""What ``run --approve`` takes; ``plan`` only reads."""


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, and where help is."""

    def error(self, message: str) -> NoReturn:
        """Say it and leave with the exit code of a usage error."""
        self.exit(USAGE, f"{self.prog}: {message}\nTry: {self.prog} --help\n")


def _model_flags(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("model")
    group.add_argument("-m", "--model", metavar="M", help="provider/model, or a model of the configured provider")
    group.add_argument("--provider", metavar="P", help="provider name")
    group.add_argument("--api-mode", metavar="MODE", help="chat_completions, codex_responses or anthropic_messages")
    group.add_argument("--base-url", metavar="URL", help="endpoint, usually ending in /v1")
    group.add_argument("--toolsets", metavar="A,B", help="only these toolsets")


def screen_parser() -> argparse.ArgumentParser:
    """Options of the full screen."""
    parser = Parser(
        prog="hermes-tui",
        description="A full-screen terminal home for an AI agent.",
        epilog="Commands: run, sessions, gate, models, config, doctor (each has --help).",
    )
    parser.add_argument("prompt", nargs="?", default="", metavar="PROMPT", help="send this at once")
    parser.add_argument("-c", "--continue", dest="continue_last", action="store_true", help="resume the last session")
    parser.add_argument(
        "-r", "--resume", nargs="?", const="?", default="", metavar="ID|TITLE", help="resume a session, or browse"
    )
    _model_flags(parser)
    parser.add_argument("--yolo", action="store_true", help="ask nothing; the hard blocks stay")
    parser.add_argument("--demo", action="store_true", help="a scripted demo that needs no model")
    parser.add_argument("--plain", action="store_true", help="no box art, no animation, for screen readers")
    parser.add_argument("--version", action="version", version=f"hermes-tui {__version__}")
    return parser


def run_parser() -> argparse.ArgumentParser:
    """Options of ``hermes-tui run``."""
    parser = Parser(prog="hermes-tui run", description="Run one turn without the screen.")
    parser.add_argument("prompt", metavar="PROMPT|-", help="the message; - reads it from stdin")
    parser.add_argument("--json", action="store_true", help="one event a line on stdout")
    parser.add_argument("--max-turns", type=int, metavar="N", help="model requests at most")
    parser.add_argument("--approve", choices=APPROVE, default="rules", help="what may run unasked")
    parser.add_argument("--trust", action="store_true", help="use this folder's AGENTS.md and its like, for this run")
    parser.add_argument("-r", "--resume", default="", metavar="ID|TITLE", help="go on with a session")
    _model_flags(parser)
    parser.add_argument("--demo", action="store_true", help="use the scripted demo model")
    return parser
