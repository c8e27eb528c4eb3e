"""Calls: checked, run together or in order, and answered exactly once in call order."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from support.scripted import GUARD_S, Bench, Do, bench, call, echo_tools, join, say, schema, start

from hermes_tui.engine.runtime import executor
from hermes_tui.engine.runtime.arguments import ArgumentChecker
from hermes_tui.engine.runtime.results import BATCH_MAX_CHARS, cap
from hermes_tui.engine.types.events import ToolFinished, ToolOutput, ToolStarted
from hermes_tui.tools.base import Assessment, PathUse, Result, ToolFailure
from hermes_tui.tools.registry import ToolRegistry


def results(made: Bench) -> list[dict[str, Any]]:
    """Payloads of the stored tool rows, in order."""
    return [json.loads(str(row["content"])) for row in made.rows() if row["role"] == "tool"]


def one(tool: Any, arguments: str, tmp_path: Path, **kwargs: Any) -> dict[str, Any]:
    """Run one call of a handler registered as ``t`` and return its payload."""
    registry = ToolRegistry()
    registry.register("t", kwargs.pop("schema", schema(text="string")), tool, toolset="t", **kwargs)
    made = bench([call(("t", arguments)), say("ok")], tmp_path, registry=registry)
    assert made.agent.run_conversation("go")["completed"]
    return results(made)[0]


def test_parallel_calls_run_together_and_their_results_keep_call_order(tmp_path: Path) -> None:
    both = threading.Barrier(3)
    order: list[str] = []
    gates = {name: threading.Event() for name in "abc"}
    registry = ToolRegistry()

    def handler(args: Mapping[str, Any], context: Any) -> Result:
        both.wait(GUARD_S)
        name = args["text"]
        if name != "c":
            gates[chr(ord(name) + 1)].wait(GUARD_S)
        order.append(name)
        gates[name].set()
        return {"ok": True, "text": name}

    registry.register("t", schema("text", text="string"), handler, toolset="t", parallel=True)
    made = bench([call(*(("t", f'{{"text":"{n}"}}') for n in "abc")), say("ok")], tmp_path, registry=registry)
    made.agent.chat("go")
    assert order == ["c", "b", "a"]
    assert [payload["text"] for payload in results(made)] == ["a", "b", "c"]


def _overlaps(paths: list[tuple[str, str]], tmp_path: Path) -> bool:
    """Whether calls that use these paths are kept apart."""
    running, most, lock = [0], [0], threading.Lock()
    registry = ToolRegistry()
    together = threading.Event()

    def handler(args: Mapping[str, Any], context: Any) -> Result:
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
            if running[0] == 2:
                together.set()
        together.wait(0.2)
        with lock:
            running[0] -= 1
        return {"ok": True}

    registry.register(
        "t",
        schema(path="string", kind="string"),
        handler,
        toolset="t",
        parallel=True,
        assess=lambda args, context: Assessment(paths=(PathUse(args["path"], args["kind"]),)),
    )
    calls = [("t", json.dumps({"path": path, "kind": kind})) for path, kind in paths]
    bench([call(*calls), say("ok")], tmp_path, registry=registry).agent.chat("go")
    return most[0] == 1


@pytest.mark.parametrize(
    ("paths", "apart"),
    [
        ([("a", "write"), ("b", "write")], False),
        ([("a", "read"), ("a/b", "read")], False),
        ([("a", "write"), ("./a", "read")], True),
        ([("d", "delete"), ("d/x/y", "read")], True),
        ([("link", "write"), ("real", "read")], True),
        ([("ab", "write"), ("a", "write")], False),
    ],
)
def test_calls_whose_paths_overlap_do_not_run_together(
    paths: list[tuple[str, str]], apart: bool, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert _overlaps(paths, tmp_path) is apart


def test_identical_calls_of_one_answer_run_once_and_each_has_a_result(tmp_path: Path) -> None:
    ran: list[Any] = []
    registry = ToolRegistry()

    def handler(args: Any, context: Any) -> Result:
        ran.append(args)
        return {"ok": True}

    registry.register("t", schema(a="integer", b="integer"), handler, toolset="t")
    made = bench(
        [call(("t", '{"a":1,"b":2}'), ("t", '{"b": 2, "a": 1}'), ("t", '{"a":2}')), say("ok")],
        tmp_path,
        registry=registry,
    )
    made.agent.chat("go")
    assert len(ran) == 2
    assert [payload.get("same_call_as") for payload in results(made)] == [None, "c1", None]


def test_a_repeated_command_runs_again_when_another_one_ran_between(tmp_path: Path) -> None:
    commands = ["git status", "touch x", "git status"]
    calls = [("run", json.dumps({"command": command})) for command in commands]
    made = bench([call(*calls), say("ok")], tmp_path)
    made.agent.chat("go")
    assert [payload["ran"] for payload in results(made)] == commands


@pytest.mark.parametrize(
    ("handler", "error"),
    [
        (lambda args, context: 1 / 0, "ZeroDivisionError"),
        (lambda args, context: sys.exit(3), "SystemExit"),
        (lambda args, context: "text", "returned str"),
        (lambda args, context: None, "returned NoneType"),
        (lambda args, context: {"error": "no"}, "no"),
    ],
)
def test_a_tool_that_raises_or_returns_garbage_gives_an_error_result(handler: Any, error: str, tmp_path: Path) -> None:
    payload = one(handler, "{}", tmp_path)
    assert payload["ok"] is False and error in payload["error"]


def test_a_result_that_contains_itself_is_an_error(tmp_path: Path) -> None:
    def handler(args: Any, context: Any) -> Result:
        loop: Result = {"ok": True}
        loop["self"] = loop
        return loop

    assert one(handler, "{}", tmp_path)["ok"] is False


def test_odd_values_in_a_result_become_text(tmp_path: Path) -> None:
    payload = one(lambda args, context: {"ok": True, "path": Path("a"), "text": "\ud800\0x"}, "{}", tmp_path)
    assert payload["path"] == "a"


def test_a_tool_failure_carries_its_details(tmp_path: Path) -> None:
    def handler(args: Any, context: Any) -> Result:
        raise ToolFailure("No such file.", nearest=["a.py"])

    assert one(handler, "{}", tmp_path) == {"ok": False, "error": "No such file.", "nearest": ["a.py"]}


def test_an_assessment_that_fails_is_the_calls_error(tmp_path: Path) -> None:
    def assess(args: Any, context: Any) -> Assessment:
        raise ToolFailure("Bad path.")

    payload = one(lambda args, context: {"ok": True}, "{}", tmp_path, assess=assess)
    assert payload == {"ok": False, "error": "Bad path."}


def test_live_output_and_display_reach_the_events(tmp_path: Path) -> None:
    made = bench([call(("run", '{"command":"ls"}')), say("ok")], tmp_path)
    made.agent.chat("go")
    assert [event.text for event in made.of(ToolOutput)] == ["$ ls\n"]
    assert made.of(ToolStarted)[0].display["target"] == "ls"
    assert made.of(ToolFinished)[0].outcome == "ok"


def test_a_display_that_fails_falls_back_to_the_generic_one(tmp_path: Path) -> None:
    registry = ToolRegistry()
    registry.register(
        "t", schema(text="string"), lambda a, c: {"ok": True}, toolset="t", display=lambda a, r: {}["missing"]
    )
    made = bench([call(("t", '{"text":"x"}')), say("ok")], tmp_path, registry=registry)
    made.agent.chat("go")
    assert made.of(ToolFinished)[0].display["kind"] == "generic"


def test_a_handler_past_its_time_is_stopped_and_reported_as_timeout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The real limits are minutes; the mechanism is the same.
    monkeypatch.setattr(executor.Executor, "max_run_s", 0.05)
    stopped = threading.Event()

    def handler(args: Any, context: Any) -> Result:
        context.cancel.on_cancel(stopped.set)
        assert stopped.wait(GUARD_S)
        return {"ok": False, "error": "stopped", "output": "half"}

    registry = ToolRegistry()
    registry.register("t", schema(), handler, toolset="t")
    made = bench([call(("t", "{}")), say("ok")], tmp_path, registry=registry)
    assert made.agent.run_conversation("go")["completed"]
    assert made.of(ToolFinished)[0].outcome == "timeout" and results(made)[0]["output"] == "half"


def test_a_handler_that_ignores_its_time_is_abandoned(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor.Executor, "max_run_s", 0.05)
    monkeypatch.setattr(executor, "TIMEOUT_GRACE_S", 0.05)
    release = threading.Event()
    registry = ToolRegistry()
    registry.register("t", schema(), lambda args, context: {"ok": release.wait(GUARD_S)}, toolset="t")
    made = bench([call(("t", "{}")), say("ok")], tmp_path, registry=registry)
    assert made.agent.run_conversation("go")["completed"]
    release.set()
    assert made.of(ToolFinished)[0].outcome == "timeout" and "outcome is unknown" in results(made)[0]["error"]


def test_a_long_result_keeps_head_and_tail_and_the_whole_of_it_on_disk(tmp_path: Path) -> None:
    text = "".join(f"line {i}\n" for i in range(50_000))
    payload = one(lambda args, context: {"ok": True, "output": text, "exit_code": 3}, "{}", tmp_path)
    assert payload["exit_code"] == 3 and len(json.dumps(payload)) <= 100_000 + 10_000
    assert payload["output"].startswith("line 0\n") and payload["output"].endswith("line 49999\n")
    kept = next((tmp_path / "spill").glob("*.txt"))
    assert kept.read_text() == text and str(kept) in payload["truncated"]
    assert (kept.stat().st_mode & 0o777, kept.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_a_batch_shares_one_limit(tmp_path: Path) -> None:
    registry = ToolRegistry()
    registry.register("t", schema(n="integer"), lambda a, c: {"ok": True, "x": "y" * 90_000}, toolset="t")
    calls = [("t", f'{{"n":{n}}}') for n in range(5)]
    made = bench([call(*calls), say("ok")], tmp_path, registry=registry)
    made.agent.chat("go")
    total = sum(len(str(row["content"])) for row in made.rows() if row["role"] == "tool")
    assert total <= BATCH_MAX_CHARS + 3 * 8_000


def test_capping_never_exceeds_its_limit_even_for_text_that_json_doubles(tmp_path: Path) -> None:
    payload = cap({"ok": True, "x": '"\\' * 40_000}, 10_000, tmp_path)
    assert len(json.dumps(payload, ensure_ascii=False)) <= 10_000


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ('{"limit":"5"}', {"limit": 5}),
        ('{"limit":5.0}', {"limit": 5}),
        ('{"ratio":"0.5"}', {"ratio": 0.5}),
        ('{"flag":"true"}', {"flag": True}),
        ('{"edits":"[{\\"old\\":\\"x\\"}]"}', {"edits": [{"old": "x"}]}),
        ('{"options":"{\\"a\\":1}"}', {"options": {"a": 1}}),
        ('{"path":7}', {"path": "7"}),
        ('{"path":"null"}', {"path": "null"}),
        ('{"path":"7"}', {"path": "7"}),
        ('{"limit":null,"path":"a","extra":1}', {"path": "a"}),
    ],
)
def test_obvious_slips_in_arguments_are_mended(given: str, expected: dict[str, Any]) -> None:
    closed = schema(limit="integer", ratio="number", flag="boolean", edits="array", options="object", path="string")[
        "parameters"
    ]
    args, error = ArgumentChecker().check("t", {**closed, "additionalProperties": False}, given)
    assert (args, error) == (expected, "")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ('{"limit":"many"}', "limit"),
        ('{"limit":"NaN"}', "limit"),
        ("{}", "path"),
        ('{"path":null}', "path"),
        ('{"path":["a"]}', "path"),
    ],
)
def test_what_cannot_be_mended_is_one_error_that_names_the_field(given: str, words: str, tmp_path: Path) -> None:
    required = [] if "limit" in given else ["path"]
    payload = one(
        lambda args, context: {"ok": True}, given, tmp_path, schema=schema(*required, limit="integer", path="string")
    )
    assert payload["ok"] is False and words in payload["error"] and "Invalid arguments for t" in payload["error"]


def test_the_same_failing_call_is_warned_then_blocked(tmp_path: Path) -> None:
    ran: list[int] = []
    registry = ToolRegistry()

    def handler(args: Any, context: Any) -> Result:
        ran.append(1)
        raise ToolFailure("no")

    registry.register("t", schema(), handler, toolset="t")
    script = [call(("t", "{}"), first_id=i) for i in range(6)]
    made = bench([*script, say("ok")], tmp_path, registry=registry)
    assert made.agent.run_conversation("go")["completed"]
    payloads = results(made)
    assert len(ran) == 5 and "warning" in payloads[2] and "warning" not in payloads[1]
    assert "failed 5 times" in payloads[5]["error"]


def test_a_tool_that_keeps_failing_ends_the_turn(tmp_path: Path) -> None:
    registry = ToolRegistry()

    def handler(args: Any, context: Any) -> Result:
        raise ToolFailure("no")

    registry.register("t", schema(n="integer"), handler, toolset="t")
    made = bench([call(("t", f'{{"n":{i}}}'), first_id=i) for i in range(9)], tmp_path, registry=registry)
    result = made.agent.run_conversation("go")
    assert result["exit_reason"] == "error" and result["api_calls"] == 8


def test_provider_keys_are_not_in_a_childs_environment(tmp_path: Path) -> None:
    seen: dict[str, str] = {}
    registry = ToolRegistry()

    def handler(args: Any, context: Any) -> Result:
        seen.update(context.env)
        return {"ok": True}

    registry.register("t", schema(), handler, toolset="t")
    parts = {
        "env": {"PATH": "/bin", "OPENAI_API_KEY": "key-one-1", "A": "key-one-1", "B": "secret-value", "SHLVL": "1"},
        "key_names": {"OPENAI_API_KEY"},
        "secrets": lambda: {"secret-value", "1"},
    }
    bench([call(("t", "{}")), say("ok")], tmp_path, registry=registry, parts=parts).agent.chat("go")
    assert seen == {"PATH": "/bin", "SHLVL": "1"}, "by name, by value, and no ordinary word"


def test_a_key_that_became_known_within_the_turn_is_not_in_a_childs_environment(tmp_path: Path) -> None:
    seen: list[dict[str, str]] = []
    registry = ToolRegistry()
    registry.register("t", schema(), lambda args, context: seen.append(dict(context.env)) or {"ok": True}, toolset="t")  # type: ignore[func-returns-value]
    known: set[str] = set()
    script = [call(("t", "{}")), [Do(lambda: known.add("late-secret")), *call(("t", "{}"), first_id=2)], say("ok")]
    parts = {"env": {"A": "late-secret"}, "secrets": lambda: known}
    bench(script, tmp_path, registry=registry, parts=parts).agent.chat("go")
    assert seen == [{"A": "late-secret"}, {}]


def test_tools_that_need_a_person_are_not_offered_when_nobody_is_there(tmp_path: Path) -> None:
    registry = echo_tools()
    registry.register("clarify", schema(), lambda a, c: {"ok": True}, toolset="t", interactive=True)
    made = bench([say("a"), say("b")], tmp_path, registry=registry)
    made.agent.chat("one")
    made.agent.approvals.attach_surface()
    made.agent.chat("two")
    offered = [[tool["function"]["name"] for tool in request.tools] for request in made.client.requests]
    assert ("clarify" in offered[0], "clarify" in offered[1]) == (False, True)


@pytest.mark.parametrize("depth", [90, 120, 900])
def test_arguments_nested_beyond_reason_are_answered_not_walked(depth: int, tmp_path: Path) -> None:
    deep = f'{{"text":"a","more":{"[" * depth}{"]" * depth}}}'
    made = bench([call(("echo", deep)), say("ok")], tmp_path)
    thread = start(lambda: made.agent.chat("go"))
    join(thread)
    assert results(made)[0]["ok"] is (depth < 100)


def test_a_call_that_cannot_even_be_announced_has_a_result(tmp_path: Path) -> None:
    made = bench([call(("echo", '{"text":"a"}'), ("run", '{"command":"ls"}')), say("ok")], tmp_path)
    announce, failed = executor.Executor.announce, []

    def broken(self: executor.Executor, job: Any) -> None:
        if job.planned.name == "echo" and not failed:
            failed.append(job)
            raise RecursionError
        announce(self, job)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(executor.Executor, "announce", broken)
        thread = start(lambda: made.agent.chat("go"))
        join(thread)
    assert [payload["ok"] for payload in results(made)] == [False, True]
