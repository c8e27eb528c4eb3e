"""Images, and the files and folders that a message names, as the model gets them and as they are shown again."""

from __future__ import annotations

import base64
import os
import socket
from pathlib import Path
from typing import Any

import pytest
from support.scripted import Bench, bench, say

from hermes_tui.engine.config.settings import ApprovalSettings
from hermes_tui.engine.policy.gate.gate import ShellGate
from hermes_tui.engine.providers import anthropic_messages, chat_completions, responses
from hermes_tui.engine.runtime import attachments
from hermes_tui.engine.runtime.attachments import message_with
from hermes_tui.engine.runtime.replay import replay
from hermes_tui.engine.runtime.session import LiveSession
from hermes_tui.engine.store.db import SessionDB
from hermes_tui.engine.types.errors import HermesError, PartRejected
from hermes_tui.engine.types.events import Notice, RequestRetrying, TurnStarted
from hermes_tui.engine.types.mentions import find_mentions, parse_mention
from hermes_tui.engine.types.messages import Message, text_of, typed_text
from hermes_tui.engine.types.sessions import SessionState

PNG = b"\x89PNG\r\n\x1a\n" + b"pixels"


def attach(text: str, folder: Path, images: tuple[str, ...] = ()) -> Message:
    return message_with(text, images, folder, lambda path: "")


def live(folder: Path, *replies: Any, **options: Any) -> tuple[Bench, LiveSession]:
    (folder / "home").mkdir()
    gate: Any = ShellGate(ApprovalSettings(), home=folder / "home")
    made = bench(list(replies), folder, platform="tui", gate=gate, **options)
    state = SessionState(session_id="", model="m1", provider="test", cwd=str(folder))
    return made, LiveSession(made.agent, made.store, made.registry, gate, state)


@pytest.mark.parametrize(
    ("text", "mentions"),
    [
        ("see @a.py and (@b/c.py:10-40), @a.py", ["a.py", "b/c.py:10-40),"]),
        ('@"my notes.md":3 @x', ['"my notes.md":3', "x"]),
        ("me@example.com a@b @", []),
    ],
)
def test_a_mention_begins_a_word(text: str, mentions: list[str]) -> None:
    assert list(find_mentions(text)) == mentions


@pytest.mark.parametrize(
    ("mention", "expected"),
    [
        ("src/a.py", ("src/a.py", None, None)),
        ("src/a.py:10-20", ("src/a.py", 10, 20)),
        ("src/a.py:7", ("src/a.py", 7, 7)),
        ('"a b.txt"', ("a b.txt", None, None)),
        ('"a b.txt":3-4', ("a b.txt", 3, 4)),
        ("odd:name", ("odd:name", None, None)),
    ],
)
def test_a_mention_may_name_lines(mention: str, expected: tuple[str, int | None, int | None]) -> None:
    assert parse_mention(mention) == expected


@pytest.mark.parametrize(
    ("mention", "words", "has", "has_not"),
    [
        ("@a.py", "a.py: 5 lines", "1\tline 1\n", "6\t"),
        ("@a.py:2-3", "a.py: lines 2-3 of 5", "2\tline 2\n3\tline 3", "line 4"),
        ("@a.py:4", "a.py: lines 4-4 of 5", "4\tline 4", "line 5"),
        ("@a.py:4-99.", "a.py: lines 4-5 of 5", "5\tline 5", "line 3"),
        ("@a.py:9", "a.py: has no line 9, only 5", "a.py", "line 5"),
        ("(@a.py, please)", "a.py: 5 lines", "line 5", "6\t"),
        ('@"b c.txt"', "b c.txt: 1 line", "1\tbc", "a.py"),
        ("@empty", "empty: empty", "--- empty (empty)", "1\t"),
    ],
)
def test_a_named_file_goes_along_with_its_line_numbers(
    tmp_path: Path, mention: str, words: str, has: str, has_not: str
) -> None:
    (tmp_path / "a.py").write_text("".join(f"line {number}\n" for number in range(1, 6)))
    (tmp_path / "b c.txt").write_text("bc")
    (tmp_path / "empty").touch()
    message = attach(f"look at {mention}", tmp_path)
    assert message["attached"] == [words]
    assert typed_text(message) == f"look at {mention}"
    text = text_of(message)
    assert has in text and has_not not in text


