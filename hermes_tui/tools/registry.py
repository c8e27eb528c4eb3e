"""The registry: names to tools. Each tool module registers itself when :func:`load_builtin_tools` imports it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any

from .base import Args, Assessment, Result, Tool, assess_nothing, display_generic
from .ports import SessionState, ToolContext

log = logging.getLogger(__name__)

BUILTIN_MODULES = (
    "terminal",
    "process",
    "files",
    "patch",
    "search",
    "todo",
    "clarify",
    "memory",
    "session_search",
    "delegate",
    "web_extract",
    "web_search",
    "execute_code",
)
MODULE_OF = {"read_file": "files", "write_file": "files", "search_files": "search", "delegate_task": "delegate"}
"""Tools that are not called as their module."""


class ToolRegistry:
    """A table of tools. Not locked: registration happens before a session starts."""

    def __init__(self) -> None:
        self._tools: dict[str, Tool] = {}
        self._availability: dict[str, str] = {}

    def register(
        self,
        name: str,
        schema: Mapping[str, Any],
        handler: Callable[[Args, ToolContext], Result],
        *,
        toolset: str,
        check: Callable[[], str] = lambda: "",
        parallel: bool = False,
        interactive: bool = False,
        assess: Callable[[Args, ToolContext], Assessment] = assess_nothing,
        display: Callable[[Args, Result | None], dict[str, Any]] = display_generic,
        restore: Callable[[SessionState, Result], None] | None = None,
        pin: Callable[[SessionState], str] | None = None,
        needs: str = "",
        is_bounded: bool = True,
        max_result_chars: int = 100_000,
    ) -> Tool:
        """Add a tool, replacing one of the same name. See :class:`~hermes_tui.tools.base.Tool` for the arguments."""
        tool = Tool(
            name=name,
            schema=schema,
            handler=handler,
            toolset=toolset,
            check=check,
            parallel=parallel,
            interactive=interactive,
            assess=assess,
            display=display,
            restore=restore,
            pin=pin,
            needs=needs,
            is_bounded=is_bounded,
            max_result_chars=max_result_chars,
        )
        self._tools[name] = tool
        self._availability.pop(name, None)
        return tool

    def get(self, name: str) -> Tool | None:
        """Return the tool, or None."""
        return self._tools.get(name)

    def names(self) -> list[str]:
        """All names, sorted."""
        return sorted(self._tools)

    def toolsets(self) -> list[str]:
        """The toolsets that any tool belongs to, sorted."""
        return sorted({tool.toolset for tool in self._tools.values()})

    def unavailable(self, name: str) -> str:
        """Why a tool cannot be used on this machine (asked once), or empty."""
        if name not in self._availability:
            try:
                self._availability[name] = self._tools[name].check()
            except Exception as error:
                log.exception("the check of the tool %s failed", name)
                self._availability[name] = f"Its check failed: {type(error).__name__}."
        return self._availability[name]

    def select(self, toolsets: Iterable[str] | None = None, *, without: Iterable[str] = ()) -> list[Tool]:
        """Return usable tools of these toolsets (all when None), sorted by name for a stable prompt prefix."""
        wanted = None if toolsets is None else set(toolsets)
        unwanted = set(without)
        return [
            tool
            for name, tool in sorted(self._tools.items())
            if (wanted is None or tool.toolset in wanted)
            and tool.toolset not in unwanted
            and not self.unavailable(name)
        ]

    def describe(self, name: str, args: Args, result: Result | None = None) -> dict[str, Any]:
        """Describe a call for its card; unknown tools get the generic form."""
        tool = self._tools.get(name)
        return (tool.display if tool else display_generic)(args, result)


registry = ToolRegistry()
"""The default registry."""


def load_builtin_tools(names: Iterable[str] | None = None) -> ToolRegistry:
    """Import the shipped tool modules, each of which registers itself, and return the default registry.

    Args:
        names: Only what describing these tools takes; unknown ones are passed over.
    """
    wanted = None if names is None else {MODULE_OF.get(name, name) for name in names}
    for module in BUILTIN_MODULES:
        if wanted is None or module in wanted:
            import_module(f"hermes_tui.tools.{module}")
    return registry
