"""Fixtures of the tool tests."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from support.tool_context import PlainContext, plain_context


@pytest.fixture
def context(tmp_path: Path) -> Iterator[PlainContext]:
    with plain_context(tmp_path) as made:
        yield made
