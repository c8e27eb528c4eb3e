"""The fault matrix: each API mode, each fault, with and without a fallback."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.fault_matrix import FAULTS, MODES, Fault, run_cell

from hermes_tui.engine.providers.base import ApiMode


@pytest.mark.parametrize("spare", [False, True], ids=["alone", "fallback"])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_the_turn_ends_right_whatever_the_server_does(fault: Fault, mode: ApiMode, spare: bool, tmp_path: Path) -> None:
    assert run_cell(fault, mode, tmp_path, spare=spare).problems == []
