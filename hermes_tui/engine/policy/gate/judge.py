"""Command text -> verdict: walks nested commands, applies the user's rules and the mode, takes the maximum."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ...types.preferences import ApprovalMode
from ...types.requests import STRICTNESS, CommandPart, VerdictName
from ..allowlist import Rule, find_allow, find_deny, parse_rules, propose_rule
from .facts import Inner, Issue, Level, SimpleCommand, Word, is_dynamic, shown
from .parse import SHORT, Budget, load_language
from .paths import PathGuard
from .programs import find_row, table
from .rules import Finding, judge_simple
from .scope import Scope
from .screen import MAX_BYTES, MAX_COMMANDS, is_padded
from .simple import Context, moves
from .touched import collect_touched
from .verdict import UNREADABLE, Verdict
from .walk import Script, read_script
from .words import UnreadableError

_PIECES = re.compile(r"[;&|()`{}<>\x00-\x1f\x7f-\x9f]+|\$\(")
MAX_DEPTH = 8
ASKS_FROM: dict[ApprovalMode, Level] = {
    "plan": Level.WRITES,
    "strict": Level.WRITES,
    "ask": Level.DANGER,
    "smart": Level.DANGER,
    "off": Level.NEVER,
}
"""From which level on a mode asks about commands."""
PLAN_READS = Level.DANGER
"""Plan mode reads freely, but asks before reads of this level."""
_CLASSES = {
    Level.SAFE: "safe",
    Level.WRITES: "writes",
    Level.UNKNOWN: "unknown",
    Level.DANGER: "danger",
    Level.NEVER: "never",
}


@dataclass(frozen=True, slots=True)
class RuleSet:
    """The user's parsed rules."""

    allow: tuple[Rule, ...] = ()
    deny: tuple[Rule, ...] = ()


@dataclass(slots=True)
class _Judged:
    """One part with its verdict."""

    finding: Finding
    verdict: VerdictName
    part: CommandPart
    reasons: list[tuple[Level, str]]


@dataclass(slots=True)
class _State:
    """What one verdict collects."""

    budget: Budget = field(default_factory=Budget)
    judged: list[_Judged] = field(default_factory=list)
    loose: list[tuple[Issue, int, int]] = field(default_factory=list)
    """Issues that belong to no simple command."""
    moves: bool = False
    """Whether the text may change the folder."""
    visited: set[str] = field(default_factory=set)
    """Folders that it enters somewhere."""


