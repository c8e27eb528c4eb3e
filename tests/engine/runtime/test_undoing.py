"""Undo and redo of exchanges and files, with the real database and the real tools."""

from __future__ import annotations

import base64
import json
import threading
from pathlib import Path
from typing import Any

import pytest
from support.scripted import Bench, bench, call, say

from hermes_tui.engine.checkpoints.history import FileHistory
from hermes_tui.engine.checkpoints.tree import Limits
from hermes_tui.engine.runtime.session_directory import SessionDirectory
from hermes_tui.engine.runtime.undoing import Undoing
from hermes_tui.engine.store.checkpoints import CheckpointDB
from hermes_tui.engine.store.db import SessionDB
from hermes_tui.engine.types.events import FilesChanged, Notice
from hermes_tui.tools.registry import load_builtin_tools


class House:
    """A database, checkpoints and a workspace, for one agent after another."""

    def __init__(self, root: Path) -> None:
        self.work = root / "work"
        self.work.mkdir()
        self.root = root
        self.store = SessionDB(root / "state.db")
        self.checkpoints = CheckpointDB(root / "checkpoints.db")

    def agent(self, *replies: Any, session_id: str = "") -> Bench:
        parts = {
            "checkpoints": self.checkpoints,
            "spill_dir": self.root / "spill",
            "env": {"PATH": "/usr/bin:/bin", "HOME": str(self.root)},
        }
        return bench(
            replies, self.work, store=self.store, registry=load_builtin_tools(), parts=parts, session_id=session_id
        )

    def close(self) -> None:
        self.checkpoints.close()
        self.store.close()


@pytest.fixture
def house(tmp_path: Path) -> Any:
    made = House(tmp_path)
    yield made
    made.close()


def shell(command: str, number: int = 1) -> Any:
    return call(("terminal", json.dumps({"command": command})), first_id=number)


def write(path: str, content: str, number: int = 1) -> Any:
    return call(("write_file", json.dumps({"path": path, "content": content})), first_id=number)


def test_an_exchange_and_its_files_are_taken_back_and_brought_back(house: House) -> None:
    (house.work / "a").write_text("before\n")
    made = house.agent(write("new/b", "b\n"), shell("echo after > a; mkdir d; ln -s a d/l", 2), say("done"), say("ok"))
    made.agent.chat("change it")
    plan = made.agent.undoing.plan()
    assert plan.text == "change it" and not plan.kept
    assert [(one.path, one.kind) for one in plan.files] == [
        ("a", "changed"), ("d/", "created"), ("d/l", "created"), ("new/", "created"), ("new/b", "created"),
    ]  # fmt: skip
    done = made.agent.undoing.undo("both")
    assert done.text == "change it" and done.has_message and not done.kept
    assert (house.work / "a").read_text() == "before\n" and len(list(house.work.iterdir())) == 1
    assert made.agent.conversation.history == []
    back = made.agent.undoing.redo()
    assert [stored.message["role"] for stored in back.messages] == [
        "user",
        "assistant",
        "tool",
        "assistant",
        "tool",
        "assistant",
    ]
    assert (house.work / "a").read_text() == "after\n" and (house.work / "d" / "l").is_symlink()
    made.agent.chat("go on")
    assert [m["content"] for m in made.client.requests[-1].messages if m["role"] == "user"] == ["change it", "go on"]
    made.agent.close()


def test_files_alone_are_taken_back_and_the_model_is_told(house: House) -> None:
    made = house.agent(shell("echo x > f"), say("done"), say("I see"), say("and on"))
    made.agent.chat("make it")
    assert made.agent.undoing.undo("files").files == ("f",)
    assert not (house.work / "f").exists()
    assert len(made.agent.conversation.history) == 4
    made.agent.chat("next")
    sent = made.client.requests[-1].messages[-1]["content"]
    assert sent == "next\n\n[The person took back what you did in an earlier turn to: f.]"
    assert made.agent.conversation.history[-2]["content"] == "next"
    made.agent.chat("more")
    assert made.client.requests[-1].messages[-1]["content"] == "more"
    made.agent.close()


def test_what_was_undone_and_redone_before_the_next_message_is_no_news(house: House) -> None:
    made = house.agent(shell("echo x > f"), say("done"), say("ok"))
    made.agent.chat("make it")
    made.agent.undoing.undo("files")
    made.agent.undoing.redo()
    made.agent.chat("next")
    assert made.client.requests[-1].messages[-1]["content"] == "next"
    made.agent.close()


