"""Count how often the gate would ask about everyday commands.

``python tests/support/gate_alarms.py`` prints the prompts per 100 commands in mode ``ask`` and in mode ``strict`` with
a usual allow list, and which commands ask.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from hermes_tui.engine.config.settings import ApprovalSettings
from hermes_tui.engine.policy.gate.gate import ShellGate
from hermes_tui.engine.types.preferences import ApprovalMode

COMMANDS = Path(__file__).parents[1] / "engine" / "policy" / "gate" / "everyday.txt"
USUAL_RULES = (
    *("git status", "git log", "git diff", "git add", "git commit", "git stash", "git fetch", "git pull", "git switch"),
    *("npm test", "npm run build", "npm run lint", "npm ci", "npx tsc", "npx eslint", "yarn", "pnpm"),
    *("pytest", "python -m pytest", "python -m mypy", "mypy", "ruff", "uv run pytest", "pip install -e"),
    *("cargo build", "cargo test", "cargo check", "cargo clippy", "go build", "go test", "go vet", "make"),
    *("mkdir", "touch", "cp", "mv", "docker compose", "kubectl get", "gh pr"),
)
"""What somebody has allowed after some weeks of strict mode."""
MODES: Mapping[ApprovalMode, Sequence[str]] = {"ask": (), "strict": USUAL_RULES}


def everyday_commands() -> list[str]:
    """Return the commands; a heredoc is one."""
    commands: list[str] = []
    end = ""
    for line in COMMANDS.read_text("utf-8").splitlines():
        if end or (line and not line.startswith("#")):
            if end:
                commands[-1] += f"\n{line}"
            else:
                commands.append(line)
            opened = line.rpartition("<<'")[2].rstrip("'") if "<<'" in line else ""
            end = opened or ("" if line == end else end)
    return commands


def alarms(mode: ApprovalMode, rules: Sequence[str], folder: Path) -> list[str]:
    """Return the commands that are not simply allowed."""
    gate = ShellGate(ApprovalSettings(mode=mode, allow=tuple(rules)), home=folder / "home")
    return [
        command
        for command in everyday_commands()
        if gate.judge_command(command, cwd=str(folder), workspace=str(folder)).verdict != "allow"
    ]


def make_project(folder: Path) -> Path:
    """Make the files that the commands name."""
    for name in ("src/app.py", "src/util.py", "tests/test_app.py", "sub/notes.txt", "docs/Makefile", "notes.md"):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x\n")
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


def main() -> int:
    """Print the rates."""
    total = len(everyday_commands())
    with tempfile.TemporaryDirectory() as name:
        folder = make_project(Path(name) / "project")
        for mode, rules in MODES.items():
            asking = alarms(mode, rules, folder)
            with_rules = f" with {len(rules)} allow rules" if rules else ""
            print(f"{mode}{with_rules}: {100 * len(asking) / total:.1f} prompts per 100 of {total} everyday commands")
            print("".join(f"  {command}\n" for command in asking), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
