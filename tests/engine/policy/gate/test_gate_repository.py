"""A repository whose own configuration makes git run programs: nothing runs without a question, ours included."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from hermes_tui.engine.policy.gate.gate import ShellGate
from hermes_tui.engine.policy.gate.touched import describe
from hermes_tui.engine.runtime.workspace import git_branch
from hermes_tui.widgets.file_index import _list_files

MakeGate = Callable[..., ShellGate]
READS = ("git status", "git diff", "git log -p", "git -C {repo} status", "cd {repo} && git show HEAD")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


def configure(repo: Path, text: str) -> None:
    with (repo / ".git" / "config").open("a") as config:
        config.write(text)


@pytest.mark.parametrize(
    "text",
    [
        "[core]\n\tfsmonitor = ./evil.sh\n",
        "[CORE] FsMonitor=./evil.sh\n",
        "[core]\nfs\\\nmonitor = x\n[core] fsmonitor = \\\n./evil\n",
        '[diff "x"]\n\ttextconv = ./evil\n',
        '[diff "x"] command = ./evil\n',
        "[diff]\n\texternal = ./evil\n",
        '[filter "f"]\n\tclean = ./evil %f\n',
        '[filter "lfs"]\n\tprocess = git-lfs-evil\n',
        "[include]\n\tpath = ../more\n",
        '[includeIf "gitdir:~/"]\n\tpath = ../more\n',
        "[gpg]\n\tprogram = ./evil\n",
        "[pager]\n\tlog = ./evil\n",
    ],
)
def test_reading_asks_where_the_repository_names_a_program(text: str, repo: Path, make_gate: MakeGate) -> None:
    configure(repo, text)
    gate = make_gate(allow=("git status", "git diff", "git log", "git show"))
    for command in READS:
        verdict = gate.judge_command(command.format(repo=repo), cwd=str(repo))
        assert verdict.verdict == "ask" and not verdict.always, command
        assert "own configuration" in verdict.reasons[0]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[core]\n\tfsmonitor = true\n\tpager = less -R\n[user]\n\tname = [core] fsmonitor\n",
        '[filter "lfs"]\n\tclean = git-lfs clean -- %f\n\tprocess = git-lfs filter-process\n',
        "[core]\n\thooksPath = .husky\n",
        "# [core] fsmonitor = x\n; fsmonitor = x\n",
        '[remote "origin"]\n\turl = x\n[branch "main"]\n\tmerge = refs/heads/main\n',
    ],
)
def test_an_ordinary_configuration_does_not_nag(text: str, repo: Path, make_gate: MakeGate) -> None:
    configure(repo, text)
    for command in READS:
        assert make_gate().judge_command(command.format(repo=repo), cwd=str(repo)).verdict == "allow"


def test_linked_work_trees_and_bare_repositories_are_looked_into(
    repo: Path, tmp_path: Path, make_gate: MakeGate
) -> None:
    configure(repo, '[diff "x"]\n\ttextconv = ./evil\n')
    linked = tmp_path / "linked"
    (repo / ".git" / "worktrees" / "linked").mkdir(parents=True)
    (repo / ".git" / "worktrees" / "linked" / "commondir").write_text("../..\n")
    linked.mkdir()
    (linked / ".git").write_text(f"gitdir: {repo / '.git' / 'worktrees' / 'linked'}\n")
    bare = tmp_path / "bare"
    subprocess.run(["git", "init", "-q", "--bare", str(bare)], check=True)
    (bare / "config").write_text("[core]\n\tbare = true\n\tfsmonitor = ./evil\n")
    for folder in (linked, bare):
        assert make_gate().judge_command("git status", cwd=str(folder)).verdict == "ask"


def test_our_own_calls_of_git_touch_no_marker(repo: Path, tmp_path: Path, make_gate: MakeGate) -> None:
    marker, evil = tmp_path / "marker", tmp_path / "evil.sh"
    evil.write_text(f"#!/bin/sh\ntouch {marker}\n")
    evil.chmod(0o755)
    for number in range(3):
        (repo / f"{number}.txt").write_text("x")
    subprocess.run(["git", "-C", str(repo), "add", "."], check=True)
    configure(
        repo,
        f"[core]\n\tfsmonitor = {evil}\n\thooksPath = {tmp_path}\n\tpager = {evil}\n"
        f'[filter "x"]\n\tclean = {evil}\n\tsmudge = {evil}\n[diff]\n\texternal = {evil}\n',
    )
    (repo / ".gitattributes").write_text("* filter=x\n")
    assert sorted(_list_files(repo, lambda process: None))[:2] == [".gitattributes", "0.txt"]
    guard = make_gate()._guard(str(repo))
    assert "tracked by git" in describe(str(repo / "0.txt"), guard)
    git_branch(repo)
    assert not marker.exists()
    subprocess.run(["git", "-C", str(repo), "status"], check=False, capture_output=True)
    assert marker.exists(), "the marker would show it"
