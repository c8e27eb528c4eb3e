"""The shape of a tool: a schema, a handler, an assessment, a display.

A handler returns a JSON-able dict ``{"ok": bool, ...}`` with ``error`` when not ok; raising :class:`ToolFailure` is the
short way to the latter. The engine caps, stores and sends it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from .ports import SessionState, ToolContext

Args: TypeAlias = Mapping[str, Any]
Result: TypeAlias = dict[str, Any]


class ToolFailure(Exception):
    """A tool cannot do what was asked; the text tells the model what to do instead.

    Args:
        message: One or two sentences.
        details: Further keys of the result.
    """

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.details = details


@dataclass(frozen=True, slots=True)
class PathUse:
    """A path the call will read, write or delete, as given by the model (may be relative, may start with ``~``)."""

    path: str
    kind: Literal["read", "write", "delete"] = "write"
    real: str = ""
    """Where it led when it was assessed, links followed; the call goes nowhere else. Empty when nobody looked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assessment:
    """What a call would do, as facts; the gate turns them into a verdict."""

    command: str = ""
    """Shell text that would run."""
    is_editable: bool = True
    """False when ``command`` only describes the call: a person may refuse it, not change it."""
    code: str = ""
    """Python that would run; the tools that it calls are assessed when it calls them."""
    paths: tuple[PathUse, ...] = ()
    cwd: str = ""
    """Folder that relative paths and the command start in; empty for the workspace."""
    diff: str = ""
    """Unified diff of what would change, for edits."""
    sends: tuple[str, ...] = ()
    """What other machines would be asked: URLs, a search. Nothing else leaves, and nothing here changes."""
    read_only: bool = False
    """True when the call provably changes nothing."""


def assess_nothing(args: Args, context: ToolContext) -> Assessment:
    """Assess a tool that touches neither files nor processes."""
    del args, context
    return Assessment(read_only=True)


def display_generic(args: Args, result: Result | None) -> dict[str, Any]:
    """Describe a call for its card: the first short argument is the target."""
    target = next((str(v) for v in args.values() if isinstance(v, str) and v), "")
    shown: dict[str, Any] = {"kind": "generic", "verb": "", "target": target}
    if result is not None and not result.get("ok", True):
        shown["summary"] = str(result.get("error", ""))
    return shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One registered tool."""

    name: str
    schema: Mapping[str, Any]
    """``{"description": str, "parameters": JSON schema}``."""
    handler: Callable[[Args, ToolContext], Result]
    toolset: str
    check: Callable[[], str] = field(default=lambda: "")
    """Why the tool cannot be used here, in a sentence; empty when it can."""
    parallel: bool = False
    """Safe to run beside other parallel tools whose paths don't overlap."""
    interactive: bool = False
    """Needs a person; never offered without a surface."""
    assess: Callable[[Args, ToolContext], Assessment] = assess_nothing
    display: Callable[[Args, Result | None], dict[str, Any]] = display_generic
    """Pure: ``(args, result or None while running)`` -> ``{"kind", "verb", "target", "summary", ...}``.

    ``kind`` is one of ``terminal``, ``code``, ``diff``, ``file``, ``search``, ``todo``, ``clarify``, ``generic``.
    ``diff`` cards carry ``diff`` (unified), ``added``, ``removed``; ``terminal`` cards ``exit_code``, ``output``,
    ``cwd``; ``code`` cards ``code``, ``calls`` (a line each), ``output``.
    """
    restore: Callable[[SessionState, Result], None] | None = None
    """Puts back what the tool keeps for a session, from its last successful result, when the session is resumed."""
    pin: Callable[[SessionState], str] | None = None
    """Returns what a compressed conversation must carry word for word, as Markdown under a heading; may be empty."""
    needs: str = ""
    """The service of :mod:`.ports` that it works with; without that it is not offered."""
    is_bounded: bool = True
    """False for a handler that limits itself: it may run longer than any other."""
    max_result_chars: int = 100_000
