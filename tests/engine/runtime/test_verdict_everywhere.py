"""The verdict that the gate lists is the one that is enforced: every tier, in every mode, at every depth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.scripted import NO_TITLE, ScriptedClient, bench, call, echo_tools, say, start

from hermes_tui.engine.config.settings import ApprovalSettings
from hermes_tui.engine.policy.gate.gate import ShellGate
from hermes_tui.engine.types.events import ApprovalRequested, Event
from hermes_tui.engine.types.requests import ApprovalDecision
from hermes_tui.tools import delegate
from hermes_tui.tools.registry import ToolRegistry

TIERS = {
    "allow": "cat notes.md",
    "allow by rule": "pytest -q",
    "writes": "mkdir out",
    "danger": "rm -r build",
    "deny": "git push origin main",
    "deny over allow": "make deploy",
    "never": "rm -rf /",
    "unreadable": "rm -r 'build",
}
SETTINGS: dict[str, Any] = {"allow": ("pytest", "make"), "deny": ("git push", "make deploy")}


def _tools() -> ToolRegistry:
    registry = echo_tools()
    registry.register(
        "delegate_task", delegate.SCHEMA, delegate.run, toolset="delegate", needs="delegation", is_bounded=False
    )
    return registry


def _run(folder: Path, mode: str, command: str, depth: str, choice: str) -> tuple[dict[str, Any], int, str]:
    """Make the call; returns its result, how often a person was asked, and what the gate itself says."""
    gate = ShellGate(ApprovalSettings(mode=mode, **SETTINGS), home=folder / "home")  # type: ignore[arg-type]
    verdict = gate.judge_command(command, cwd=str(folder)).verdict
    asks = call(("run", json.dumps({"command": command})))
    clients = {"parent": ScriptedClient([asks, say("done")])}
    if depth == "subagent":
        clients = {
            "parent": ScriptedClient([call(("delegate_task", '{"goal": "task below"}')), say("done")]),
            "child": ScriptedClient([asks, say("done")]),
        }

    class Clients:
        def stream(self, request: Any, control: Any) -> Any:
            below = "task below" in str(request.messages[1]["content"])
            return clients["child" if below else "parent"].stream(request, control)

    parts = {"client_for": lambda mode: Clients()}
    made = bench([], folder, registry=_tools(), gate=gate, settings=NO_TITLE, parts=parts)  # type: ignore[arg-type]
    requests: list[str] = []

    def answer(event: Event) -> None:
        if isinstance(event, ApprovalRequested):
            requests.append(event.request.request_id)
            decision = ApprovalDecision(choice=choice)  # type: ignore[arg-type]
            start(lambda: made.agent.approvals.resolve(event.request.request_id, decision))

    if depth != "headless":
        made.agent.approvals.attach_surface()
        made.agent.hub.subscribe(answer)
    result = made.agent.run_conversation("go")
    assert result["completed"], "no question is left waiting"
    client = clients.get("child", clients["parent"])
    rows = [message for message in client.requests[-1].messages if message["role"] == "tool"]
    found: dict[str, Any] = json.loads(str(rows[0]["content"]))
    return found, len(requests), verdict


@pytest.mark.parametrize("depth", ["top", "subagent", "headless"])
@pytest.mark.parametrize("mode", ["ask", "strict", "plan", "off"])
def test_what_is_listed_is_what_is_done(tmp_path: Path, mode: str, depth: str) -> None:
    for number, (tier, command) in enumerate(TIERS.items()):
        for choice in ("once", "deny"):
            folder = tmp_path / f"{number}{choice}"
            folder.mkdir()
            result, asked, verdict = _run(folder, mode, command, depth, choice)
            is_asked = verdict == "ask" and depth != "headless"
            runs = verdict == "allow" or (is_asked and choice == "once")
            assert (result["ok"], asked) == (runs, int(is_asked)), (tier, choice, verdict, result)


@pytest.mark.parametrize(
    ("mode", "verdicts"),
    [
        ("ask", "allow allow allow ask deny deny never ask"),
        ("strict", "allow allow ask ask deny deny never ask"),
        ("plan", "allow plan plan plan deny deny never plan"),
        ("off", "allow allow allow allow deny deny never allow"),
    ],
)
def test_the_tiers_are_what_they_are_called(tmp_path: Path, mode: str, verdicts: str) -> None:
    gate = ShellGate(ApprovalSettings(mode=mode, **SETTINGS), home=tmp_path / "home")  # type: ignore[arg-type]
    found = [gate.judge_command(command, cwd=str(tmp_path)).verdict for command in TIERS.values()]
    assert found == verdicts.split()
