"""Both families of callback names, with their arguments."""

from __future__ import annotations

import weakref
from pathlib import Path
from typing import Any

import pytest
from support.scripted import TableGate, bench, call, say, think

from hermes_tui.engine.runtime.callbacks import KNOWN_NAMES, adapt_callbacks
from hermes_tui.engine.types.errors import ConfigError
from hermes_tui.engine.types.events import ContextCompressed, StepStarted, ToolFinished, ToolStarted
from hermes_tui.engine.types.requests import ApprovalDecision


class Recorder:
    """Collects calls by name."""

    def __init__(self) -> None:
        self.calls: dict[str, list[tuple[Any, ...]]] = {}

    def __call__(self, name: str) -> Any:
        def record(*args: Any, **kwargs: Any) -> None:
            self.calls.setdefault(name, []).append((*args, *(f"{k}" for k in kwargs)))

        return record


SCRIPT = [think("hm") + call(("echo", '{"text":"a"}')), say("two words")]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("on_tool_started", [("echo", {"text": "a"})]),
        ("on_tool_finished", [("echo", '{"ok": true, "text": "a"}')]),
        ("on_response_chunk", [("two",), (" words",)]),
        ("reasoning_callback", [("hm",)]),
        ("stream_delta_callback", [(None,), ("two",), (" words",)]),
        ("tool_gen_callback", [("echo",)]),
        (
            "step_callback",
            [(1, []), (2, [{"name": "echo", "arguments": {"text": "a"}, "result": '{"ok": true, "text": "a"}'}])],
        ),
        ("thinking_callback", [("thinking",), ("",), ("thinking",), ("",), ("",)]),
        (
            "tool_progress_callback",
            [
                ("tool.started", "echo", "a", {"text": "a"}),
                ("tool.completed", "echo", "", {"text": "a"}, "duration", "is_error", "result"),
            ],
        ),
    ],
)
def test_a_callback_gets_its_documented_arguments(name: str, expected: list[Any], tmp_path: Path) -> None:
    recorder = Recorder()
    bench(SCRIPT, tmp_path, callbacks={name: recorder(name)}).agent.chat("go")
    assert recorder.calls[name] == expected


def test_event_callback_hears_every_event_by_name(tmp_path: Path) -> None:
    recorder = Recorder()
    bench([say("hi")], tmp_path, callbacks={"event_callback": recorder("e")}).agent.chat("go")
    names = [name for name, _ in recorder.calls["e"]]
    assert names[0] == "turn_started" and "text_delta" in names and "turn_finished" in names


def test_status_callback_hears_notices(tmp_path: Path) -> None:
    recorder = Recorder()
    made = bench([[ValueError("x")]], tmp_path, callbacks={"status_callback": recorder("s")})
    made.agent.chat("go")
    assert recorder.calls["s"][0][0] == "warn"


def test_on_compression_gets_both_sizes() -> None:
    recorder = Recorder()
    adapted = adapt_callbacks({"on_compression": recorder("c")})
    adapted.sinks[0](ContextCompressed(before_tokens=9, after_tokens=3))
    assert recorder.calls["c"] == [(9, 3)]


def test_an_unknown_name_raises_and_names_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="on_tool_started"):
        bench([], tmp_path, callbacks={"on_tool_start": print})


def test_a_name_without_a_callback_is_left_out() -> None:
    assert adapt_callbacks(dict.fromkeys(KNOWN_NAMES)).sinks == ()


@pytest.mark.parametrize(
    ("answer", "runs"),
    [
        (True, True),
        ("once", True),
        ("session", True),
        (ApprovalDecision(choice="once"), True),
        (False, False),
        (None, False),
        ("deny", False),
        ("nonsense", False),
    ],
)
@pytest.mark.parametrize("name", ["on_approval_needed", "approval_callback"])
def test_an_approval_callback_decides(name: str, answer: Any, runs: bool, tmp_path: Path) -> None:
    asked: list[tuple[str, str]] = []

    def decide(command: str, reason: str) -> Any:
        asked.append((command, reason))
        return answer

    made = bench(
        [call(("run", '{"command":"rm x"}')), say("ok")],
        tmp_path,
        gate=TableGate({"rm x": "ask"}),
        callbacks={name: decide},
    )
    made.agent.chat("go")
    assert asked == [("rm x", "rm x is dangerous")]
    assert ('"ran"' in str(made.rows()[2]["content"])) is runs


def test_an_approval_callback_that_raises_counts_as_a_refusal(tmp_path: Path) -> None:
    made = bench(
        [call(("run", '{"command":"rm x"}')), say("ok")],
        tmp_path,
        gate=TableGate({"rm x": "ask"}),
        callbacks={"on_approval_needed": lambda command, reason: 1 / 0},
    )
    assert made.agent.run_conversation("go")["completed"]
    assert "callback failed" in str(made.rows()[2]["content"])


def test_a_callback_that_raises_does_not_hurt_the_turn(tmp_path: Path) -> None:
    made = bench([say("still here")], tmp_path, callbacks={"on_response_chunk": lambda text: 1 / 0})
    assert made.agent.chat("go") == "still here"


def test_finished_calls_are_forgotten_at_the_next_step_whoever_listens() -> None:
    class Args(dict[str, Any]):
        """Arguments that a weak reference can follow."""

    (sink,) = adapt_callbacks({"on_response_chunk": lambda text: None}).sinks
    args = Args()
    followed = weakref.ref(args)
    sink(ToolStarted(call_id="c1", name="t", args=args))
    sink(ToolFinished(call_id="c1", name="t", outcome="ok", result="{}", duration_s=0.0))
    del args
    assert followed() is not None
    sink(StepStarted(step=2, context_tokens=1))
    assert followed() is None
