"""A batch: what stops it stops every turn, and its output survives a killed process."""

from __future__ import annotations

import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from hermes_tui.engine.runtime.hub import Hub
from hermes_tui.engine.surfaces.batch import Batch
from hermes_tui.engine.surfaces.json_lines import JsonLines
from hermes_tui.engine.types.errors import ConfigError
from hermes_tui.engine.types.events import TurnStarted

GUARD_S = 20.0


class Waiting:
    """An agent whose turn lasts until it is interrupted. Like the real one it hears nothing before its turn begins."""

    def __init__(self, may_begin: threading.Event) -> None:
        self.hub = Hub()
        self.is_closed = False
        self.asked = threading.Event()
        self.began = threading.Event()
        self._may_begin = may_begin
        self._stopped = threading.Event()

    def run_conversation(self, user_message: str, system_message: str | None = None) -> dict[str, Any]:
        del system_message
        if user_message == "short":
            self.began.set()
            self.asked.set()
            return {"completed": True}
        self.asked.set()
        assert self._may_begin.wait(GUARD_S)
        self.began.set()
        self.hub.emit(TurnStarted(text=user_message, model="m", provider="p"))
        assert self._stopped.wait(GUARD_S)
        return {"completed": False}

    def redacted(self, value: Any) -> Any:
        return value

    def interrupt(self, reason: str = "user") -> None:
        del reason
        if self.began.is_set():
            self._stopped.set()
        self._may_begin.set()

    def close(self) -> None:
        self.is_closed = True


@pytest.mark.parametrize("is_late", [False, True], ids=["a running turn", "a turn that is about to begin"])
def test_ctrl_c_stops_every_turn_and_leaves_no_thread(is_late: bool, tmp_path: Path) -> None:
    may_begin = threading.Event()
    agents = [Waiting(may_begin) for _ in range(3)]
    unused = list(agents)
    if not is_late:
        may_begin.set()

    class Interrupted(JsonLines):
        """Ctrl+C comes when the first result is there, in the thread that waits."""

        def append(self, row: dict[str, Any]) -> None:
            assert all((agent.asked if is_late else agent.began).wait(GUARD_S) for agent in agents)
            raise KeyboardInterrupt

    batch = Batch(lambda: unused.pop(0), concurrency=2, output=Interrupted(tmp_path / "rows.jsonl"))
    with pytest.raises(KeyboardInterrupt):
        batch.run(["short", "long", "long", "never asked"])
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("batch")]
    assert all(agent.is_closed for agent in agents)


def test_a_line_left_half_written_is_skipped_and_does_not_spoil_the_next(tmp_path: Path) -> None:
    lines = JsonLines(tmp_path / "new" / "rows.jsonl")
    assert lines.read() == []
    lines.append({"n": 1, "text": "a\u2028b\n\ud800"})
    with lines.path.open("ab") as file:
        file.write(b'{"n": 2, "te')
    lines.append({"n": 3, "path": Path("x")})
    assert lines.read() == [{"n": 1, "text": "a\u2028b\n\ud800"}, {"n": 3, "path": "x"}]
    assert stat.S_IMODE(lines.path.stat().st_mode) == 0o600


def test_a_place_that_cannot_be_used_is_named(tmp_path: Path) -> None:
    lines = JsonLines(tmp_path)
    with pytest.raises(ConfigError, match="cannot be written"):
        lines.append({})
    with pytest.raises(ConfigError, match="cannot be read"):
        lines.read()
