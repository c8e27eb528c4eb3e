"""The command line's words."""

from __future__ import annotations

from hermes_tui.arguments import screen_parser
from hermes_tui.cli import NO_ARGUMENTS


def test_an_empty_command_line_needs_no_parser() -> None:
    assert vars(screen_parser().parse_args([])) == vars(NO_ARGUMENTS)
