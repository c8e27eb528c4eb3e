"""What stands in the way of going on with a stored session: found when it is opened, decided by a person."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ..providers.base import Endpoint
from ..types.errors import HermesError
from ..types.sessions import ResumeProblem, SessionRow


def resume_problems(
    row: SessionRow, workspace: Path, model: str, resolve: Callable[[str], Endpoint], *, is_free: bool
) -> tuple[ResumeProblem, ...]:
    """Return what a person has to decide before a stored session goes on. May ask for a key; blocks on no network.

    Args:
        row: The session.
        workspace: The folder that it would work in now.
        model: The model that would answer.
        resolve: Finds the way to a model.
        is_free: No other process has it open.
    """
    problems: list[ResumeProblem] = []
    if not is_free:
        problems.append(
            ResumeProblem(
                kind="open_elsewhere",
                text="This session is open in another window.",
                hint="Read it here, or go on in a fork.",
            )
        )
    if row.cwd and not Path(row.cwd).is_dir():
        problems.append(
            ResumeProblem(
                kind="folder_gone",
                text=f"Its folder {row.cwd} is gone.",
                hint=f"It would go on in {workspace}.",
            )
        )
    if why := _why_not(row, model, resolve):
        problems.append(ResumeProblem(kind="model_gone", text=f"Its model {model} cannot be used: {why}"))
    return tuple(problems)


def _why_not(row: SessionRow, model: str, resolve: Callable[[str], Endpoint]) -> str:
    try:
        endpoint = resolve(model)
    except HermesError as error:
        return str(error)
    # A name whose provider is unknown counts as a model of the configured one; a stored session means its own.
    is_same = not row.provider or endpoint.provider == row.provider
    return "" if is_same else f"There is no provider {row.provider} any more."
