"""What the model is told about each tool, and that loading them costs nothing."""

from __future__ import annotations

import subprocess
import sys

import jsonschema
import pytest

from hermes_tui.tools.registry import load_builtin_tools

NAMES = [
    "clarify",
    "delegate_task",
    "execute_code",
    "memory",
    "patch",
    "process",
    "read_file",
    "search_files",
    "session_search",
    "terminal",
    "todo",
    "web_extract",
    "web_search",
    "write_file",
]
GOOD = {
    "clarify": [{"question": "q"}, {"question": "q", "choices": ["a"]}],
    "delegate_task": [{"goal": "g"}, {"tasks": [{"goal": "g", "context": "c", "toolsets": ["files"]}]}],
    "execute_code": [{"code": "x"}, {"code": "x", "description": "y", "timeout_s": 300}],
    "memory": [{"target": "user", "actions": [{"action": "add", "content": "x"}]}],
    "patch": [{"path": "a", "old_string": "b", "new_string": ""}],
    "process": [
        {"action": "list"},
        {"action": "log", "job": 1, "cursor": -100, "limit": 50},
        {"action": "wait", "job": 1, "until": "x", "timeout_s": 0.5},
        {"action": "write", "job": 1, "data": "x", "keys": ["up"]},
    ],
    "read_file": [{"path": "a"}, {"path": "a", "offset": 1, "limit": 2000}],
    "search_files": [{"pattern": "x"}, {"pattern": "x", "target": "files", "glob": "*", "limit": 5, "context": 0}],
    "session_search": [{}, {"query": "x", "limit": 3}, {"session_id": "s", "around_message_id": 4, "window": 2}],
    "terminal": [
        {"command": "ls"},
        {"command": "ls", "timeout_s": 0.5, "cwd": "x", "description": "y"},
        {"command": "ls", "background": True, "pty": True, "watch": ["x"]},
    ],
    "todo": [{}, {"todos": [{"id": "1", "content": "x", "status": "done"}], "merge": True}],
    "web_extract": [{"urls": ["https://a.example"]}, {"urls": ["a"] * 5, "offset": 0, "max_chars": 50_000}],
    "web_search": [{"query": "q"}, {"query": "q", "limit": 20}],
    "write_file": [{"path": "a", "content": ""}],
}
BAD = {
    "clarify": [{}, {"question": ""}, {"question": "q", "choices": ["1", "2", "3", "4", "5"]}],
    "delegate_task": [{"goal": ""}, {"tasks": []}, {"tasks": [{"goal": "g"}] * 4}],
    "execute_code": [{}, {"code": ""}, {"code": "x", "timeout_s": 301}],
    "memory": [{}, {"target": "x", "actions": []}, {"target": "user", "actions": [{"action": "grow"}]}],
    "patch": [{"path": "a", "old_string": "", "new_string": "b"}, {"patch": ""}, {"path": 1}],
    "process": [{}, {"action": "start"}, {"action": "log", "job": 0}, {"action": "wait", "job": 1, "timeout_s": 601}],
    "read_file": [{}, {"path": "a", "offset": 0}, {"path": "a", "limit": 2001}, {"path": 1}],
    "search_files": [{}, {"pattern": ""}, {"pattern": "x", "target": "names"}, {"pattern": "x", "limit": 0}],
    "session_search": [{"query": ""}, {"limit": 11}, {"window": 0}],
    "terminal": [{}, {"command": "ls", "timeout_s": 0}, {"command": "ls", "timeout_s": 601}],
    "todo": [{"todos": [{"id": "1", "content": "x", "status": "completed"}]}, {"todos": [{"id": "1"}]}],
    "web_extract": [{}, {"urls": []}, {"urls": ["a"] * 6}, {"urls": [""]}, {"urls": ["a"], "max_chars": 10}],
    "web_search": [{}, {"query": ""}, {"query": "q", "limit": 21}],
    "write_file": [{"path": "a"}, {"content": "a"}],
}


def test_the_tools_are_there_in_order() -> None:
    registry = load_builtin_tools()
    assert [name for name in registry.names() if name in NAMES] == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_the_schema_accepts_calls_and_refuses_others(name: str) -> None:
    tool = load_builtin_tools().get(name)
    assert tool is not None
    parameters = tool.schema["parameters"]
    jsonschema.Draft202012Validator.check_schema(parameters)
    validator = jsonschema.Draft202012Validator(parameters)
    assert tool.schema["description"].endswith(".")
    assert all(validator.is_valid(args) for args in GOOD[name])
    assert not any(validator.is_valid(args) for args in [*BAD[name], {**GOOD[name][0], "extra": 1}])


def test_only_harmless_tools_run_beside_others() -> None:
    registry = load_builtin_tools()
    parallel = {name for name in NAMES if (tool := registry.get(name)) and tool.parallel}
    assert parallel == {"read_file", "search_files", "session_search", "web_extract", "web_search"}
    interactive = {name for name in NAMES if (tool := registry.get(name)) and tool.interactive}
    assert interactive == {"clarify"}


def test_every_tool_is_usable_here() -> None:
    registry = load_builtin_tools()
    assert [registry.unavailable(name) for name in NAMES] == [""] * len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_tool_alone_is_loaded_by_its_name(name: str) -> None:
    code = (
        "from hermes_tui.tools.registry import load_builtin_tools; "
        f"print(load_builtin_tools([{name!r}, 'unknown', '']).names())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert name in done.stdout and len(done.stdout.split(",")) <= 2


def test_loading_the_tools_imports_nothing_from_outside() -> None:
    code = (
        "import sys; from hermes_tui.tools.registry import load_builtin_tools; load_builtin_tools(); "
        "heavy = {'textual', 'rich', 'openai', 'anthropic', 'httpx', 'jsonschema', 'pydantic', "
        "'trafilatura', 'lxml', 'ddgs', 'http.client'}; "
        "print(sorted(heavy & set(sys.modules)), [m for m in sys.modules if m.startswith('hermes_tui.engine')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[] []\n"
