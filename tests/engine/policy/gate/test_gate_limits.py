"""Limits: hostile texts are answered, globs are bounded and expand as bash does."""

from __future__ import annotations

import os
import subprocess

import pytest

from hermes_tui.engine.policy.gate import globs, parse
from hermes_tui.engine.policy.gate.globs import TooManyError, expand_glob

HOSTILE = {
    "commands": "a;" * 100_000,
    "brackets": "(" * 65_000,
    "square brackets": "[" * 60_000,
    "quotes": "'\"" * 32_000,
    "substitutions": "$(" * 32_000,
    "open heredocs": "a <<E " * 5_000,
    "braces": "echo " + "{a,b}" * 5_000,
    "backticks": "`a`" * 10_000,
    "branches": "if a; then " * 300 + "b" + "; fi" * 300,
    "conditions": "a && " * 5_000 + "b",
    "many globs": "ls " + "/*/*/* " * 5_000,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_text_is_asked_about(make_gate, workspace, text):
    verdict = make_gate(mode="ask").judge_command(text, cwd=str(workspace))
    assert verdict.verdict == "ask"
    assert "cannot be read safely" in verdict.reasons[0]
    assert not verdict.always


@pytest.mark.parametrize(("pauses", "verdict"), [(1, "allow"), (2, "ask")])
def test_a_short_command_is_read_again_when_a_pause_took_its_time(
    make_gate, workspace, monkeypatch, pauses: int, verdict: str
):
    """A pause of the interpreter cannot be had on order, so the thread's clock jumps between two looks at it."""
    jumps = iter([0.0, 1.0] * pauses)
    gate = make_gate(mode="ask")
    gate.judge_command("true", cwd=str(workspace))
    monkeypatch.setattr(parse.time, "thread_time", lambda: next(jumps, 1.0))
    assert gate.judge_command("ls", cwd=str(workspace)).verdict == verdict


def test_what_was_found_before_the_limit_still_counts(make_gate, workspace):
    text = "rm -rf /; ls " + "/*/*/* " * 300
    assert make_gate().judge_command(text, cwd=str(workspace)).verdict == "never"


@pytest.mark.parametrize(
    ("command", "verdict"),
    [
        ("rm -rf /; a )", "never"),
        ("rm -rf / \x1b", "never"),
        ("rm -rf /;" + "a;" * 2000, "never"),
        ("g'it' push; 'open", "deny"),
        ("ls )", "allow"),
    ],
)
def test_mode_off_still_finds_what_is_blocked_in_unreadable_text(make_gate, workspace, command, verdict):
    gate = make_gate(mode="off", deny=("git push",))
    assert gate.judge_command(command, cwd=str(workspace)).verdict == verdict


def test_a_long_file_written_by_heredoc_is_no_reason_to_ask(make_gate, workspace):
    body = "some ordinary line of text with 'quotes' and $dollars\n" * 1_000
    verdict = make_gate().judge_command(f"cat > new.txt <<'EOF'\n{body}EOF", cwd=str(workspace))
    assert verdict.verdict == "allow"


@pytest.mark.parametrize(
    "pattern",
    ["*", ".*", "a*", "*/b", "s?b/*", "[ab]*", "[!a]*", "[^a]*", "**/b", "sub/../a*", "none*", "a[*]", "./a*"],
)
def test_globs_expand_as_in_bash(tmp_path, pattern):
    for name in ("a1", "a2", "b", ".hidden", "a*", "sub/b", "sub/c", "sub/.d"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    script = f"shopt -s nullglob; for f in {pattern}; do printf '%s\\n' \"$f\"; done"
    done = subprocess.run(["bash", "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True)
    expected = {os.path.normpath(tmp_path / line) for line in done.stdout.splitlines()} - {
        str(tmp_path / "."),
        str(tmp_path / ".."),
    }
    assert {os.path.normpath(path) for path in expand_glob(pattern, str(tmp_path), lambda: None)} == expected


def test_a_glob_over_too_many_files_is_unknown(tmp_path, monkeypatch):
    monkeypatch.setattr(globs, "MAX_SEEN", 3)  # thousands of files would be slow to make
    for i in range(5):
        (tmp_path / str(i)).write_text("")
    with pytest.raises(TooManyError):
        expand_glob("*", str(tmp_path), lambda: None)
