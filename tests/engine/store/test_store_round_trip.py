"""An export that is imported elsewhere is the same session in every column, whatever was done to it before."""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hermes_tui.engine.store.db import SessionDB
from hermes_tui.engine.types.usage import Usage

TEXT = st.text(
    st.sampled_from(["a", "Z", " ", "\n", "\0", "\x1b", "\ud83d", "\u202e", "é", "数", "😀", '"', "\\"]), max_size=9
)
WORD = st.text(st.characters(categories=("L", "N")), min_size=1, max_size=6)
PARTS = st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": TEXT}), min_size=1, max_size=2)
CALL = st.fixed_dictionaries(
    {"id": WORD, "type": st.just("function"), "function": st.fixed_dictionaries({"name": WORD, "arguments": TEXT})}
)
DETAIL = st.fixed_dictionaries(
    {"provider": WORD, "api_mode": WORD, "position": st.integers(0, 3), "block": st.just({"n": 1.5})}
)
TIME = st.floats(1e9, 2e9).map(lambda value: round(value, 3))
COMMON: dict[str, st.SearchStrategy[Any]] = {
    "created_at": TIME,
    "api_content": TEXT,
    "synthetic": st.booleans(),
    "elsewhere": st.just({"deep": [None]}),
}
USER = st.fixed_dictionaries({"role": st.just("user"), "content": st.one_of(TEXT, PARTS)}, optional=COMMON)
ANSWER = st.fixed_dictionaries(
    {"role": st.just("assistant"), "content": st.one_of(TEXT, st.none())},
    optional={
        **COMMON, "tool_calls": st.lists(CALL, max_size=2), "reasoning": TEXT, "partial": TEXT,
        "reasoning_details": st.lists(DETAIL, max_size=2),
        "finish_reason": st.sampled_from(["stop", "error", "interrupted"]),
    },
)  # fmt: skip
RESULT = st.fixed_dictionaries(
    {
        "role": st.just("tool"),
        "content": st.one_of(TEXT, st.just('{"ok": false, "error": "no"}')),
        "tool_call_id": WORD,
    },
    optional={**COMMON, "tool_name": WORD},
)
Step = Callable[[SessionDB, str], object]


def _added(messages: list[Any]) -> Step:
    return lambda db, session: db.append_many(session, messages, tokens=range(len(messages)))


def _spent(usage: tuple[int, int, float | None]) -> Step:
    return lambda db, session: db.add_usage(session, Usage(input_tokens=usage[0], output_tokens=usage[1]), usage[2])


STEPS: st.SearchStrategy[list[Step]] = st.lists(
    st.one_of(
        st.lists(st.one_of(USER, ANSWER, RESULT), min_size=1, max_size=4).map(_added),
        st.just(lambda db, session: db.undo_last(session)),
        TEXT.map(lambda text: lambda db, session: db.rename(session, text)),
        TEXT.map(lambda text: lambda db, session: db.set_auto_title(session, text)),
        st.tuples(WORD, TEXT).map(
            lambda pair: lambda db, session: db.set_state(session, pair[0], {"x": [pair[1], None]})
        ),
        TEXT.map(lambda text: lambda db, session: db.set_system_prompt(session, text)),
        st.booleans().map(lambda on: lambda db, session: db.pin(session, on)),
        st.booleans().map(lambda on: lambda db, session: db.archive(session, on)),
        st.tuples(st.integers(0, 9), st.integers(0, 9), st.one_of(st.none(), st.just(0.25))).map(_spent),
        WORD.map(lambda model: lambda db, session: db.set_model(session, model, "provider")),
    ),
    max_size=8,
)
OWN_NUMBERS = {"no", "shown_no", "last_message_id"}
"""Columns that each database counts for itself."""


def everything(db: SessionDB) -> dict[str, list[dict[str, Any]]]:
    """All rows, without the numbers that only this database knows them by."""

    def rows(conn: sqlite3.Connection, sql: str, *without: str) -> list[dict[str, Any]]:
        return [{name: value for name, value in dict(row).items() if name not in without} for row in conn.execute(sql)]

    with db._db.read() as conn:
        return {
            "sessions": rows(conn, "SELECT * FROM sessions", *OWN_NUMBERS),
            "messages": rows(conn, "SELECT * FROM messages ORDER BY id", "id", "session_no"),
            "state": rows(conn, "SELECT * FROM session_state ORDER BY key", "session_no"),
            "prompts": rows(conn, "SELECT * FROM system_prompts WHERE text <> ''", "session_no"),
            "usage": rows(conn, "SELECT * FROM usage_days ORDER BY day, provider, model", "session_no"),
        }


@settings(max_examples=20, deadline=None)
@given(steps=STEPS)
def test_an_imported_export_is_the_same_in_every_column(steps: list[Step]) -> None:
    with tempfile.TemporaryDirectory() as folder, SessionDB(Path(folder) / "one.db") as one:
        session = one.create(cwd="/w", source="tui", model="m", provider="p", branch="main")
        for step in steps:
            step(one, session)
        file = Path(folder) / "export.json"
        file.write_text(one.export(session, "json"), encoding="utf-8")
        with SessionDB(Path(folder) / "two.db") as two:
            assert two.import_(file)["imported"] == [session]
            assert everything(two) == everything(one)
            assert two.import_(file)["imported"] == []
            assert two.check()["ok"]