def test_the_message_alone_is_taken_back_and_the_files_stay(house: House) -> None:
    made = house.agent(shell("echo x > f"), say("done"))
    made.agent.chat("make it")
    assert made.agent.undoing.undo("message").files == ()
    assert (house.work / "f").exists()
    assert [one.path for one in made.agent.undoing.changes()] == ["f"]
    made.agent.close()


def test_a_resumed_session_can_undo_twice_and_redo_twice(house: House) -> None:
    first = house.agent(shell("echo 1 > f"), say("one"), shell("echo 2 > f", 2), say("two"))
    first.agent.chat("first")
    first.agent.chat("second")
    first.agent.close()
    made = house.agent(session_id=first.agent.session_id)
    made.agent.load()
    assert made.agent.undoing.undo("both").text == "second"
    assert (house.work / "f").read_text() == "1\n"
    assert made.agent.undoing.undo("both").text == "first"
    assert not (house.work / "f").exists()
    assert made.agent.undoing.redo().has_message
    assert (house.work / "f").read_text() == "1\n"
    assert made.agent.undoing.redo().has_message
    assert (house.work / "f").read_text() == "2\n"
    assert not made.agent.undoing.redo().has_message
    made.agent.close()


def test_nothing_is_redone_once_something_was_said(house: House) -> None:
    made = house.agent(shell("echo 1 > f"), say("one"), say("other"))
    made.agent.chat("first")
    made.agent.undoing.undo("both")
    made.agent.chat("something else")
    done = made.agent.undoing.redo()
    assert not (done.has_message or done.files)
    assert not (house.work / "f").exists()
    made.agent.close()


def test_the_changed_files_are_told_as_they_change(house: House) -> None:
    made = house.agent(write("f", "one\ntwo\n"), shell("rm f; echo x > g", 2), say("done"))
    made.agent.chat("go")
    told = [[(one["path"], one["kind"]) for one in event.files] for event in made.of(FilesChanged)]
    assert told == [[("f", "created")], [("g", "created")]]
    made.agent.undoing.undo("both")
    assert made.of(FilesChanged)[-1].count == 0
    made.agent.close()


def test_a_subagents_changes_count_to_the_turn_that_asked_for_them(house: House) -> None:
    task = call(("delegate_task", json.dumps({"tasks": [{"goal": "make f"}]})))
    made = house.agent(task, shell("echo x > f", 2), say("made it"), say("done"))
    made.agent.chat("have it made")
    assert (house.work / "f").exists()
    assert made.agent.undoing.undo("both").files == ("f",)
    assert not (house.work / "f").exists()
    made.agent.close()


def test_a_command_that_only_reads_is_not_watched(house: House) -> None:
    """What the person does meanwhile is theirs, and nothing is looked at."""
    from hermes_tui.engine.config.settings import ApprovalSettings
    from hermes_tui.engine.policy.gate.gate import ShellGate

    gate = ShellGate(ApprovalSettings())
    folder = str(house.work)
    assert gate.judge_command("ls -la | grep x", cwd=folder, workspace=folder).changes_nothing
    for command in ("make", "echo x > f", "python -c 1", "sed -i s/a/b/ f", "unknown-program", "cat $(x)"):
        assert not gate.judge_command(command, cwd=folder, workspace=folder).changes_nothing


def test_a_workspace_that_is_too_large_is_said_once_and_in_the_plan(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    from hermes_tui.engine.checkpoints import tracker

    # The product's limits are 20,000 files; a workspace of that size takes seconds to make.
    monkeypatch.setattr(
        tracker.Tracker.__init__,
        "__kwdefaults__",
        {**tracker.Tracker.__init__.__kwdefaults__, "limits": Limits(entries=2)},
    )
    for number in range(4):
        (house.work / f"f{number}").touch()
    made = house.agent(shell("echo x > f0"), shell("echo x > f1", 2), write("g", "x", 3), say("done"))
    made.agent.chat("go")
    notices = [event.text for event in made.of(Notice) if event.kind == "undo"]
    assert len(notices) == 1 and "more than 2 files" in notices[0]
    plan = made.agent.undoing.plan()
    assert [one.path for one in plan.files] == ["g"] and "more than 2 files" in plan.note
    made.agent.close()


def test_images_come_back_as_files(house: House) -> None:
    png = base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    )
    parts = [
        {"type": "text", "text": "look [Image #1: a.png]"},
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{base64.b64encode(png).decode()}"}},
    ]
    made = house.agent(say("seen"))
    made.agent.run_conversation(parts)  # type: ignore[arg-type]
    done = made.agent.undoing.undo("message")
    assert done.text == "look [Image #1: a.png]"
    assert [Path(path).read_bytes() for path in done.images] == [png]
    assert Path(done.images[0]).stat().st_mode & 0o777 == 0o600
    made.agent.close()


