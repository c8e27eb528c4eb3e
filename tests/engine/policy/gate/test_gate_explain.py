"""``gate explain``: JSON for machines, a tree for people, lines for tests."""

from __future__ import annotations

import io
import json
import subprocess
import sys

import pytest

from hermes_tui.engine.policy.gate.explain import explain, explain_stream, explain_tree, main
from hermes_tui.engine.types.errors import ConfigError


def test_the_json_answer_has_every_part_with_class_reason_and_rule(make_gate, workspace):
    gate = make_gate(mode="strict", allow=("git status",), deny=("git push",))
    answer = explain(gate, "7", "git status; sh -c 'git push'", str(workspace))
    assert answer["id"] == "7"
    assert answer["verdict"] == "deny"
    assert answer["always"] is False
    assert answer["ms"] >= 0
    assert answer["reasons"][0] == "your rules deny it: git push"
    assert [(part["argv"], part["rule"]) for part in answer["parts"]] == [
        (["git", "status"], ""),
        (["sh", "-c", "git push"], ""),
        (["git", "push"], "git push"),
    ]
    assert {part["class"] for part in answer["parts"]} == {"safe", "unknown"}


def test_parts_point_at_their_place_in_the_text(make_gate, workspace):
    text = "echo \u00e9; rm -rf src && ls"
    verdict = make_gate().judge_command(text, cwd=str(workspace))
    dangerous = [text[part.start : part.end] for part in verdict.parts if part.danger_class == "danger"]
    assert dangerous == ["rm -rf src"]


def test_a_nested_part_points_at_the_word_that_holds_it(make_gate, workspace):
    text = "ls; sh -c 'rm -rf src'"
    verdict = make_gate().judge_command(text, cwd=str(workspace))
    assert {text[p.start : p.end] for p in verdict.parts if p.danger_class == "danger"} == {"'rm -rf src'"}


def test_the_tree_shows_parts_and_verdict_and_hides_nothing(make_gate, workspace):
    tree = explain_tree(make_gate(mode="strict"), "ls && touch \u202ex", str(workspace))
    assert "\\u202e" in tree
    assert "verdict in mode strict: ask" in tree
    tree = explain_tree(make_gate(mode="strict"), "ls && mkdir out", str(workspace))
    assert "\u201calways\u201d would store: mkdir" in tree
    assert "safe    ls" in tree
    assert "writes  mkdir out" in tree


def test_lines_are_answered_in_order_and_keep_lone_surrogates(make_gate, workspace):
    lines = [
        json.dumps({"id": "a", "command": "ls", "cwd": str(workspace)}) + "\n",
        "\n",
        json.dumps({"id": "b", "command": "ls \udcff"}) + "\n",
    ]
    answers = [json.loads(line) for line in explain_stream(make_gate(), lines, str(workspace))]
    assert [(answer["id"], answer["verdict"]) for answer in answers] == [("a", "allow"), ("b", "ask")]


@pytest.mark.parametrize("line", ["{", "[]", "{}", "3"])
def test_a_line_that_is_no_request_is_named(make_gate, line):
    with pytest.raises(ConfigError, match="Line 1"):
        list(explain_stream(make_gate(), [line], "/"))


def test_the_command_prints_one_json_object(capsys, workspace):
    assert main(["rm -rf /", "--json", "--cwd", str(workspace)]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == "never"


def test_the_command_reads_rules_and_mode(capsys, workspace, tmp_path, monkeypatch):
    config = tmp_path / "rules.toml"
    config.write_text('[approvals]\nmode = "strict"\nallow = ["touch"]\ndeny_paths = ["*.pem"]\n')
    requests = "".join(
        json.dumps({"id": c, "command": c, "cwd": str(workspace)}) + "\n" for c in ("touch a", "mkdir a", "cat a.pem")
    )
    monkeypatch.setattr(sys, "stdin", io.StringIO(requests))  # the stream is what is tested
    assert main(["--stdin", "--json", "--config", str(config)]) == 0
    answers = [json.loads(line)["verdict"] for line in capsys.readouterr().out.splitlines()]
    assert answers == ["allow", "ask", "deny"]
    assert main(["mkdir a", "--json", "--config", str(config), "--mode", "ask", "--cwd", str(workspace)]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == "allow"


@pytest.mark.parametrize("text", ["mode = ", '[approvals]\nmode = "loud"\n'])
def test_a_config_that_cannot_be_used_is_named(capsys, tmp_path, text):
    config = tmp_path / "rules.toml"
    config.write_text(text)
    assert main(["ls", "--config", str(config)]) == 3
    assert "rules.toml" in capsys.readouterr().err


def test_a_missing_config_is_named(capsys, tmp_path):
    assert main(["ls", "--config", str(tmp_path / "none.toml")]) == 3
    assert "none.toml" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["ls", "--stdin"], ["--mode", "loud", "ls"]])
def test_wrong_usage_exits_with_2(arguments):
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2


def test_importing_the_gate_loads_no_parser():
    heavy = "('tree_sitter', 'textual', 'rich')"
    code = (
        f"import sys, hermes_tui.engine.policy.gate.explain; print([m for m in sys.modules if m.startswith({heavy})])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
