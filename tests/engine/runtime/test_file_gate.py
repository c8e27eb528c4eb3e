"""The file tools under the real gate: protected places, links, other spellings, shown diffs, deletions."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.scripted import Bench, bench, call, say, start

from hermes_tui.engine.config.settings import ApprovalSettings
from hermes_tui.engine.policy.gate.gate import ShellGate
from hermes_tui.engine.types.events import ApprovalRequested, Event
from hermes_tui.engine.types.requests import ApprovalDecision, ApprovalRequest
from hermes_tui.tools.base import Assessment, PathUse
from hermes_tui.tools.registry import ToolRegistry, load_builtin_tools


class Desk:
    """A workspace with a home and a config folder beside it, real tools, and a person who answers."""

    def __init__(self, root: Path, **approvals: Any) -> None:
        self.work, self.home, self.config = root / "work", root / "home", root / "config"
        for folder in (self.work, self.home, self.config):
            folder.mkdir()
        subprocess.run(["git", "init", "-q", str(self.work)], check=True)
        (self.work / "notes.md").write_text("one\ntwo\n")
        self.gate = ShellGate(ApprovalSettings(**approvals), home=self.home, protected=(self.config,))
        self.requests: list[ApprovalRequest] = []
        self.before_answer: Callable[[], object] = lambda: None
        self.choice = "once"

    def run(
        self, name: str, args: dict[str, Any], registry: ToolRegistry | None = None
    ) -> tuple[Bench, dict[str, Any]]:
        """Let the model make one call; returns its result."""
        made = bench(
            [call((name, json.dumps(args))), say("ok")],
            self.work,
            gate=self.gate,  # type: ignore[arg-type]
            registry=registry or load_builtin_tools(),
            parts={"env": {"HOME": str(self.home), "PATH": "/usr/bin:/bin"}},
        )

        def answer(event: Event) -> None:
            if isinstance(event, ApprovalRequested):
                self.requests.append(event.request)
                self.before_answer()
                decision = ApprovalDecision(choice=self.choice)  # type: ignore[arg-type]
                start(lambda: made.agent.approvals.resolve(event.request.request_id, decision))

        made.agent.approvals.attach_surface()
        made.agent.hub.subscribe(answer)
        made.agent.chat("go")
        made.agent.close()
        result: dict[str, Any] = json.loads(str(next(row["content"] for row in made.rows() if row["role"] == "tool")))
        return made, result


PROTECTED = (
    "{config}/settings.toml",
    "{config}/trust.json",
    "{config}/hooks/new.py",
    ".hermes/config.toml",
    ".hermes/hooks/x.sh",
    ".mcp.json",
    ".git/config",
    ".git/hooks/pre-commit",
    ".vscode/tasks.json",
    ".GIT/config",
    "sub/../.git/./config",
    "~/.bashrc",
    "~/.ssh/authorized_keys",
    "../outside.txt",
)


@pytest.mark.parametrize("mode", ["ask", "strict", "smart"])
@pytest.mark.parametrize("path", PROTECTED)
def test_protected_places_ask_also_when_they_are_absent(path: str, mode: str, tmp_path: Path) -> None:
    desk = Desk(tmp_path, mode=mode)
    desk.choice = "deny"
    written = path.format(config=desk.config)
    _, result = desk.run("write_file", {"path": written, "content": "x"})
    assert result["denied_by"] == "user" and len(desk.requests) == 1
    assert not (desk.work / ".mcp.json").exists() and not list(desk.config.iterdir())


@pytest.mark.parametrize(
    "spelling", ["Secret", "secret/", "secret/.", "SECRET/x", "./secret/x", "se\u0301cret/x", "a/../secret/x"]
)
def test_a_denied_folder_is_denied_in_every_spelling(spelling: str, tmp_path: Path) -> None:
    name = "s\u00e9cret" if "\u0301" in spelling else "secret"
    desk = Desk(tmp_path, deny_paths=(name,))
    for tool, args in (("read_file", {"path": spelling}), ("write_file", {"path": spelling, "content": "x"})):
        _, result = desk.run(tool, args)
        assert "rules" in result["error"] and desk.requests == []


def test_a_file_below_a_linked_folder_is_judged_where_it_lies(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    (tmp_path / "beyond").mkdir()
    (desk.work / "link").symlink_to(tmp_path / "beyond")
    desk.choice = "deny"
    _, result = desk.run("write_file", {"path": "link/f", "content": "x"})
    assert result["denied_by"] == "user" and "outside the workspace" in " ".join(desk.requests[0].reasons)
    assert not list((tmp_path / "beyond").iterdir())


def test_what_the_tool_found_is_judged_even_if_the_link_points_inside_again(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    registry = ToolRegistry()
    registry.register(
        "put",
        {"description": "", "parameters": {"type": "object"}},
        lambda args, context: {"ok": True},
        toolset="t",
        assess=lambda args, context: Assessment(paths=(PathUse("notes.md", "write", str(tmp_path / "beyond" / "f")),)),
    )
    desk.choice = "deny"
    _, result = desk.run("put", {}, registry)
    assert result["denied_by"] == "user"


def test_edits_are_shown_as_a_diff_when_the_person_wants_that(tmp_path: Path) -> None:
    desk = Desk(tmp_path, edits="ask")
    _, result = desk.run("patch", {"path": "notes.md", "old_string": "two", "new_string": "2"})
    (request,) = desk.requests
    assert result["ok"] and request.action == "edit" and "-two\n+2\n" in request.diff
    assert (desk.work / "notes.md").read_text() == "one\n2\n"


def test_a_file_that_changes_while_its_diff_is_shown_is_shown_again(tmp_path: Path) -> None:
    desk = Desk(tmp_path, edits="ask")
    notes = desk.work / "notes.md"
    desk.before_answer = lambda: notes.write_text("zero\none\ntwo\n")
    _, result = desk.run("patch", {"path": "notes.md", "old_string": "two", "new_string": "2"})
    assert [" zero\n" in request.diff for request in desk.requests] == [False, True]
    assert result["ok"] and notes.read_text() == "zero\none\n2\n"


def test_a_deletion_shows_what_would_be_lost(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    (desk.work / "tracked.md").write_text("x")
    subprocess.run(["git", "-C", str(desk.work), "add", "tracked.md"], check=True)
    desk.choice = "deny"
    for name in ("notes.md", "tracked.md"):
        desk.run("patch", {"patch": f"*** Begin Patch\n*** Delete File: {name}\n*** End Patch"})
    build = desk.work / "build"
    build.mkdir()
    for number in range(3):
        (build / str(number)).write_bytes(b"x" * 1000)
    desk.run("terminal", {"command": "rm -r build"})
    notes = [request.touched[0].note for request in desk.requests]
    assert notes == [
        "1 file, 8 B, not tracked by git",
        "1 file, 1 B, tracked by git",
        "3 files, 3.0 KB, not tracked by git",
    ]


def test_a_refusal_holds_for_the_command_in_the_background_too(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    desk.choice = "deny"
    made = bench(
        [
            call(("terminal", '{"command":"rm -r src"}')),
            call(("terminal", '{"command":"rm -r src","timeout_s":5}'), first_id=2),
            say("ok"),
        ],
        desk.work,
        gate=desk.gate,  # type: ignore[arg-type]
        registry=load_builtin_tools(),
    )

    def answer(event: Event) -> None:
        if isinstance(event, ApprovalRequested):
            desk.requests.append(event.request)
            decision = ApprovalDecision(choice="deny")
            start(lambda: made.agent.approvals.resolve(event.request.request_id, decision))

    made.agent.approvals.attach_surface()
    made.agent.hub.subscribe(answer)
    made.agent.chat("go")
    made.agent.close()
    assert len(desk.requests) == 1