def test_what_names_nothing_is_only_text(tmp_path: Path) -> None:
    assert attach("thanks @someone, see @gone.py:3", tmp_path) == {
        "role": "user",
        "content": "thanks @someone, see @gone.py:3",
    }


def test_of_a_folder_the_text_files_go_along_and_the_others_are_named(tmp_path: Path) -> None:
    assets = tmp_path / "assets"
    (assets / "deep").mkdir(parents=True)
    (assets / ".gitignore").write_text("*.log\n!keep.log\n")
    for name in ("a.txt", "deep/b.txt", "x.log", "keep.log", ".hidden"):
        (assets / name).write_text(f"text of {name}\n")
    (assets / "empty.txt").touch()
    (assets / "logo.png").write_bytes(PNG + b"\0")
    os.mkfifo(assets / "pipe")
    (assets / "link").symlink_to("/etc/hostname")
    with (assets / "huge.bin").open("wb") as huge:
        huge.truncate(2_000_000_000)
    with socket.socket(socket.AF_UNIX) as server:
        here = Path.cwd()
        os.chdir(assets)  # the name of a socket must be short
        try:
            server.bind("sock")
        finally:
            os.chdir(here)
    (words,) = attach("sum up @assets/", tmp_path)["attached"]
    assert words.startswith("assets/: 4 files; left out: ")
    for left_out in (
        "huge.bin (2.0 GB)",
        "link (a link)",
        "logo.png (a PNG image",
        "pipe (a named pipe)",
        "sock (a sock",
    ):
        assert left_out in words
    text = text_of(attach("sum up @assets", tmp_path))
    assert "text of a.txt" in text and "text of deep/b.txt" in text and "text of keep.log" in text
    assert "text of x.log" not in text and "hidden" not in text


def test_a_message_has_room_for_so_much_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attachments, "MAX_FOLDER_FILES", 3)
    (tmp_path / "many").mkdir()
    for number in range(5):
        (tmp_path / f"many/{number}").write_text("x")
        (tmp_path / f"big{number}").write_text("word word word word word word word word word word\n" * 1_400)
    assert "everything after that" in attach("@many", tmp_path)["attached"][0]
    message = attach("@big0 @big1 @big2 @big3:1-2", tmp_path)
    assert message["attached"] == [
        "big0: 1,400 lines",
        "big1: 1,400 lines",
        "big2: left out, the message has no room for it; ask for it by lines",
        "big3: lines 1-2 of 1,400",
    ]
    assert len(text_of(message)) < attachments.MAX_CHARS


@pytest.mark.parametrize("content", [PNG, b"\xff\xd8\xff\xe0x", b"GIF89a", b"RIFF\0\0\0\0WEBPx"])
@pytest.mark.parametrize("how", ["by hand", "by mention"])
def test_an_image_is_known_by_its_bytes_and_goes_to_every_api(tmp_path: Path, content: bytes, how: str) -> None:
    (tmp_path / "shot.dat").write_bytes(content)
    message = (
        attach("what is it?", tmp_path, (str(tmp_path / "shot.dat"),))
        if how == "by hand"
        else attach("@shot.dat", tmp_path)
    )
    encoded = base64.b64encode(content).decode()
    made = bench([say("a cat")], tmp_path)
    made.agent.run_message(message)
    for build in (chat_completions, responses, anthropic_messages):
        assert encoded in str(build.build_body(made.client.requests[0]))
    assert message["attached"] == [f"shot.dat: image, {len(content)} bytes"]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("notes.txt", b"x", "not an image"),
        ("gone.png", None, "does not exist"),
        ("old.bmp", b"BMxx", "not an image"),
        ("huge.png", PNG + bytes(5_000_000), "too large"),
    ],
)
def test_what_cannot_be_sent_is_refused_by_hand_and_told_by_mention(
    tmp_path: Path, name: str, content: bytes | None, words: str
) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(HermesError, match=words):
        attach("x", tmp_path, (str(tmp_path / name),))
    if words == "too large":
        assert attach(f"@{name}", tmp_path)["attached"] == ["huge.png: left out, huge.png is too large (5.0 MB)."]


