"""Plan mode reads and nothing else, whatever the rules allow."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hermes_tui.engine.policy.gate.explain import explain
from hermes_tui.engine.policy.gate.gate import ShellGate

MakeGate = Callable[..., ShellGate]


@pytest.mark.parametrize(
    ("command", "verdict"),
    [
        ("ls -la; git log --oneline | head -3", "allow"),
        ("rg -n main src && wc -l src/*.py", "allow"),
        ("cat /etc/hostname", "allow"),
        ("cat .env", "ask"),
        ("cat ~/.ssh/id_rsa", "ask"),
        ("mkdir out", "plan"),
        ("echo hi > out.txt", "plan"),
        ("touch /tmp/x", "plan"),
        ("pytest", "plan"),
        ("make", "plan"),
        ("git commit -m x", "plan"),
        ("rm -rf build", "plan"),
        ("f() { echo hi; }; f", "plan"),
        ("$X y", "plan"),
        ("echo 'unclosed", "plan"),
        ("sh -c 'touch x'", "plan"),
        ("cat .env; touch x", "plan"),
        ("curl http://x.example", "plan"),
        ("git push; touch x", "deny"),
        ("rm -rf / ; touch x", "never"),
    ],
)
def test_plan_mode_only_reads(command: str, verdict: str, workspace: Path, make_gate: MakeGate) -> None:
    gate = make_gate(mode="plan", allow=("mkdir", "pytest", "touch", "git commit"), deny=("git push",))
    assert gate.judge_command(command, cwd=str(workspace)).verdict == verdict


@pytest.mark.parametrize(
    ("path", "kind", "verdict"),
    [
        ("notes.md", "read", "allow"),
        ("/etc/hostname", "read", "allow"),
        (".env", "read", "ask"),
        ("notes.md", "write", "plan"),
        ("new/file", "write", "plan"),
        ("notes.md", "delete", "plan"),
        ("/tmp/x", "write", "plan"),
        ("secret.txt", "write", "deny"),
        ("secret.txt", "read", "deny"),
    ],
)
def test_file_tools_only_read_too(path: str, kind: str, verdict: str, workspace: Path, make_gate: MakeGate) -> None:
    gate = make_gate(mode="plan", deny_paths=("secret.txt",))
    assert gate.judge_paths([(path, kind)], cwd=str(workspace)).verdict == verdict


def test_the_refusal_says_what_would_change(workspace: Path, make_gate: MakeGate) -> None:
    gate = make_gate(mode="plan")
    assert gate.judge_paths([("notes.md", "write")], cwd=str(workspace)).reasons == ("changes notes.md",)
    assert "deletes" in " ".join(gate.judge_command("rm -r src", cwd=str(workspace)).reasons)


def test_machines_are_told_that_it_is_denied(workspace: Path, make_gate: MakeGate) -> None:
    answer = explain(make_gate(mode="plan"), "1", "touch x", str(workspace))
    assert answer["verdict"] == "deny" and answer["always"] is False


def test_leaving_plan_mode_brings_the_rules_back(workspace: Path, make_gate: MakeGate) -> None:
    gate = make_gate(mode="plan", allow=("mkdir",))
    gate.set_mode("strict")
    assert gate.judge_command("mkdir out", cwd=str(workspace)).verdict == "allow"
