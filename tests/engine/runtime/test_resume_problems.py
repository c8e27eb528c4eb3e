"""What stands in the way of a stored session is found when it is opened, and never an error."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.scripted import ENDPOINT

from hermes_tui.engine.providers.base import Endpoint
from hermes_tui.engine.runtime.resume import resume_problems
from hermes_tui.engine.types.errors import AuthError, ConfigError, HermesError
from hermes_tui.engine.types.sessions import SessionRow


def problems(tmp_path: Path, error: HermesError | None = None, *, is_free: bool = True, **columns: str) -> list[str]:
    def resolve(model: str) -> Endpoint:
        if error is not None:
            raise error
        return ENDPOINT

    row = SessionRow(id="s", title="T", model="m1", **{"provider": ENDPOINT.provider, "cwd": str(tmp_path), **columns})  # type: ignore[arg-type]
    found = resume_problems(row, tmp_path, f"{row.provider}/m1", resolve, is_free=is_free)
    return [problem.kind for problem in found]


def test_a_session_that_can_go_on_has_none(tmp_path: Path) -> None:
    assert problems(tmp_path) == problems(tmp_path, cwd="", provider="") == []


@pytest.mark.parametrize("error", [ConfigError("No key.", hint="Set X."), AuthError("No key.")])
def test_a_model_without_a_key_or_provider_is_one(tmp_path: Path, error: HermesError) -> None:
    assert problems(tmp_path, error) == ["model_gone"]


def test_a_provider_that_only_looks_like_part_of_a_models_name_is_one(tmp_path: Path) -> None:
    assert problems(tmp_path, provider="gone") == ["model_gone"]


def test_all_are_told_in_the_order_in_which_they_matter(tmp_path: Path) -> None:
    found = problems(tmp_path, ConfigError("x"), is_free=False, cwd=str(tmp_path / "gone"))
    assert found == ["open_elsewhere", "folder_gone", "model_gone"]
