"""Rules that "always" stores hold after a restart, where they should; hits are kept; deleting works everywhere."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hermes_tui.engine.config.loader import load_settings
from hermes_tui.engine.config.paths import find_paths
from hermes_tui.engine.policy.gate.gate import ShellGate
from hermes_tui.engine.policy.rule_hits import RuleHits
from hermes_tui.engine.runtime.rule_book import RuleBook
from hermes_tui.engine.types.choices import AllowRuleRow, RuleKind
from hermes_tui.engine.types.errors import ConfigError


class Run:
    """One start of the program in one home."""

    def __init__(self) -> None:
        self.book = RuleBook(find_paths(os.environ), os.environ)

    def gate(self) -> ShellGate:
        gate = self.book.new_gate(load_settings(os.environ).settings.approvals)
        gate.set_mode("strict")
        return gate


def judge(gate: ShellGate, command: str, folder: Path) -> str:
    return gate.judge_command(command, cwd=str(folder), workspace=str(folder)).verdict


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


@pytest.mark.parametrize(("scope", "elsewhere"), [("project", "ask"), ("everywhere", "allow")])
def test_a_remembered_rule_holds_at_the_next_start_in_its_scope(
    scope: str, elsewhere: str, project: Path, tmp_path: Path
) -> None:
    gate = Run().gate()
    verdict = gate.judge_command("touch a", cwd=str(project), workspace=str(project))
    gate.remember(verdict.always_rules, scope, str(project))  # type: ignore[arg-type]
    later = Run()
    assert judge(later.gate(), "touch b", project) == "allow"
    assert judge(later.gate(), "touch b", tmp_path) == elsewhere
    (row,) = later.book.rows()
    assert (row.rule, row.scope) == ("touch", str(project) if scope == "project" else "everywhere")


def test_hits_are_counted_over_sessions_and_kept(project: Path) -> None:
    first = Run()
    one, two = first.gate(), first.gate()
    one.remember(["touch"], "everywhere", str(project))
    two.remember(["touch"], "everywhere", str(project))
    judge(one, "touch a", project)
    judge(two, "touch a", project)
    assert [row.hits for row in first.book.rows()] == [2]
    first.book.save_hits()
    later = Run()
    judge(later.gate(), "touch a", project)
    assert [row.hits for row in later.book.rows()] == [3]


def test_two_processes_add_up(tmp_path: Path) -> None:
    file = tmp_path / "hits.json"
    one, two = RuleHits(file), RuleHits(file)
    one.add(["ls"])
    two.add(["ls", "rm"])
    one.save()
    two.save()
    assert (RuleHits(file).count("ls"), RuleHits(file).count("rm")) == (2, 1)
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_broken_file_of_counts_counts_from_zero(tmp_path: Path) -> None:
    file = tmp_path / "hits.json"
    file.write_text("[")
    hits = RuleHits(file)
    assert hits.count("ls") == 0
    hits.add(["ls"])
    hits.save()
    assert RuleHits(file).count("ls") == 1


def test_a_deleted_rule_is_gone_from_file_and_open_sessions(project: Path) -> None:
    run = Run()
    gate = run.gate()
    gate.remember(["touch"], "project", str(project))
    (row,) = run.book.rows()
    run.book.change(row, None)
    assert run.book.rows() == [] and judge(gate, "touch a", project) == "ask"


def test_denied_paths_are_listed_and_deleted_too(project: Path) -> None:
    paths = find_paths(os.environ)
    paths.config_dir.mkdir(parents=True)
    paths.settings_file.write_text('[approvals]\ndeny_paths = ["*.pem"]\n')
    run = Run()
    gate = run.gate()
    assert judge(gate, "cat x.pem", project) == "deny"
    (row,) = run.book.rows()
    assert (row.rule, row.kind, row.hits) == ("*.pem", "deny_path", 1)
    run.book.change(row, None)
    assert judge(gate, "cat x.pem", project) == "allow" and run.book.rows() == []


def test_rules_of_the_users_own_file_are_changed_there_and_the_file_as_it_was_is_kept(project: Path) -> None:
    paths = find_paths(os.environ)
    paths.config_dir.mkdir(parents=True)
    paths.config_file.write_text('[approvals]\nallow = ["touch"]\n')
    run = Run()
    gate = run.gate()
    (row,) = run.book.rows()
    run.book.change(row, "mkdir")
    assert judge(gate, "mkdir a", project) == "allow" and judge(gate, "touch a", project) == "ask"
    assert "mkdir" in paths.config_file.read_text()
    assert "touch" in paths.config_file.with_name("config.toml.bak").read_text()


@pytest.mark.parametrize(("kind", "text"), [("allow", ""), ("deny", "  "), ("allow", "'open"), ("deny_path", "!")])
def test_what_would_be_no_rule_is_refused(kind: RuleKind, text: str) -> None:
    with pytest.raises(ConfigError):
        Run().book.change(AllowRuleRow(rule="ls", kind=kind, scope="everywhere"), text)


def test_a_rule_that_no_file_holds_is_named() -> None:
    with pytest.raises(ConfigError, match="not stored"):
        Run().book.change(AllowRuleRow(rule="ls", kind="allow", scope="everywhere"), None)
