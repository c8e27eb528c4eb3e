"""From a call's assessment to permission: gate, then a person where the gate says so."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ...tools.base import Assessment, PathUse, Tool
from ..policy.approvals import Approvals
from ..policy.gate.verdict import Verdict
from ..types.errors import ConfigError
from ..types.events import Event, Notice
from ..types.ids import new_request_id
from ..types.requests import STRICTNESS, ApprovalDecision, ApprovalRequest
from .ports import Gate
from .results import failure
from .second_opinion import Clearance, SecondOpinion
from .tool_context import CallContext

_MAX_ROUNDS = 10
"""Edits and changed files that one call may go through before it is refused."""

MODEL_WORDS: Mapping[str, str] = {
    "user": "The person refused this call. Do not try to reach the same end by another way; ask or go on without it.",
    "rule": "The person refused this very action before in this turn. Go on without it.",
    "timeout": "Nobody answered the approval in time, so this did not run. That is not a refusal by the person.",
    "interrupt": "The turn was interrupted while this waited for approval. It did not run.",
    "no_surface": "This needs approval by a person, and nobody is there to ask. It did not run. Find a safer way, or "
    "say that it needs to be done by hand.",
    "never": "Blocked, and nobody can allow it: {why}. It did not run.",
    "deny": "Refused by the person's rules: {why}. It did not run.",
    "plan": "Plan mode is on: you may only read, and this is not known to read only ({why}). It did not run. Look "
    "around, then write down what you would do; the person leaves plan mode when they agree.",
}
"""What the model is told about a call that may not run: by who decided, else by the verdict."""

PERSON_WORDS: Mapping[str, str] = {
    "user": "You refused it. It did not run.",
    "rule": "You refused this very command a moment ago. It did not run.",
    "timeout": "Nobody answered in time. It did not run.",
    "interrupt": "It was stopped before an answer. It did not run.",
    "no_surface": "Nobody is there to ask. It did not run.",
    "never": "Blocked, and nobody can allow it here: {why}. It did not run.",
    "deny": "Your rules refuse it: {why}. It did not run. /rules shows them.",
    "plan": "Plan mode is on, and this may change something ({why}). It did not run. /approvals leaves plan mode.",
}
"""What a person is told about their own command."""

BLOCKED = frozenset({"never", "deny", "plan"})
"""Verdicts that nobody is asked about."""

SENDS = "asks another machine"
PLAN_MODE = (
    "[Plan mode is on: read and search only. Calls that could change anything are refused. Finish with a plan of what "
    "you would do, and wait for the person to agree.]"
)
"""Goes with each request while the mode lasts; never stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Permission:
    """Whether a call may run, and with which arguments."""

    args: Mapping[str, Any]
    refusal: dict[str, Any] | None = None
    """The call's result when it may not run."""
    note: str = ""
    """Something the model must know about what ran."""
    is_read: bool = False
    """Whether the call changes nothing."""
    writes: tuple[str, ...] = ()
    """Absolute paths that it says it will write or delete."""
    is_command: bool = False
    """It runs a command or code that may change any file."""