def test_going_back_takes_the_files_of_all_turns_since(house: House) -> None:
    made = house.agent(
        shell("echo 1 > f"), say("one"), shell("echo 2 > f", 2), say("two"), shell("echo 3 > g", 3), say("three")
    )
    for text in ("first", "second", "third"):
        made.agent.chat(text)
    session_id = made.agent.session_id
    second = house.store.user_messages(session_id)[1]
    plan = made.agent.undoing.plan(second.id)
    assert [one.path for one in plan.files] == ["f", "g"]
    directory = SessionDirectory(house.store, checkpoints=house.checkpoints, image_dir=house.root)
    fork_id, done = directory.rewind(session_id, second.id, files=True)
    assert (done.text, done.files) == ("second", ("f", "g"))
    assert (house.work / "f").read_text() == "1\n" and not (house.work / "g").exists()
    fork = house.agent(session_id=fork_id)
    fork.agent.load()
    assert fork.agent.undoing.redo().files == ("f", "g")
    assert (house.work / "g").exists()
    fork.agent.close()
    made.agent.close()


def test_a_broken_checkpoint_file_stops_neither_turns_nor_messages(house: House) -> None:
    made = house.agent(shell("echo x > f"), say("done"))
    house.checkpoints.close()
    made.agent.chat("go")
    assert (house.work / "f").exists()
    assert [event.level for event in made.of(Notice) if event.kind == "undo"] == ["warning"]
    assert made.agent.undoing.undo("message").has_message
    made.agent.close()


def test_without_checkpoints_messages_are_undone_and_redone(tmp_path: Path) -> None:
    with SessionDB(tmp_path / "state.db") as store:
        made = bench([say("a")], tmp_path, store=store)
        made.agent.chat("one")
        undoing: Undoing = made.agent.undoing
        assert undoing.plan().files == ()
        assert undoing.undo("message").text == "one"
        assert undoing.redo().has_message
        assert len(made.agent.conversation.history) == 2


def test_a_message_sent_during_an_undo_waits_and_is_not_taken_back(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = house.agent(write("f", "x"), say("done"), say("second answer"))
    made.agent.chat("first")
    second = threading.Thread(target=made.agent.chat, args=("second",))
    undo = FileHistory.undo

    def undo_and_send(*args: Any, **named: Any) -> Any:
        done = undo(*args, **named)
        second.start()
        second.join(0.2)  # time to get in the way, if it could
        return done

    monkeypatch.setattr(FileHistory, "undo", undo_and_send)
    assert made.agent.undoing.undo("both").text == "first"
    second.join()
    assert [row["content"] for row in made.agent.conversation.history] == ["second", "second answer"]


def test_erased_sessions_leave_no_contents(house: House) -> None:
    made = house.agent(write("f", "secret words\n"), say("done"))
    made.agent.chat("go")
    made.agent.close()
    scope = [(made.agent.session_id, 0, 1 << 60)]
    house.checkpoints.forget(house.store.existing)
    assert house.checkpoints.edits(scope)
    house.store.delete(made.agent.session_id)
    house.store.purge_deleted(0)
    house.checkpoints.forget(house.store.existing)
    assert not house.checkpoints.edits(scope)


def test_what_a_script_wrote_by_tools_and_by_itself_is_taken_back(house: House) -> None:
    code = "write_file('by_tool', 'x')\nopen('by_itself', 'w').write('y')\nprint(terminal('touch by_command')['ok'])"
    made = house.agent(call(("execute_code", json.dumps({"code": code}))), say("done"))
    made.agent.chat("run it")
    paths = {"by_tool", "by_itself", "by_command"}
    assert {path.name for path in house.work.iterdir()} == paths
    assert {one.path for one in made.agent.undoing.plan().files} == paths
    made.agent.undoing.undo("both")
    assert list(house.work.iterdir()) == []
    made.agent.close()
