"""What a person types beside the conversation is stored without keys too."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest
from support.scripted import bench, say

from hermes_tui.engine.runtime.logs import start_log
from hermes_tui.engine.runtime.session import LiveSession
from hermes_tui.engine.runtime.session_directory import SessionDirectory
from hermes_tui.engine.store.db import SessionDB
from hermes_tui.engine.types.sessions import SessionState

KEY = "my-own-key-0123456789"
TOKEN = "ghp_" + "A1b2C3d4E5" * 4


def leaks(folder: Path) -> list[str]:
    return [
        path.name
        for path in folder.rglob("*")
        if path.is_file() and any(secret.encode() in path.read_bytes() for secret in (KEY, TOKEN))
    ]


def test_prompts_drafts_and_titles_are_stored_without_keys(tmp_path: Path) -> None:
    with SessionDB(tmp_path / "state.db") as store:
        directory = SessionDirectory(store, lambda: [KEY])
        made = bench([say("a")], tmp_path, store=store, parts={"secrets": lambda: [KEY]})
        made.agent.chat("hi")
        session_id = made.agent.session_id
        for text in (f"use {KEY}", f"use {TOKEN}"):
            directory.add_prompt_history("/p", text)
            directory.save_draft(f"/p{len(text)}", text)
            assert "[redacted:" in directory.rename_session(session_id, text)
        live = LiveSession(made.agent, store, made.registry, made.gate, SessionState(session_id=session_id))
        assert "[redacted:" in live.rename(f"again {KEY}")
    assert leaks(tmp_path) == []


@pytest.mark.parametrize(("debug", "kept"), [("", ["warned"]), ("0", ["warned"]), ("1", ["told", "warned"])])
def test_the_log_is_private_and_without_keys_also_in_tracebacks(debug: str, kept: list[str], tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    stop = start_log(folder, {"HERMES_DEBUG": debug}, lambda text: text.replace(KEY, "[redacted:key]"))
    log = logging.getLogger("hermes_tui.somewhere")
    try:
        log.debug("told %s", KEY)
        try:
            raise ValueError(KEY)
        except ValueError:
            log.warning("warned %s", KEY, exc_info=True)
    finally:
        stop()
    (file,) = folder.iterdir()
    text = file.read_text()
    assert [word for word in ("told", "warned") if word in text] == kept
    assert KEY not in text and "Traceback" in text
    assert file.stat().st_mode & 0o777 == 0o600 and folder.stat().st_mode & 0o777 == 0o700


def test_without_anything_to_say_there_is_no_log_and_an_old_wide_one_is_narrowed(tmp_path: Path) -> None:
    start_log(tmp_path / "a", {}, str)()
    assert not list((tmp_path / "a").iterdir())
    old = tmp_path / "b" / "hermes-tui.log"
    old.parent.mkdir()
    old.write_text("before\n")
    old.chmod(0o644)
    stop = start_log(old.parent, {}, str)
    logging.getLogger("hermes_tui.x").error("now")
    stop()
    assert old.read_text().startswith("before\n") and old.stat().st_mode & 0o777 == 0o600


def test_where_no_log_can_be_kept_nothing_reaches_the_terminal(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    stop = start_log(tmp_path / "file", {}, str)
    logging.getLogger("hermes_tui.x").error("now")
    stop()
    assert capfd.readouterr().err == ""
