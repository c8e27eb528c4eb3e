"""sessions export, import, prune, stats and check from the command line."""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.hermes_db import HermesDb
from support.store import talk

from hermes_tui.engine.config.paths import find_paths
from hermes_tui.engine.config.secrets import save_api_key
from hermes_tui.engine.store.db import SessionDB
from hermes_tui.engine.surfaces.session_commands import main
from hermes_tui.engine.types.errors import HermesError
from hermes_tui.engine.types.usage import Usage

SHAPED = "sk-ant-abcdefghijklmnop1234"
STORED = "plain+looking/key&value"


@pytest.fixture
def database() -> Path:
    return find_paths(os.environ).database


@pytest.fixture
def db(database: Path) -> Iterator[SessionDB]:
    with SessionDB(database) as opened:
        yield opened


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = main(words)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.mark.parametrize("fmt", ["md", "json", "html"])
def test_an_export_has_no_secret_in_it_unless_asked_raw(
    db: SessionDB, capsys: pytest.CaptureFixture[str], fmt: str
) -> None:
    save_api_key(find_paths(os.environ), "local", STORED)
    talk(db, db.create(session_id="s"), f"use {SHAPED} and {STORED}", "ok")
    _, out, _ = run(capsys, "export", "s", "--format", fmt)
    assert "sk-ant" not in out and "plain+looking" not in out and "[redacted:anthropic]" in out
    _, out, _ = run(capsys, "export", "s", "--format", fmt, "--raw")
    assert SHAPED in out and "plain+looking" in out


def test_the_format_follows_the_files_name_and_no_file_is_overwritten(
    db: SessionDB, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    talk(db, db.create(session_id="s"), "hello")
    starts = {"x.html": "<!doctype html>", "x.json": "{", "x.md": "# hello"}
    for name, start in starts.items():
        path = tmp_path / name
        assert run(capsys, "export", "s", "-o", str(path))[0] == 0
        assert path.read_text().startswith(start) and stat.S_IMODE(path.stat().st_mode) == 0o600
        code, _, err = run(capsys, "export", "s", "-o", str(path))
        assert (code, "exists" in err) == (1, True)
    code, _, err = run(capsys, "export", "s", "-o", str(tmp_path / "none" / "x.md"))
    assert code == 1 and "cannot be written" in err


def test_an_import_says_what_came_and_what_not_and_why(
    database: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    hermes = HermesDb(tmp_path / "state.db")
    hermes.session("one", {"role": "user", "content": "hello"})
    hermes.session("empty")
    hermes.close()
    assert run(capsys, "import", str(tmp_path), "--dry-run")[1].startswith("Would import 1 session with 1 message.")
    _, out, _ = run(capsys, "import", str(tmp_path))
    assert out == "Imported 1 session with 1 message.\nSkipped 1:\n  empty: It has no messages.\n"
    _, out, _ = run(capsys, "import", str(tmp_path), "--from", "hermes", "--json")
    assert json.loads(out) == {
        "imported": [], "skipped": {"one": "It is here already.", "empty": "It has no messages."}, "notes": {},
        "messages": 0, "dry_run": False,
    }  # fmt: skip
    with pytest.raises(HermesError, match="nowhere"):
        main(["import", str(tmp_path / "nowhere")])


def test_pruning_shows_first_and_erases_with_yes(db: SessionDB, capsys: pytest.CaptureFixture[str]) -> None:
    for session, age in (("old", 100), ("new", 1), ("run", 200)):
        db.create(session_id=session, source="run" if session == "run" else "tui", title=session.upper())
        db.append(session, {"role": "user", "content": "x", "created_at": time.time() - age * 86400})
        db._set(session, {"updated_at": time.time() - age * 86400})
    _, out, err = run(capsys, "prune", "--source", "tui")
    assert out.startswith("Would erase 1 session with 1 message") and "old  OLD" in out and "--yes" in err
    assert len(db.list_sessions()) == 3
    assert json.loads(run(capsys, "prune", "--older-than", "6m", "--json")[1])["sessions"] == ["run"]
    assert run(capsys, "prune", "--older-than", "12w", "--max-size", "1G")[1] == "Nothing is that old.\n"
    assert json.loads(run(capsys, "prune", "--max-size", "1k", "--json")[1])["sessions"] == ["run", "old"]
    assert run(capsys, "prune", "--older-than", "12w", "--yes")[1].startswith("Erased 2 sessions")
    assert [row.id for row in db.list_sessions()] == ["new"]


def test_statistics_are_plotted_by_day_model_and_folder(db: SessionDB, capsys: pytest.CaptureFixture[str]) -> None:
    for model, count, cost in (("big", 800, 1.5), ("small", 100, None)):
        session = db.create(model=model, provider="p", cwd="/w")
        talk(db, session, "x")
        db.add_usage(session, Usage(input_tokens=count), cost)
    _, out, _ = run(capsys, "stats")
    lines = out.splitlines()
    big, small = (next(line for line in lines if line.startswith(f"p/{name}")) for name in ("big", "small"))
    assert big.count("\u2588") == 8 * small.count("\u2588") + 6
    assert "$1.50" in big and "unknown" in small and "$1.50+" in out
    found = json.loads(run(capsys, "stats", "--json")[1])
    assert [row["input_tokens"] for row in found["by_day"]] == [900]
    assert {row["model"]: row["cost_usd"] for row in found["by_model"]} == {"p/big": 1.5, "p/small": 0.0}


def test_an_empty_store_has_statistics_too(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "Nothing is stored yet." in run(capsys, "stats")[1]


def test_a_damaged_index_is_named_and_repaired(db: SessionDB, capsys: pytest.CaptureFixture[str]) -> None:
    session = db.create()
    talk(db, session, "needle")
    db._db.write(lambda conn: conn.execute("UPDATE messages_fts_data SET block = zeroblob(64) WHERE id > 10").rowcount)
    code, out, _ = run(capsys, "check")
    assert code == 1 and "search index" in out and "--repair" in out
    assert run(capsys, "check", "--repair")[0] == 0
    code, out, _ = run(capsys, "check")
    assert code == 0 and "whole" in out
    assert run(capsys, "search", "needle")[1].startswith(session)


def test_a_damaged_file_is_salvaged(database: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with SessionDB(database) as db:
        for number in range(10):
            db.append_many(
                db.create(session_id=f"s{number}", title=f"T{number}"),
                [{"role": "user", "content": f"s{number} word{at} " + "x" * 300} for at in range(40)],
            )
    content = database.read_bytes()
    page = content.index(b"s4 word20 ") // 4096
    database.write_bytes(content[: page * 4096] + b"\xff" * 4096 + content[(page + 1) * 4096 :])
    assert run(capsys, "check")[0] == 1
    code, out, err = run(capsys, "check", "--repair")
    assert code == 0 and "whole" in out
    assert "Saved: 10 sessions" in err and "s4  T4: " in err and "Lost: " in err
    (backup,) = database.parent.glob("state.db.damaged-*")
    assert str(backup) in err


@pytest.mark.parametrize("text", ["", "x", "3q", "-1d", "1e9"])
def test_an_age_that_is_not_understood_is_refused(
    database: Path, capsys: pytest.CaptureFixture[str], text: str
) -> None:
    with pytest.raises(SystemExit):
        main(["prune", f"--older-than={text}"])
    assert "90d" in capsys.readouterr().err