class Judge:
    """Decides about calls. Usable from any thread; :meth:`decide` blocks while a person thinks.

    Args:
        gate: Turns facts into verdicts.
        approvals: Asks people.
        deadline_s: Seconds until an unanswered question counts as denied; 0 waits for ever.
        agent_id: Named in the question when a subagent asks.
        second_opinion: Asked first in mode ``smart``.
        emit: Takes the notice that a call was cleared.
        words: What a call that may not run is answered with.
    """

    def __init__(
        self,
        gate: Gate,
        approvals: Approvals,
        *,
        deadline_s: Callable[[], float],
        agent_id: str = "",
        second_opinion: SecondOpinion | None = None,
        emit: Callable[[Event], None] = lambda event: None,
        words: Mapping[str, str] = MODEL_WORDS,
    ) -> None:
        self._gate = gate
        self._approvals = approvals
        self._deadline_s = deadline_s
        self._agent_id = agent_id
        self._second_opinion = second_opinion
        self._emit = emit
        self._words = words

    def decide(self, tool: Tool, args: Mapping[str, Any], context: CallContext) -> Permission:
        """Assess, judge and, where needed, ask. What a person edited, or what changed meanwhile, is judged again."""
        note = ""
        for _ in range(_MAX_ROUNDS):
            assessment = tool.assess(args, context)
            verdict = self._verdict(tool, assessment, context)
            if verdict.verdict == "allow":
                return _permission(args, note, assessment, verdict, context)
            if verdict.verdict != "ask":
                return Permission(args=args, refusal=self._blocked(verdict))
            request = self._request(tool, assessment, verdict, context)
            if clearance := self._clear(request, verdict, context):
                note = f"{note} {self._tell(request, clearance)}".lstrip()
            else:
                decision = self._approvals.request(request, context.cancel)
                if decision.choice == "deny":
                    return Permission(args=args, refusal=self._refused(decision))
                if decision.choice == "edit":
                    edited = _with_text(args, assessment.command or assessment.code, decision.message)
                    if edited is None:
                        return Permission(args=args, refusal=self._refused(ApprovalDecision(choice="deny")))
                    args = edited
                    what = "command" if assessment.command else "code"
                    note = f"The person changed the {what} before it ran, to: {decision.message}"
                    continue
                if decision.choice == "always":
                    self._remember(verdict, decision, context_cwd(assessment, context))
            now = tool.assess(args, context)
            if now != assessment:
                continue
            # Time went by: the mode or the rules may have become stricter than what was asked about.
            verdict = self._verdict(tool, now, context)
            if verdict.verdict in BLOCKED:
                return Permission(args=args, refusal=self._blocked(verdict))
            return _permission(args, note, now, verdict, context)
        return Permission(args=args, refusal=failure("What this call would do kept changing, so it did not run."))

    def _blocked(self, verdict: Verdict) -> dict[str, Any]:
        why = "; ".join(verdict.reasons) or "a rule forbids it"
        return failure(self._words[verdict.verdict].format(why=why), denied_by="rule")

    def _refused(self, decision: ApprovalDecision) -> dict[str, Any]:
        message = f" They said: {decision.message}" if decision.message else ""
        return failure(f"{self._words[decision.by]}{message}", denied_by=decision.by)

    def _remember(self, verdict: Verdict, decision: ApprovalDecision, cwd: str) -> None:
        """Keep the rules of an "always"; what was approved runs also when they cannot be stored."""
        try:
            self._gate.remember(verdict.always_rules, decision.scope, cwd)
        except ConfigError as error:
            text = f"The rule holds for this session only. {error.message}"
            self._emit(Notice(level="warning", text=text, hint=error.hint, kind="approval"))

    def _clear(self, request: ApprovalRequest, verdict: Verdict, context: CallContext) -> Clearance | None:
        """Ask for a second opinion where the mode wants one and no person has spoken yet."""
        opinion = self._second_opinion
        if opinion is None or self._gate.mode != "smart" or request.action == "tool" or verdict.needs_person:
            return None
        if self._approvals.known_answer(request) is not None:
            return None
        return opinion.clear(request, context.cancel)

    def _tell(self, request: ApprovalRequest, clearance: Clearance) -> str:
        """Show that a call was cleared; returns the note that stays with its result."""
        self._emit(
            Notice(
                level="info",
                text=f"{clearance.model} cleared this without asking: {request.text}",
                hint=f"{clearance.why} (/approvals ask asks you instead)",
                kind="approval",
            )
        )
        return f"Flagged ({'; '.join(request.reasons)}) and cleared by {clearance.model}: {clearance.why}"

    def _verdict(self, tool: Tool, assessment: Assessment, context: CallContext) -> Verdict:
        place = {"cwd": context_cwd(assessment, context), "workspace": str(context.workspace)}
        verdicts = []
        if assessment.command:
            verdicts.append(self._gate.judge_command(assessment.command, **place))
        if assessment.code:
            verdicts.append(self._gate.judge_code(assessment.code, **place))
        if assessment.paths:
            paths = [(path, use.kind) for use in assessment.paths for path in _spellings(use, place["cwd"])]
            verdicts.append(self._gate.judge_paths(paths, diff=assessment.diff, **place))
        if assessment.sends and self._gate.mode == "strict":
            verdicts.append(Verdict(verdict="ask", reasons=(SENDS,)))
        if not verdicts:
            if assessment.read_only or self._gate.mode == "off":
                return Verdict(verdict="allow")
            reasons = (f"{tool.name} does not say what it will change",)
            return Verdict(verdict="plan" if self._gate.mode == "plan" else "ask", reasons=reasons)
        return max(verdicts, key=lambda verdict: STRICTNESS.index(verdict.verdict))

    def _request(self, tool: Tool, assessment: Assessment, verdict: Verdict, context: CallContext) -> ApprovalRequest:
        return ApprovalRequest(
            request_id=new_request_id(),
            call_ids=(context.card_id,),
            tool=tool.name,
            action=_action(assessment),
            text=_text(tool, assessment),
            reasons=verdict.reasons,
            parts=verdict.parts,
            touched=verdict.touched,
            diff=assessment.diff,
            cwd=context_cwd(assessment, context),
            agent_id=self._agent_id,
            within=context.within,
            always_rules=verdict.always_rules if verdict.always else (),
            can_edit=assessment.is_editable,
            deadline_s=self._deadline_s(),
        )


