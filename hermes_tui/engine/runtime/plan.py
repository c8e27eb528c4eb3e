"""Reads a batch of calls: which tool each means, which are the same, and whether they may run side by side."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ...tools.base import Assessment, Tool
from ..context.repair import UNNAMED_TOOL
from ..types.messages import ToolCall
from .arguments import ArgumentChecker
from .results import failure


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCall:
    """One call of a batch, parsed and checked."""

    call_id: str
    name: str
    args: Mapping[str, Any]
    canonical: str
    """The arguments as sorted JSON: the identity of the call together with its name."""
    tool: Tool | None = None
    error: dict[str, Any] | None = None
    """The result of a call that cannot be run."""
    same_as: str = ""
    """Id of an earlier call of the batch that asks for exactly this."""


class Planner:
    """Plans batches for one set of tools.

    Args:
        tools: The tools offered in this turn, by name.
        checker: Keeps compiled schemas beyond the turn.
    """

    def __init__(self, tools: Mapping[str, Tool], checker: ArgumentChecker) -> None:
        self._tools = tools
        self._checker = checker
        self._has_listed_names = False

    @property
    def signatures(self) -> Mapping[str, Sequence[str]]:
        """Names of the tools, with their parameters in order."""
        return {
            name: tuple((tool.schema.get("parameters") or {}).get("properties") or ())
            for name, tool in self._tools.items()
        }

    def plan(self, calls: Sequence[ToolCall], broken: Collection[str] = ()) -> list[PlannedCall]:
        """Plan each call, in call order.

        A call is the same as an earlier one only when nothing between them could have changed its result.

        Args:
            calls: The calls of one answer.
            broken: Ids of those whose arguments could not be read.
        """
        planned: list[PlannedCall] = []
        seen: dict[tuple[str, str], str] = {}
        for call in calls:
            one = self._plan_one(call, call["id"] in broken)
            key = (one.name, one.canonical)
            if one.error is None and key in seen:
                one = replace(one, same_as=seen[key])
            if key not in seen and (one.tool is None or not one.tool.parallel):
                seen.clear()
            seen.setdefault(key, one.call_id)
            planned.append(one)
        return planned

    def _plan_one(self, call: ToolCall, is_broken: bool) -> PlannedCall:
        given, arguments = call["function"]["name"], call["function"]["arguments"]
        tool = self._find(given)
        if tool is None:
            args = json.loads(arguments)
            return PlannedCall(
                call_id=call["id"], name=given, args=args, canonical=arguments, error=self._unknown(given)
            )
        if is_broken:
            error = failure("The arguments were not valid JSON, so nothing ran. Send the call again, complete.")
            return PlannedCall(call_id=call["id"], name=tool.name, args={}, canonical="", tool=tool, error=error)
        args, problem = self._checker.check(tool.name, tool.schema.get("parameters") or {}, arguments)
        return PlannedCall(
            call_id=call["id"],
            name=tool.name,
            args=args or (json.loads(arguments) if problem else args),
            canonical=json.dumps(args, sort_keys=True, ensure_ascii=False, default=str),
            tool=tool,
            error=failure(problem) if problem else None,
        )

    def _find(self, name: str) -> Tool | None:
        """Return the tool, also when only letter case, ``-`` and ``_`` differ and no other tool is as near."""
        if name in self._tools:
            return self._tools[name]
        near = [tool for known, tool in self._tools.items() if _plain(known) == _plain(name)]
        return near[0] if len(near) == 1 else None

    def _unknown(self, name: str) -> dict[str, Any]:
        """Name the tools once; a model that keeps asking for none must not be fed the list each time."""
        if name == UNNAMED_TOOL:
            return failure("The call has no tool name, so nothing ran.")
        if self._has_listed_names:
            return failure(f"There is no tool named {name}.")
        self._has_listed_names = True
        return failure(f"There is no tool named {name}. Tools: {', '.join(sorted(self._tools)) or 'none'}.")


def can_run_together(calls: Sequence[PlannedCall], assessments: Sequence[Assessment | None], workspace: Path) -> bool:
    """Say whether a batch may run in parallel: every tool allows it, and nothing that one writes touches another's."""
    if any(call.tool is None or not call.tool.parallel or call.tool.interactive for call in calls):
        return False
    uses: list[tuple[Path, bool]] = []
    for assessment in assessments:
        if assessment is None:
            return False
        own = [(_real(use.path, assessment.cwd, workspace), use.kind != "read") for use in assessment.paths]
        if any(
            _overlap(mine, theirs) and (i_write or they_write) for mine, i_write in own for theirs, they_write in uses
        ):
            return False
        uses.extend(own)
    return True


def _real(path: str, cwd: str, workspace: Path) -> Path:
    return (Path(cwd or workspace) / Path(path).expanduser()).resolve()


def _overlap(first: Path, second: Path) -> bool:
    return first == second or first in second.parents or second in first.parents


def _plain(name: str) -> str:
    return name.lower().replace("-", "").replace("_", "")
