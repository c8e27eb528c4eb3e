"""A damaged database: what reads is saved, what is lost is said, and the damaged file is kept."""

from __future__ import annotations

import random
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest
from support.store import holding, texts

from hermes_tui.engine.store.db import SessionDB
from hermes_tui.engine.store.salvage import salvage
from hermes_tui.engine.types.errors import StoreError

PAGE = 4096


def filled(path: Path, sessions: int = 20, messages: int = 60) -> None:
    with SessionDB(path) as db:
        for number in range(sessions):
            session = db.create(session_id=f"s{number}", title=f"Title {number}")
            db.append_many(
                session, [{"role": "user", "content": f"s{number} word{at} " + "text " * 40} for at in range(messages)]
            )
            db.set_state(session, "todos", ["x"])
            db.set_system_prompt(session, "prompt " * 200)
    with sqlite3.connect(path) as conn:
        conn.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def pages_of(path: Path, *names: str) -> list[int]:
    """Numbers (from 0) of the leaf pages of tables or indexes, found by where a marker text lies."""
    blocks = [path.read_bytes()[at : at + PAGE] for at in range(0, path.stat().st_size, PAGE)]
    return [number for number, block in enumerate(blocks) if any(name.encode() in block for name in names)]


def overwrite(path: Path, pages: list[int]) -> None:
    with path.open("r+b") as file:
        for page in pages:
            file.seek(page * PAGE)
            file.write(b"\xff" * PAGE)


def test_messages_on_other_pages_are_saved_and_the_lost_ones_counted(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    filled(path)
    overwrite(path, pages_of(path, "s7 word10 ", "s12 word30 ")[:2])
    damaged = path.read_bytes()
    report = salvage(path)
    assert report["sessions"] == 20
    lost = sum(row["messages"] for row in report["lost"])
    assert 0 < lost < 80 and report["messages"] == 1200 - lost
    assert "messages" in report["unreadable"]
    assert Path(report["backup"]).read_bytes() == damaged
    with SessionDB(path) as db:
        assert db.check()["ok"]
        assert len(db.list_sessions()) == 20 and len(db.history("s0")) == 60
        assert len(texts(db.history("s7"))) < 60
        assert db.search("s3 word59").hits[0].session.id == "s3"
        assert db.system_prompt("s0") and db.get_state("s0", "todos") == ["x"]
        db.append("s7", {"role": "user", "content": "and on"})
    assert [file.name for file in tmp_path.iterdir() if "salvage" in file.name] == []


def test_messages_of_a_lost_session_row_get_a_session(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    filled(path, sessions=3, messages=5)
    with SessionDB(path) as db:
        db._db.write(lambda conn: conn.execute("DELETE FROM sessions WHERE id = 's1'").rowcount)
    report = salvage(path)
    assert (report["sessions"], report["messages"]) == (3, 15)
    with SessionDB(path) as db:
        assert len(db.history("salvaged-2")) == 5
        assert db.row("salvaged-2").title == "Salvaged session 2"


@pytest.mark.parametrize("seed", range(12))
def test_damage_anywhere_ends_in_a_whole_store(tmp_path: Path, seed: int) -> None:
    path = tmp_path / "state.db"
    filled(path, sessions=6, messages=30)
    count = path.stat().st_size // PAGE
    overwrite(path, random.Random(seed).sample(range(1, count), 3))
    report = salvage(path)
    with SessionDB(path) as db:
        assert db.check()["ok"]
        assert report["messages"] == db.stats()["messages"] - sum(row["messages"] for row in report["lost"])


def cut_in_half(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


def lose_the_first_page(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(100)
        file.write(b"\0" * (PAGE - 100))


@pytest.mark.parametrize("damage", [cut_in_half, lose_the_first_page])
def test_even_a_hopeless_file_leaves_a_store_that_works_and_a_backup(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    path = tmp_path / "state.db"
    filled(path, sessions=4)
    damage(path)
    broken = path.read_bytes()
    report = salvage(path)
    assert Path(report["backup"]).read_bytes() == broken
    with SessionDB(path) as db:
        assert db.check()["ok"]
        db.append(db.create(), {"role": "user", "content": "on"})


def test_a_whole_store_loses_nothing(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    filled(path, sessions=3, messages=4)
    with SessionDB(path) as db:
        fork = db.fork("s0")
        db.add_prompt("/w", "typed")
        db.save_draft("k", "draft")
        before = (db.list_sessions(), db.history("s1"), db.history(fork))
    report = salvage(path)
    assert (report["sessions"], report["messages"], report["lost"], report["unreadable"]) == (4, 12, [], [])
    with SessionDB(path) as db:
        assert (db.list_sessions(), db.history("s1"), db.history(fork)) == before
        assert db.prompt_history("/w") == ["typed"] and db.load_draft("k") == "draft"


def test_a_store_that_another_process_has_open_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    filled(path, sessions=1, messages=1)
    before = path.read_bytes()
    with holding(path, "s0"), pytest.raises(StoreError, match="Close it"):
        salvage(path)
    assert path.read_bytes() == before