def _permission(
    args: Mapping[str, Any], note: str, assessment: Assessment, verdict: Verdict, context: CallContext
) -> Permission:
    cwd = context_cwd(assessment, context)
    writes = [use for use in assessment.paths if use.kind != "read"]
    return Permission(
        args=args,
        note=note,
        is_read=_is_read(assessment),
        writes=tuple(use.real or os.path.normpath(os.path.join(cwd, use.path)) for use in writes),  # noqa: PTH118
        is_command=bool(assessment.command or assessment.code) and not verdict.changes_nothing,
    )


def _spellings(use: PathUse, cwd: str) -> list[str]:
    """Return a path as written and, when links lead it elsewhere, as the tool found it: that is where it will go."""
    led = use.real and use.real != os.path.normpath(os.path.join(cwd, use.path))  # noqa: PTH118
    return [use.path, use.real] if led else [use.path]


def context_cwd(assessment: Assessment, context: CallContext) -> str:
    """Return the folder that a call starts in."""
    return assessment.cwd or str(context.workspace)


def _is_read(assessment: Assessment) -> bool:
    if assessment.read_only:
        return True
    return (
        not (assessment.command or assessment.code)
        and bool(assessment.paths)
        and all(use.kind == "read" for use in assessment.paths)
    )


def _text(tool: Tool, assessment: Assessment) -> str:
    paths = "\n".join(use.path for use in assessment.paths)
    return assessment.command or assessment.code or paths or "\n".join(assessment.sends) or tool.name


def _action(assessment: Assessment) -> Literal["command", "code", "edit", "read", "send", "tool"]:
    if assessment.command or assessment.code:
        return "command" if assessment.command else "code"
    if not assessment.paths:
        return "send" if assessment.sends else "tool"
    return "read" if all(use.kind == "read" for use in assessment.paths) else "edit"


def _with_text(args: Mapping[str, Any], old: str, new: str) -> dict[str, Any] | None:
    """Return the arguments with the command or code replaced; None when it is not an argument of its own."""
    name = next((name for name in ("command", "code", *args) if args.get(name) == old), None)
    return {**args, name: new} if old and name is not None else None
