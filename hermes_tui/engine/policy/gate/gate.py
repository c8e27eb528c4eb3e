"""The face of the gate: settings and rules in, verdicts out."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Protocol, TypeAlias, cast

from ...config.settings import ApprovalSettings, ProjectRules
from ...types.errors import ConfigError
from ...types.preferences import ApprovalMode
from ...types.requests import CommandPart, TouchedPath, VerdictName
from ..rule_hits import RuleHits
from .code import READING_TOOLS, ScriptFacts, read_script
from .facts import Issue, Level, Word
from .judge import ASKS_FROM, CommandJudge, RuleSet, plan_verdict, rule_set
from .paths import PathGuard, PathKind, is_inside
from .screen import find_unreadable
from .touched import describe
from .verdict import PROTECTS, RUNS_CODE, SHOWS_EDITS, UNREADABLE, Verdict

MODES = ("ask", "strict", "smart", "plan", "off")
RuleScope: TypeAlias = Literal["session", "project", "everywhere"]
RuleEffect: TypeAlias = Literal["allow", "deny", "deny_path"]


class RuleStore(Protocol):
    """Where "always" keeps its rules."""

    def save(self, rules: Sequence[str], folder: str) -> None:
        """Add allow rules for a folder, everywhere when it is empty. Blocks on the disk."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleRow:
    """One rule in a list."""

    rule: str
    effect: RuleEffect
    scope: RuleScope = "everywhere"
    folder: str = ""
    """With scope ``project``: where it holds."""
    hits: int = 0
    """How often it decided."""


