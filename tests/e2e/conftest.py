"""What most programs under test need: a model server without a script, and a user whose configuration names it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.model_server import ModelServer
from support.program import Installation


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer([]) as server:
        yield server


@pytest.fixture
def user(tmp_path: Path, server: ModelServer) -> Installation:
    return Installation(tmp_path, server.base_url)
