"""The system prompt's layers and the project file."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from hermes_tui.engine.context.project_files import MAX_CHARS, NAMES, cap, find_project_file, reveal_hidden
from hermes_tui.engine.context.prompt import DEFAULT_IDENTITY, PromptParts, build_system_prompt


def parts(tmp_path: Path, **fields: object) -> PromptParts:
    return PromptParts(**{"workspace": tmp_path, "now_s": time.mktime((2026, 5, 4, 3, 2, 1, 0, 0, -1)), **fields})  # type: ignore[arg-type]


def test_layers_come_in_order_stable_ones_first(tmp_path: Path) -> None:
    (tmp_path / "AGENTS.md").write_text("Use tabs.")
    prompt = build_system_prompt(
        parts(
            tmp_path,
            soul="I am Ada.",
            tool_names=["terminal", "todo"],
            system_message="Speak Latin.",
            project=find_project_file(tmp_path),
            platform="tui",
        )
    )
    marks = ["I am Ada.", "# Tools", "Speak Latin.", "Use tabs.", "# Environment", "2026-05-04", "full-screen"]
    places = [prompt.index(mark) for mark in marks]
    assert places == sorted(places) and str(tmp_path) in prompt and DEFAULT_IDENTITY not in prompt


def test_only_enabled_tools_are_mentioned(tmp_path: Path) -> None:
    prompt = build_system_prompt(parts(tmp_path, tool_names=["todo"]))
    assert "`todo`" in prompt and "`terminal`" not in prompt
    assert "# Tools" not in build_system_prompt(parts(tmp_path))


def test_the_default_identity_stands_in_for_a_blank_one(tmp_path: Path) -> None:
    assert build_system_prompt(parts(tmp_path, soul=" \n")).startswith(DEFAULT_IDENTITY)


def test_it_does_not_change_within_a_day(tmp_path: Path) -> None:
    first, later = parts(tmp_path), parts(tmp_path, now_s=time.mktime((2026, 5, 4, 23, 0, 0, 0, 0, -1)))
    assert build_system_prompt(first) == build_system_prompt(later)


@pytest.mark.parametrize("place", range(len(NAMES)))
def test_the_first_known_name_wins(place: int, tmp_path: Path) -> None:
    for name in NAMES[place:]:
        (tmp_path / name).write_text(f"from {name}")
    found = find_project_file(tmp_path)
    assert found is not None and found.text == f"from {NAMES[place]}"


def test_it_is_looked_for_up_to_the_git_root_and_no_further(tmp_path: Path) -> None:
    inner = tmp_path / "repo" / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "AGENTS.md").write_text("outside")
    assert find_project_file(inner) is None
    (tmp_path / "repo" / ".git").mkdir()
    assert find_project_file(inner) is None
    (tmp_path / "repo" / "AGENTS.md").write_text("root")
    assert find_project_file(inner).text == "root"  # type: ignore[union-attr]
    (inner / "AGENTS.md").write_text("near")
    assert find_project_file(inner).text == "near"  # type: ignore[union-attr]


def test_a_blank_or_unreadable_file_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / ".hermes.md").write_text("  ")
    (tmp_path / "AGENTS.md").mkdir()
    (tmp_path / "CLAUDE.md").write_bytes(b"caf\xe9")
    assert find_project_file(tmp_path).text == "caf�"  # type: ignore[union-attr]


def test_a_long_file_keeps_head_and_tail() -> None:
    text = "a" * MAX_CHARS + "b" * MAX_CHARS
    short = cap(text)
    assert short.startswith("a" * 14_000) and short.endswith("b" * 4_000) and "22000 characters left out" in short
    assert cap("short") == "short"


def test_invisible_characters_are_written_out_and_counted(tmp_path: Path) -> None:
    hidden = "".join(chr(0xE0000 + ord(letter)) for letter in "rm")
    (tmp_path / "AGENTS.md").write_text(f"Be nice.{hidden}\u202e\u200bx", encoding="utf-8")
    found = find_project_file(tmp_path)
    assert found is not None and found.hidden_count == 4
    assert found.text == "Be nice.<U+E0072><U+E006D><U+202E><U+200B>x"


@pytest.mark.parametrize("text", ["plain\n\ttext", "你好 é", "👩\u200d💻 ❤\ufe0f", "\ufefftext"])
def test_visible_text_is_left_alone(text: str) -> None:
    assert reveal_hidden(text) == (text.removeprefix("\ufeff"), 0)