class ShellGate:
    """Judges commands and file accesses. Any thread; asks nobody and runs nothing but ``git ls-files``.

    Args:
        settings: ``[approvals]``.
        mode: Overrides the mode of the settings.
        rules_store: Gets what "always" remembers; None keeps it in memory.
        home: The user's home; the real one when None.
        protected: More paths that may not be written without a question: own config and data folders.
        hits: Counts how often rules decide.
    """

    def __init__(
        self,
        settings: ApprovalSettings,
        *,
        mode: ApprovalMode | None = None,
        rules_store: RuleStore | None = None,
        home: str | os.PathLike[str] | None = None,
        protected: Iterable[str | os.PathLike[str]] = (),
        hits: RuleHits | None = None,
    ) -> None:
        self._settings = settings
        self._mode: ApprovalMode = mode or settings.mode
        self._store = rules_store
        self._home = os.path.normpath(os.fspath(home) if home else str(Path.home()))
        self._protected = tuple(f"{os.fspath(path).rstrip('/')}/**" for path in protected)
        self._remembered: list[tuple[str, RuleScope, str]] = []
        self._hits = hits or RuleHits()
        self._guards: dict[str, PathGuard] = {}
        self._rule_sets: dict[str, RuleSet] = {}
        self._places: dict[str, str] = {}

    @property
    def mode(self) -> ApprovalMode:
        """The mode in force."""
        return self._mode

    @mode.setter
    def mode(self, mode: ApprovalMode) -> None:
        self.set_mode(mode)

    def set_mode(self, mode: str) -> None:
        """Change the mode of this session.

        Raises:
            ConfigError: There is no such mode.
        """
        if mode not in MODES:
            raise ConfigError(f"There is no approval mode {mode!r}", hint=f"Use one of {', '.join(MODES)}")
        self._mode = cast("ApprovalMode", mode)

    def judge_command(self, command: str, *, cwd: str, workspace: str | None = None) -> Verdict:
        """Judge a command text.

        Args:
            command: Exactly what the shell would get.
            cwd: Absolute folder in which it would run.
            workspace: Folder the agent works in; the git work tree around ``cwd`` when None.

        Returns:
            The verdict. Takes about a millisecond, never more than some 50; more when ``git`` is asked for ``touched``.
        """
        folder = self._places[cwd] = workspace or find_workspace(cwd)
        verdict = CommandJudge(self._guard(folder), self._rules_in(folder), self._mode).judge(command, cwd)
        self._hits.add(part.rule for part in verdict.parts if part.rule)
        return verdict

    def judge_paths(
        self, paths: Sequence[tuple[str, str]], *, cwd: str, workspace: str | None = None, diff: str = ""
    ) -> Verdict:
        """Judge what a file tool would do.

        Args:
            paths: Pairs of path and ``read``, ``write`` or ``delete``.
            cwd: Absolute folder that relative paths start at.
            workspace: As in :meth:`judge_command`.
            diff: The change, when it is shown with the question; with ``edits = "ask"`` every change is asked.

        Returns:
            The verdict; never with ``always``.
        """
        guard = self._guard(workspace or find_workspace(cwd))
        issues: list[Issue] = []
        touched: list[TouchedPath] = []
        for path, kind in paths:
            found = guard.judge(Word(path), _PATH_KINDS.get(kind, "write"), (cwd,))
            if kind == "delete":
                found.append(Issue(Level.DANGER, f"deletes {path}", "path"))
            if kind == "write" and self._settings.edits == "ask":
                found.append(Issue(Level.DANGER, SHOWS_EDITS if diff else f"changes {path}", "path"))
            issues += found
            if found and kind != "read":
                note = describe(os.path.join(cwd, path), guard) if kind == "delete" else _note(found)  # noqa: PTH118
                touched.append(TouchedPath(path=path, kind=kind, note=note))
        return self._path_verdict(issues, touched)

    def _path_verdict(self, issues: list[Issue], touched: list[TouchedPath]) -> Verdict:
        asks_from = {"strict": Level.UNKNOWN, "off": Level.NEVER}.get(self._mode, Level.DANGER)
        ordered = sorted(issues, key=lambda issue: -issue.level)
        reasons = [issue.reason for issue in ordered if issue.level >= asks_from or issue.reason.startswith(PROTECTS)]
        denied = next((issue.deny for issue in issues if issue.deny), "")
        if any(issue.level >= Level.NEVER for issue in issues):
            return Verdict(verdict="never", reasons=tuple(dict.fromkeys(reasons)), touched=tuple(touched))
        if denied:
            self._hits.add((denied,))
            return Verdict(
                verdict="deny",
                reasons=(f"your rules deny it: {denied}", *dict.fromkeys(reasons)),
                touched=tuple(touched),
            )
        if self._mode == "plan" and plan_verdict(issues) == "plan":
            changes = dict.fromkeys(
                issue.reason for issue in ordered if issue.level >= Level.WRITES and not issue.reads
            )
            return Verdict(verdict="plan", reasons=tuple(changes), touched=tuple(touched))
        if reasons:
            return Verdict(verdict="ask", reasons=tuple(dict.fromkeys(reasons)), touched=tuple(touched))
        return Verdict(verdict="allow")

    def judge_code(self, code: str, *, cwd: str, workspace: str | None = None) -> Verdict:
        """Judge a Python script whose calls of tools are judged when it makes them.

        Args:
            code: Exactly what would run.
            cwd: Absolute folder in which it would run.
            workspace: As in :meth:`judge_command`.

        Returns:
            The verdict; never with ``always``. A shell command that stands in it word for word is judged, too.
        """
        facts = read_script(code)
        asked: list[str] = []
        for command in facts.commands if facts.findings else ():
            found = self.judge_command(command, cwd=cwd, workspace=workspace)
            if found.verdict in ("never", "deny"):
                return replace(found, always=False, always_rules=(), parts=_code_parts(facts))
            asked += found.reasons if found.verdict == "ask" else ()
        findings = [finding.reason for finding in facts.findings]
        if hidden := find_unreadable(code):
            findings.insert(0, f"{UNREADABLE}: {hidden}")
        reasons = tuple(dict.fromkeys(findings))
        if self._mode == "plan":
            changing = tuple(f"calls {name}" for name in sorted(facts.tools - READING_TOOLS))
            verdict: VerdictName = "plan" if reasons or changing else "allow"
            return Verdict(verdict=verdict, reasons=(*reasons, *changing), changes_nothing=not reasons)
        asks_from = ASKS_FROM[self._mode]
        if asked or asks_from <= Level.UNKNOWN or (reasons and asks_from <= Level.DANGER):
            told = tuple(dict.fromkeys((*asked, *reasons))) or (RUNS_CODE,)
            return Verdict(verdict="ask", reasons=told, parts=_code_parts(facts), changes_nothing=not reasons)
        return Verdict(verdict="allow", parts=_code_parts(facts), changes_nothing=not reasons)

    def remember(self, rules: Sequence[str], scope: RuleScope = "session", cwd: str = "") -> None:
        """Keep allow rules: in memory at once, and in the store unless the scope is ``session``.

        Args:
            rules: From ``Verdict.always_rules``.
            scope: ``project`` holds only in the workspace in which commands at ``cwd`` were judged.
            cwd: Folder in which the answer was given.
        """
        place = (self._places.get(cwd) or find_workspace(cwd)) if scope == "project" else ""
        fresh = [rule for rule in rules if (rule, scope, place) not in self._remembered]
        self._remembered += [(rule, scope, place) for rule in fresh]
        self._rule_sets.clear()
        if self._store is not None and scope != "session" and fresh:
            self._store.save(fresh, place)

    def forget(self, rule: str, effect: RuleEffect, folder: str = "") -> None:
        """Stop following a rule; the store is not asked. ``folder`` is empty for rules that hold everywhere."""
        self._change_rules(effect, folder, lambda rules: tuple(kept for kept in rules if kept != rule))
        if effect == "allow":
            self._remembered = [
                (known, scope, place)
                for known, scope, place in self._remembered
                if known != rule or scope == "session" or place != folder
            ]

    def adopt(self, rule: str, effect: RuleEffect, folder: str = "") -> None:
        """Follow a further rule; the store is not asked. ``folder`` is empty for rules that hold everywhere."""
        self._change_rules(effect, folder, lambda rules: (*rules, rule))

    def _change_rules(
        self, effect: RuleEffect, folder: str, change: Callable[[tuple[str, ...]], tuple[str, ...]]
    ) -> None:
        settings, projects = self._settings, dict(self._settings.projects)
        if folder and effect != "deny_path":
            own = projects.get(folder, ProjectRules())
            projects[folder] = replace(own, **{effect: change(getattr(own, effect))})
            self._settings = replace(settings, projects=projects)
        elif not folder:
            name = "deny_paths" if effect == "deny_path" else effect
            changed: dict[str, Any] = {name: change(getattr(settings, name))}
            self._settings = replace(settings, **changed)
        self._rule_sets.clear()
        self._guards.clear()

    def rules(self) -> tuple[RuleRow, ...]:
        """List all rules with their hits."""
        settings = self._settings
        found: list[tuple[str, RuleEffect, RuleScope, str]] = [
            *((rule, "allow", "everywhere", "") for rule in settings.allow),
            *((rule, "deny", "everywhere", "") for rule in settings.deny),
            *((rule, "deny_path", "everywhere", "") for rule in settings.deny_paths),
            *((rule, "allow", scope, place) for rule, scope, place in self._remembered),
        ]
        for place, project in settings.projects.items():
            found += [(rule, "allow", "project", place) for rule in project.allow]
            found += [(rule, "deny", "project", place) for rule in project.deny]
        return tuple(
            RuleRow(rule=rule, effect=effect, scope=scope, folder=place, hits=self._hits.count(rule))
            for rule, effect, scope, place in dict.fromkeys(found)
        )

    def _rules_in(self, workspace: str) -> RuleSet:
        """Return the rules that hold in a workspace."""
        found = self._rule_sets.get(workspace)
        if found is None:
            real = os.path.realpath(workspace)
            allow, deny = list(self._settings.allow), list(self._settings.deny)
            for place, project in self._settings.projects.items():
                if is_inside(real, os.path.realpath(os.path.expanduser(place))):  # noqa: PTH111
                    allow += project.allow
                    deny += project.deny
            allow += [
                rule
                for rule, scope, place in self._remembered
                if scope != "project" or is_inside(real, os.path.realpath(place))
            ]
            found = self._rule_sets[workspace] = rule_set(allow, deny)
        return found

    def _guard(self, workspace: str) -> PathGuard:
        guard = self._guards.get(workspace)
        if guard is None:
            guard = PathGuard(
                workspace=workspace, home=self._home, deny=self._settings.deny_paths, protected=self._protected
            )
            self._guards[workspace] = guard
        return guard


_PATH_KINDS: dict[str, PathKind] = {"read": "read", "write": "write", "delete": "delete", "list": "list"}


def _code_parts(facts: ScriptFacts) -> tuple[CommandPart, ...]:
    return tuple(
        CommandPart(argv=(), danger_class="danger", reason=finding.reason, start=finding.start, end=finding.end)
        for finding in facts.findings
    )


def _note(issues: Sequence[Issue]) -> str:
    worst = max(issues, key=lambda issue: issue.level)
    return worst.reason.partition(":")[0] if worst.level >= Level.UNKNOWN else ""


def find_workspace(cwd: str) -> str:
    """Return the git work tree around ``cwd``, or ``cwd`` itself."""
    folder = Path(cwd)
    for candidate in (folder, *folder.parents):
        if (candidate / ".git").exists():
            return str(candidate)
    return cwd
