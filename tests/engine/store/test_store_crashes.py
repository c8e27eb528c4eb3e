"""Several writers killed in the middle of what they do; ``support/store_crashes.py`` does many more rounds by hand."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from support.store_crashes import run_round


@pytest.mark.parametrize("seed", range(3))
def test_rows_that_killed_writers_acknowledged_are_all_there(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    assert sum(run_round(tmp_path / "state.db", number, rng) for number in range(2)) > 0
