"""Background jobs from memory, for tests and pictures of screens."""

from __future__ import annotations

from dataclasses import replace

from hermes_tui.engine.types.errors import ToolError
from hermes_tui.engine.types.jobs import JobLog, JobRow


class FakeJobs:
    """The jobs of a session; ``asked`` lists what was done to them."""

    def __init__(self, *rows: JobRow) -> None:
        self.known = {row.number: row for row in rows}
        self.texts: dict[int, str] = {}
        self.partials: dict[int, str] = {}
        self.screens: dict[int, str] = {}
        self.asked: list[tuple[object, ...]] = []
        self.runs_command = False
        self.problem = ""

    def change(self, number: int, **fields: object) -> None:
        self.known[number] = replace(self.known[number], **fields)  # type: ignore[arg-type]

    def rows(self) -> list[JobRow]:
        return list(self.known.values())

    def log(self, number: int, cursor: int = 0, max_bytes: int = 64_000) -> JobLog:
        data = self.texts.get(number, "").encode()
        start = cursor if cursor >= 0 else max(0, len(data) + cursor)
        part = data[start : start + max_bytes]
        return JobLog(
            text=part.decode(),
            cursor=start + len(part),
            partial=self.partials.get(number, ""),
            screen=self.screens.get(number),
            is_cut=cursor < 0 < start,
        )

    def answer(self, number: int, line: str) -> None:
        if self.problem:
            raise ToolError(self.problem)
        self.asked.append(("answer", number, line))

    def end_input(self, number: int) -> None:
        self.asked.append(("end_input", number))

    def kill(self, number: int) -> None:
        self.asked.append(("kill", number))
        self.change(number, state="ended")

    def promote(self) -> bool:
        self.asked.append(("promote",))
        return self.runs_command
