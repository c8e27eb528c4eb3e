"""A batch: what stops it stops every turn, and its output survives a killed process."""

from __future__ import annotations

import signal
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

    def __init__(self, began: threading.Barrier, may_begin: threading.Event) -> None:
        self.hub = Hub()
        self.is_closed = False
        self._began = began
        self._may_begin = may_begin
        self._is_running = False
        self._stopped = threading.Event()

    def run_conversation(self, user_message: str, system_message: str | None = None) -> dict[str, Any]:
        del system_message
        self._began.wait(GUARD_S)
        assert self._may_begin.wait(GUARD_S)
        self._is_running = True
        self.hub.emit(TurnStarted(text=user_message, model="m", provider="p"))
        assert self._stopped.wait(GUARD_S)
        return {"completed": False}

    def redacted(self, value: Any) -> Any:
        return value

    def interrupt(self, reason: str = "user") -> None:
        del reason
        if self._is_running:
            self._stopped.set()

    def close(self) -> None:
        self.is_closed = True


@pytest.mark.parametrize("is_late", [False, True], ids=["running turns", "turns that are about to begin"])
def test_ctrl_c_stops_every_turn_and_leaves_no_thread(is_late: bool) -> None:
    agents: list[Waiting] = []
    began, may_begin = threading.Barrier(3), threading.Event()
    if not is_late:
        may_begin.set()

    def make() -> Waiting:
        agents.append(Waiting(began, may_begin))
        return agents[-1]

    batch = Batch(make, concurrency=2)

    def press() -> None:
        began.wait(GUARD_S)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        may_begin.set()

    presser = threading.Thread(target=press)
    presser.start()
    with pytest.raises(KeyboardInterrupt):
        batch.run(["a", "b", "c", "d"])
    presser.join(GUARD_S)
    assert len(agents) == 2 and all(agent.is_closed for agent in agents)
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("batch")]


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