def test_an_image_that_is_attached_and_named_goes_once(tmp_path: Path) -> None:
    for name in ("a.png", "b.png"):
        (tmp_path / name).write_bytes(PNG)
    message = attach("@a.png", tmp_path, (str(tmp_path / "b.png"),))
    assert message["attached"] == ["b.png: image, 14 bytes"]


def test_an_image_of_a_pipe_does_not_hang(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a.png")
    with pytest.raises(HermesError, match="pipe"):
        attach("x", tmp_path, (str(tmp_path / "a.png"),))


def test_the_gate_has_its_word_about_what_is_named(tmp_path: Path) -> None:
    made, session = live(tmp_path, say("ok"))
    (tmp_path / ".env").write_text("TOKEN=hunter2hunter2\n")
    (tmp_path / "innocent").symlink_to(".env")
    (tmp_path / "a.txt").write_text("fine\n")
    session.run_turn("@.env @innocent @a.txt")
    request = str(made.client.requests[0].messages)
    assert "hunter2" not in request and "1\\tfine" in request
    assert [line.partition(",")[0] for line in made.rows()[0]["attached"]] == [
        ".env: left out",
        "innocent: left out",
        "a.txt: 1 line",
    ]


@pytest.mark.parametrize("fmt", ["md", "html", "json"])
def test_it_survives_storing_resuming_and_exporting(tmp_path: Path, fmt: str) -> None:
    (tmp_path / "a.txt").write_text("words in the file\n")
    (tmp_path / "b.png").write_bytes(PNG)
    with SessionDB(tmp_path / "state.db") as store:
        made, session = live(tmp_path, say("a"), store=store)
        session.run_turn("compare @a.txt", [str(tmp_path / "b.png")])
        started = next(event for event in made.events if isinstance(event, TurnStarted))
        assert started.text == "compare @a.txt"
        assert started.attached == ("b.png: image, 14 bytes", "a.txt: 1 line")
        session_id = made.agent.session_id
        shown = replay(store.messages(session_id), made.registry)
        again = next(event for event in shown if isinstance(event, TurnStarted))
        assert (again.text, again.attached) == (started.text, started.attached)
        assert store.row(session_id).title == "compare @a.txt"
        resumed = bench([say("b")], tmp_path, store=store, session_id=session_id)
        resumed.agent.chat("more")
        first = made.client.requests[0].messages
        assert list(resumed.client.requests[0].messages[: len(first)]) == list(first)
        exported = store.export(session_id, fmt)
        assert "words in the file" in exported
        assert (base64.b64encode(PNG).decode() in exported) is (fmt != "md")
        assert fmt == "html" or "b.png: image" in exported


def test_a_model_that_cannot_see_is_told_and_so_is_the_person(tmp_path: Path) -> None:
    (tmp_path / "b.png").write_bytes(PNG)
    made, session = live(
        tmp_path,
        [PartRejected("image input is not supported", quirk="no_images")],
        say("I cannot see."),
        say("still not"),
    )
    session.run_turn("what is it?", [str(tmp_path / "b.png")])
    assert "this model reads text only" in str(made.client.requests[1].messages)
    assert "without the images" in made.of(RequestRetrying)[0].reason
    session.run_turn("and this?", [str(tmp_path / "b.png")])
    told = [event.text for event in made.of(Notice) if event.kind == "image"]
    assert told == ["m1 reads text only: it gets a note in place of each image."]
