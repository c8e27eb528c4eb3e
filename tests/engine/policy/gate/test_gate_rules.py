"""Allow and deny rules, modes, and what "always" offers."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_tui.engine.config.settings import ApprovalSettings, ProjectRules
from hermes_tui.engine.policy.allowlist import parse_rule
from hermes_tui.engine.policy.gate.gate import ShellGate
from hermes_tui.engine.types.errors import ConfigError


def judge(gate: ShellGate, command: str, workspace: Path) -> str:
    return gate.judge_command(command, cwd=str(workspace)).verdict


@pytest.mark.parametrize(
    ("rule", "command", "covered"),
    [
        ("git status", "git status", True),
        ("git status", "git status -sb", True),
        ("git status", "git --no-pager status", True),
        ("git status", "/usr/bin/git status", True),
        ("git status", "git statusx", False),
        ("git status", "./git status", False),
        ("git status", "git status; touch x", False),
        ("git status", "git -c core.pager=x status", False),
        ("git commit", "git commit -m 'a; b'", True),
        ("git commit", "git commit --amend", False),
        ("git commit --amend", "git commit --amend -m x", True),
        ("git stash", "git stash drop", False),
        ("git stash drop", "git stash drop", True),
        ("mkdir", "mkdir -p out", True),
        ("mkdir", "mkdir ../out", False),
        ("mkdir", "mkdir .git/hooks", False),
        ("mkdir", 'mkdir "$x"', False),
        ("touch", "touch notes.md > src/app.py", False),
        ("rm", "rm notes.md", True),
        ("rm", "rm -r src", False),
        ("rm -r", "rm -r src", True),
        ("rm -r", "rm -rf src", False),
        ("rm -r", "rm -r /", False),
        ("npm test", "npm test --silent", True),
        ("npm test", "npm test --node-options=--require=./x", False),
        ("npm run build", "npm run build", True),
        ("npm run build", "npm run builds", False),
        ("python -m pytest", "python3 -m pytest -q", True),
        ("python -m pytest", "python -m pytest -p evil", False),
        ("python -m pytest", "python -m unittest", False),
        ("python", "python script.py", True),
        ("python", "python -c 'import os'", False),
        ("make lint", "make lint", True),
        ("make lint", "make lint deploy", True),
        ("ruff", "ruff check .", True),
        ("ruff", "ruff check --fix .", False),
        ("ruff check --fix", "ruff check . --fix", True),
        ("ls", "LD_PRELOAD=x ls", False),
        ("touch", "cd src && touch a", True),
        ("touch", "sh -c 'touch a'", False),
        ("touch", "nice -n 5 touch a", True),
    ],
)
def test_an_allow_rule_covers_its_command_and_nothing_more(make_gate, workspace, rule, command, covered):
    gate = make_gate(mode="strict", allow=(rule,))
    assert (judge(gate, command, workspace) == "allow") is covered


@pytest.mark.parametrize(
    "command",
    [
        "git push",
        "git push origin HEAD",
        "git -C sub push",
        "git --no-pager push",
        "/usr/bin/git push",
        "g\\it pu''sh",
        "$'\\x67it' push",
        "env -i A=1 git push",
        "nice -n3 nohup git push",
        "timeout -k 2 9 git push",
        "command git push",
        "exec git push",
        "xargs git push",
        "sudo -u bob git push",
        "sh -c 'git push'",
        'bash -lc "cd x && git push"',
        "eval 'eval \"git push\"'",
        "echo $(git push)",
        "cat <(git push)",
        "f() { git push; }; f",
        "trap 'git push' EXIT",
        "find . -exec git push \\;",
        "watch -n 5 git push",
        "if true; then git push; fi",
        "ls\n\n\ngit push",
        "time git push",
        "bash <<'E'\ngit push\nE",
        "git -c alias.x='!git push' x",
        "coproc git push",
        "git submodule foreach 'git push'",
        "ssh host git push",
        "docker exec c git push",
        "npx git push",
        "flock lock git push",
    ],
)
def test_a_deny_rule_holds_in_every_spelling_and_in_mode_off(make_gate, workspace, command):
    assert judge(make_gate(mode="off", deny=("git push",)), command, workspace) == "deny"


@pytest.mark.parametrize(
    "command", ["rm -r x", "rm -rf x", "rm -fr x", "rm x -r", "rm -R x", "rm --recursive x", "rm --recurs x"]
)
def test_an_option_in_a_deny_rule_matches_in_every_spelling(make_gate, workspace, command):
    assert judge(make_gate(mode="off", deny=("rm -r",)), command, workspace) == "deny"


@pytest.mark.parametrize(
    "command", ["rm x", "git log push", "git commit -m 'git push'", "echo git push", "git branch push"]
)
def test_a_deny_rule_leaves_other_commands_alone(make_gate, workspace, command):
    assert judge(make_gate(deny=("rm -r", "git push")), command, workspace) == "allow"


def test_a_rule_without_words_matches_nothing(make_gate, workspace):
    assert parse_rule("") is None
    assert parse_rule("   ") is None
    assert parse_rule("'open") is None
    assert judge(make_gate(mode="strict", allow=("", "'")), "touch x", workspace) == "ask"


def test_never_beats_deny_beats_ask_beats_allow(make_gate, workspace):
    gate = make_gate(mode="strict", allow=("ls",), deny=("git push",))
    assert judge(gate, "ls", workspace) == "allow"
    assert judge(gate, "ls; touch x", workspace) == "ask"
    assert judge(gate, "ls; touch x; git push", workspace) == "deny"
    assert judge(gate, "ls; touch x; git push; rm -rf /", workspace) == "never"


@pytest.mark.parametrize(
    ("command", "verdicts"),
    [
        ("cat notes.md", ("allow", "allow", "allow", "allow")),
        ("touch x", ("allow", "ask", "allow", "allow")),
        ("frobnicate", ("allow", "ask", "allow", "allow")),
        ("rm -rf src", ("ask", "ask", "ask", "allow")),
        ("echo 'open", ("ask", "ask", "ask", "allow")),
        ("rm -rf /", ("never", "never", "never", "never")),
    ],
)
def test_each_mode_asks_for_its_own(make_gate, workspace, command, verdicts):
    found = tuple(judge(make_gate(mode=mode), command, workspace) for mode in ("ask", "strict", "smart", "off"))
    assert found == verdicts


def test_the_mode_can_change_and_an_unknown_one_is_refused(make_gate, workspace):
    gate = make_gate()
    gate.mode = "strict"
    assert judge(gate, "touch x", workspace) == "ask"
    gate.set_mode("off")
    assert gate.mode == "off"
    with pytest.raises(ConfigError, match="nonsense"):
        gate.set_mode("nonsense")


OFFERED = {
    "ruff check src": ("ruff check",),
    "mkdir -p out": ("mkdir",),
    "touch a b": ("touch",),
    "go vet ./...": ("go vet",),
    "git add -f x": ("git add -f",),
    "git checkout main": ("git checkout",),
    "cd src && cargo check 2>&1 | tail -n 20": ("cargo check",),
    "python -m unittest -q": ("python -m unittest",),
    "nice -n 5 frobnicate": ("frobnicate",),
    "touch a; mkdir b; touch c": ("touch", "mkdir"),
    "ruff check --fix --select E": ("ruff check --fix --select",),
}


@pytest.mark.parametrize(("command", "rules"), OFFERED.items())
def test_always_offers_a_rule_per_part(make_gate, workspace, command, rules):
    verdict = make_gate(mode="strict").judge_command(command, cwd=str(workspace))
    assert verdict.verdict == "ask"
    assert verdict.always
    assert verdict.always_rules == rules


@pytest.mark.parametrize(
    "command",
    [
        "python script.py",
        "python -c 'x'",
        "node build.js",
        "bash x.sh",
        "sh -c 'touch a'",
        "sudo touch a",
        "ssh host ls",
        "nc host 1",
        "curl http://x.test",
        "docker run x",
        "make",
        "npm run build",
        "rm notes.md",
        "rm -rf src",
        "git reset --hard",
        'touch "$x"',
        "touch x > y",
        "A=1 touch x",
        "./local",
        "xargs touch",
        "touch a; touch $(b)",
        "eval touch a",
        "touch a; echo 'open",
        f"ls{' ' * 400}; touch a",
        "ls" + "\n" * 40 + "touch a",
        "touch $'a\\nb'",
        "f() { touch a; }; f",
        "touch ../x",
        "touch .git/x",
        "kubectl get x; kubectl apply -f x",
    ],
)
def test_always_is_not_offered(make_gate, workspace, command):
    verdict = make_gate(mode="strict").judge_command(command, cwd=str(workspace))
    assert verdict.verdict == "ask"
    assert not verdict.always
    assert verdict.always_rules == ()


_WORD = st.sampled_from(
    [
        "touch",
        "mkdir",
        "cp",
        "mv",
        "ruff",
        "cargo",
        "git",
        "go",
        "black",
        "frobnicate",
        "check",
        "build",
        "status",
        "add",
        "commit",
        "a.txt",
        "src",
        "sub/x.txt",
        "-p",
        "-v",
        "--fix",
        "--force",
        "-m",
        "x y",
        "it's",
        "&",
        "--",
        "-rf",
        "rm",
        "push",
        "",
        "A=1",
    ]
)


@settings(max_examples=150, deadline=None)
@given(
    words=st.lists(_WORD, min_size=1, max_size=6),
    glue=st.sampled_from([" ; ", " && ", " | ", "\n"]),
    twice=st.booleans(),
)
def test_a_rule_that_always_offers_allows_the_very_command_and_never_more_than_its_program(words, glue, twice):
    command = shlex.join(words)
    if twice:
        command += glue + shlex.join(words[::-1])
    before = ShellGate(ApprovalSettings(mode="strict"), home="/home/me")
    verdict = before.judge_command(command, cwd="/work", workspace="/work")
    if not verdict.always:
        return
    after = ShellGate(ApprovalSettings(mode="strict", allow=verdict.always_rules), home="/home/me")
    assert after.judge_command(command, cwd="/work", workspace="/work").verdict == "allow"
    for rule in verdict.always_rules:
        assert after.judge_command(f"{rule}; rm -rf src", cwd="/work", workspace="/work").verdict == "ask"
        assert after.judge_command("unrelated-program", cwd="/work", workspace="/work").verdict == "ask"


class Store:
    def __init__(self) -> None:
        self.saved: list[tuple[tuple[str, ...], str]] = []

    def save(self, rules, folder):
        self.saved.append((tuple(rules), folder))


def test_remembered_rules_hold_at_once_and_are_stored_with_their_scope(workspace, home):
    store = Store()
    gate = ShellGate(ApprovalSettings(mode="strict"), rules_store=store, home=home)
    gate.remember(["touch"], "everywhere", str(workspace))
    gate.remember(["mkdir"], "session", str(workspace))
    assert judge(gate, "touch a; mkdir b", workspace) == "allow"
    assert store.saved == [(("touch",), "")]


def test_a_project_rule_is_stored_for_the_workspace_also_when_the_answer_came_below_it(workspace, home):
    store = Store()
    gate = ShellGate(ApprovalSettings(mode="strict"), rules_store=store, home=home)
    gate.judge_command("touch a", cwd=str(workspace / "src"), workspace=str(workspace))
    gate.remember(["touch"], "project", str(workspace / "src"))
    assert store.saved == [(("touch",), str(workspace))]


@pytest.mark.parametrize(
    ("effect", "folder", "command", "before", "after"),
    [
        ("allow", "", "touch a", "allow", "ask"),
        ("deny", "", "git push", "deny", "ask"),
        ("deny_path", "", "cat x.pem", "deny", "allow"),
        ("allow", "project", "mkdir a", "allow", "ask"),
        ("deny", "project", "npm publish", "deny", "ask"),
    ],
)
def test_a_rule_that_is_deleted_stops_at_once(effect, folder, command, before, after, workspace, home):
    projects = {str(workspace): ProjectRules(allow=("mkdir",), deny=("npm publish",))}
    rules = {"allow": ("touch", "cat"), "deny": ("git push",), "deny_paths": ("*.pem",)}
    gate = ShellGate(ApprovalSettings(mode="strict", projects=projects, **rules), home=home)
    assert judge(gate, command, workspace) == before
    rule = "*.pem" if effect == "deny_path" else command.removesuffix(" a")
    gate.forget(rule, effect, str(workspace) if folder else "")
    assert judge(gate, command, workspace) == after


def test_a_remembered_rule_that_is_deleted_stops_at_once(workspace, home):
    gate = ShellGate(ApprovalSettings(mode="strict"), home=home)
    gate.remember(["touch"], "project", str(workspace))
    gate.remember(["mkdir"], "everywhere", str(workspace))
    gate.forget("mkdir", "allow", "")
    assert judge(gate, "mkdir a", workspace) == "ask" and judge(gate, "touch a", workspace) == "allow"
    gate.forget("touch", "allow", str(workspace))
    assert judge(gate, "touch a", workspace) == "ask"


def test_a_project_rule_holds_in_its_project_only(workspace, home, tmp_path):
    other = tmp_path / "other"
    (other / ".git").mkdir(parents=True)
    gate = ShellGate(ApprovalSettings(mode="strict"), home=home)
    gate.remember(["touch"], "project", str(workspace / "src"))
    assert judge(gate, "touch a", workspace) == "allow"
    assert judge(gate, "touch a", other) == "ask"


def test_rules_of_a_project_in_the_settings_hold_below_its_folder(workspace, home, tmp_path):
    rules = ProjectRules(allow=("touch",), deny=("mkdir",))
    gate = ShellGate(ApprovalSettings(mode="strict", projects={str(workspace): rules}), home=home)
    assert judge(gate, "touch a", workspace) == "allow"
    assert judge(gate, "mkdir a", workspace) == "deny"
    assert judge(gate, "touch a", tmp_path) == "ask"


def test_rules_are_listed_with_their_hits(make_gate, workspace):
    gate = make_gate(mode="strict", allow=("touch",), deny=("git push",), deny_paths=("*.pem",))
    judge(gate, "touch a", workspace)
    judge(gate, "touch b; git push; cat x.pem", workspace)
    gate.remember(["mkdir"])
    found = {(row.rule, row.effect, row.scope): row.hits for row in gate.rules()}
    assert found == {
        ("touch", "allow", "everywhere"): 2,
        ("git push", "deny", "everywhere"): 1,
        ("*.pem", "deny_path", "everywhere"): 1,
        ("mkdir", "allow", "session"): 0,
    }