class CommandJudge:
    """Judges command texts under one set of rules, paths and mode."""

    def __init__(self, guard: PathGuard, rules: RuleSet, mode: ApprovalMode) -> None:
        self._guard = guard
        self._rules = rules
        self._asks_from = ASKS_FROM[mode]
        self._mode = mode

    def judge(self, text: str, cwd: str) -> Verdict:
        """Judge one text.

        Args:
            text: What the shell would get.
            cwd: Absolute folder in which it would run.

        Returns:
            The verdict, without ``touched`` when nothing is asked.
        """
        state, verdict = self._read_and_judge(text, cwd)
        if verdict.verdict != "ask":
            return verdict
        rules = () if is_padded(text) else self._propose(state, text, cwd)
        touched = collect_touched([judged.finding for judged in state.judged], self._guard)
        return replace(verdict, always=bool(rules), always_rules=rules, touched=touched)

    def read(self, text: str, cwd: str) -> tuple[Verdict, tuple[SimpleCommand, ...]]:
        """Judge one text and return the commands found in it too, with the folders in which they would run."""
        state, verdict = self._read_and_judge(text, cwd)
        return verdict, tuple(judged.finding.command for judged in state.judged)

    def _read_and_judge(self, text: str, cwd: str) -> tuple[_State, Verdict]:
        load_language()
        table()  # the first use of both costs more than the budget of one verdict
        state = self._read(text, cwd)
        if state.budget.ran_out and len(text) < SHORT:  # garbage was collected meanwhile: not the text's fault
            state = self._read(text, cwd)
        return state, self._combine(state)

    def _read(self, text: str, cwd: str) -> _State:
        state = _State(moves=moves(text), visited={cwd})
        try:
            script = read_script(text, Scope(self._guard.home, (cwd,), visited=state.visited), state.budget)
            self._script(script, state, 0, None)
        except (UnreadableError, RecursionError) as error:
            why = "very deep nesting" if isinstance(error, RecursionError) else str(error)
            state.loose.append((Issue(Level.DANGER, f"{UNREADABLE}: {why}"), 0, len(text)))
            if self._mode == "off":
                state.judged += self._salvage(text, cwd)
        return state

    def _salvage(self, text: str, cwd: str) -> list[_Judged]:
        """Find blocked and denied commands in a text that cannot be read, when nobody will be asked about it.

        Rough on purpose: it can only make the answer stricter.
        """
        found: list[_Judged] = []
        budget = Budget()
        for piece in _PIECES.split(text[:MAX_BYTES])[:MAX_COMMANDS]:
            words = tuple(Word(word) for word in piece.replace("'", "").replace('"', "").replace("\\", "").split())
            if not words or budget.is_over():
                continue
            judged = self._settle(judge_simple(SimpleCommand(words, 0, len(text), cwds=(cwd,)), self._guard))
            if judged.verdict in ("deny", "never"):
                found.append(judged)
        return found

    # -- collecting --------------------------------------------------------------------------------------------------

    def _script(self, script: Script, state: _State, depth: int, around: Word | None) -> None:
        state.loose += [
            (issue, around.start if around else start, around.end if around else end)
            for issue, start, end in script.findings
        ]
        for name, bomb, start, end in script.defined:
            place = (around.start, around.end) if around else (start, end)
            state.loose.append((_judge_function(name, bomb), *place))
        for command in script.commands:
            placed = replace(command, start=around.start, end=around.end) if around else command
            self._command(placed, state, depth)

    def _command(self, command: SimpleCommand, state: _State, depth: int) -> None:
        state.budget.check_time()
        finding = judge_simple(command, self._guard.limited(state.budget.check_time, state.visited))
        slot = len(state.judged)
        for inner in finding.inner:
            try:
                self._inner(inner, command, state, depth + 1)
            except UnreadableError as error:
                finding.issues.append(Issue(Level.DANGER, f"{UNREADABLE}: {error}"))
        state.judged.insert(slot, self._settle(finding))

    def _inner(self, inner: Inner, outer: SimpleCommand, state: _State, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise UnreadableError("commands nested very deep")
        cwds = () if inner.later and state.moves else outer.cwds
        if inner.cwd is not None:
            scope = Scope(self._guard.home, cwds)
            scope.change_folder(inner.cwd.text)
            cwds = scope.cwds
        if inner.script is None:
            state.budget.add_command()
            self._command(
                SimpleCommand(
                    inner.words,
                    outer.start,
                    outer.end,
                    cwds=cwds,
                    stdin=outer.stdin,
                    stdin_text=outer.stdin_text,
                    background=outer.background,
                    functions=outer.functions,
                ),
                state,
                depth,
            )
            return
        script = inner.script
        if script.dynamic or script.split:
            raise UnreadableError("a command text that is known only at run time")
        place = script if script.end else Word(script.text, outer.start, outer.end)
        scope = Scope(
            self._guard.home,
            cwds,
            functions=outer.functions,
            functions_move=bool(outer.functions),
            visited=state.visited,
        )
        context = Context("" if outer.stdin == "text" else outer.stdin)
        self._script(read_script(script.text, scope, state.budget, context), state, depth, place)

    # -- deciding ----------------------------------------------------------------------------------------------------

    def _settle(self, finding: Finding) -> _Judged:
        level = finding.level
        denied = find_deny(finding, self._rules.deny)
        pattern = next((issue.deny for issue in finding.issues if issue.deny), "")
        reasons = [(issue.level, issue.reason) for issue in finding.issues if self._asks_about(issue)]
        rule = ""
        verdict: VerdictName = "allow"
        if level >= Level.NEVER:
            verdict = "never"
        elif denied or pattern:
            verdict = "deny"
            rule = denied.text if denied else pattern
            reasons.insert(0, (Level.DANGER, f"your rules deny it: {rule}"))
        elif self._mode == "plan":
            verdict = plan_verdict(finding.issues)
        elif level >= self._asks_from:
            allowed = find_allow(finding, self._rules.allow, self._asks_from)
            if allowed is None:
                verdict = "ask"
            else:
                rule, reasons = allowed.text, []
        worst = max(finding.issues, key=lambda issue: issue.level, default=None)
        part = CommandPart(
            argv=tuple(shown(word) for word in finding.command.argv) or _bare_argv(finding.command),
            danger_class=_CLASSES[level],
            reason=worst.reason if worst else "",
            rule=rule,
            start=finding.command.start,
            end=finding.command.end,
        )
        return _Judged(finding, verdict, part, reasons)

    def _asks_about(self, issue: Issue) -> bool:
        if self._mode == "plan" and issue.reads:
            return issue.level >= PLAN_READS
        return issue.level >= self._asks_from

    def _combine(self, state: _State) -> Verdict:
        verdicts: list[VerdictName] = [judged.verdict for judged in state.judged]
        reasons = [reason for judged in state.judged for reason in judged.reasons]
        parts = [judged.part for judged in state.judged]
        for issue, start, end in state.loose:
            if issue.level >= Level.NEVER:
                verdicts.append("never")
            elif issue.level >= self._asks_from:
                verdicts.append("plan" if self._mode == "plan" else "ask")
            if issue.level >= self._asks_from:
                reasons.append((issue.level, issue.reason))
            if issue.level >= Level.DANGER:
                parts.append(
                    CommandPart(argv=(), danger_class=_CLASSES[issue.level], reason=issue.reason, start=start, end=end)
                )
        verdict: VerdictName = max(verdicts, key=STRICTNESS.index, default="allow")
        ordered = [reason for _, reason in sorted(reasons, key=lambda item: -item[0])]
        issues = [issue for judged in state.judged for issue in judged.finding.issues]
        issues += [issue for issue, _, _ in state.loose]
        return Verdict(
            verdict=verdict,
            reasons=tuple(dict.fromkeys(ordered)),
            parts=tuple(parts),
            changes_nothing=plan_verdict(issues) != "plan",
        )

    def _propose(self, state: _State, text: str, cwd: str) -> tuple[str, ...]:
        """Return rules that turn this very text into ``allow``; proven by judging it again with them."""
        if any(issue.level >= self._asks_from for issue, _, _ in state.loose):
            return ()
        proposals = [propose_rule(judged.finding) for judged in state.judged if judged.verdict == "ask"]
        if not proposals or not all(proposals):
            return ()
        unique = tuple(dict.fromkeys(proposals))
        more = RuleSet(self._rules.allow + parse_rules(unique), self._rules.deny)
        _, proof = CommandJudge(self._guard, more, self._mode)._read_and_judge(text, cwd)
        return unique if proof.verdict == "allow" else ()


def _bare_argv(command: SimpleCommand) -> tuple[str, ...]:
    """Return words to show for a part without a program: assignments, redirects."""
    assigns = [f"{name}={shown(value.text)}" for name, value in command.assigns]
    redirects = [f"{redirect.operator}{shown(redirect.target.text)}" for redirect in command.redirects]
    return tuple(assigns + redirects)


def _judge_function(name: str, bomb: bool) -> Issue:
    if bomb:
        return Issue(Level.NEVER, "starts itself again and again (a fork bomb)")
    if find_row(name) is not None or not name.isascii() or is_dynamic(name):
        return Issue(Level.DANGER, f"changes what {name} runs")
    return Issue(Level.UNKNOWN, f"defines a function {name}")


def plan_verdict(issues: Sequence[Issue]) -> VerdictName:
    """Return what plan mode says of issues below ``never`` and ``deny``: it refuses whatever may change something."""
    if any(issue.level >= Level.WRITES and not issue.reads for issue in issues):
        return "plan"
    return "ask" if any(issue.level >= PLAN_READS for issue in issues) else "allow"


def rule_set(allow: Sequence[str], deny: Sequence[str]) -> RuleSet:
    """Parse the user's rules."""
    return RuleSet(parse_rules(allow), parse_rules(deny))
