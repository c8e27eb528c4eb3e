"""Hundreds of commands with the verdict of each mode; the data is ``corpus.tsv``."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from support.gate_alarms import MODES, alarms, everyday_commands, make_project

ROWS = [
    line.split("\t", 3)
    for line in (Path(__file__).parent / "corpus.tsv").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
]
RULES = (
    "git status",
    "git log",
    "git diff",
    "git add",
    "git commit",
    "ls",
    "cat",
    "rg",
    "grep",
    "echo",
    "head",
    "tail",
    "sort",
    "wc",
    "npm test",
    "pytest",
    "python -m pytest",
    "cargo test",
    "mkdir",
)


def _decode(text: str) -> str:
    return re.sub(r"\\(.)", lambda match: {"n": "\n", "t": "\t"}.get(match[1], match[1]), text)


@pytest.mark.parametrize("mode", ["ask", "strict", "off"])
def test_every_command_of_the_corpus_gets_its_verdict(mode, make_gate, workspace):
    column = ("ask", "strict", "off").index(mode)
    allow = RULES if mode == "strict" else ()
    gate = make_gate(mode=mode, allow=allow, deny=("git push --force",), deny_paths=("**/.env.local",))
    wrong = []
    for row in ROWS:
        command = _decode(row[3])
        verdict = gate.judge_command(command, cwd=str(workspace))
        if verdict.verdict != row[column]:
            wrong.append((command, row[column], verdict.verdict, verdict.reasons[:2]))
    assert not wrong


def test_the_corpus_is_large_and_has_a_harmless_twin_for_every_kind_of_danger():
    harmless = sum(row[0] == "allow" for row in ROWS)
    assert len(ROWS) >= 1900
    assert harmless >= 600
    assert len({row[3] for row in ROWS}) == len(ROWS)


@pytest.mark.parametrize(("mode", "most"), [("ask", 2), ("strict", 35)])
def test_everyday_commands_hardly_ever_ask(mode, most, tmp_path):
    asking = alarms(mode, MODES[mode], make_project(tmp_path / "project"))
    assert 100 * len(asking) / len(everyday_commands()) <= most, asking
