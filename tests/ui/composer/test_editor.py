import stat
from contextlib import contextmanager
from pathlib import Path

import pytest
from textual.app import SuspendNotSupported

from hermes_tui.widgets.editor import edit_file, edit_text, editor_command


class App:
    def __init__(self) -> None:
        self.suspended = 0

    @contextmanager
    def suspend(self):
        self.suspended += 1
        yield


class WebApp:
    def suspend(self):
        raise SuspendNotSupported("not here")


def editor(folder: Path, script: str) -> str:
    path = folder / "my editor"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return f'"{path}" --wait'


def test_a_draft_goes_out_and_comes_back(tmp_path):
    seen = tmp_path / "seen"
    command = editor(tmp_path, f'cp "$2" {seen}; stat -c %a "$2" > {seen}.mode; printf "%s\\n" "new text" > "$2"')
    app = App()
    result = edit_text("old\ntext", app, environ={"VISUAL": command})
    assert (result.text, result.problem, app.suspended) == ("new text", "", 1)
    assert seen.read_text() == "old\ntext"
    assert (tmp_path / "seen.mode").read_text().strip() == oct(stat.S_IRUSR | stat.S_IWUSR)[2:]


@pytest.mark.parametrize(
    ("script", "problem"),
    [("exit 3", "ended with code 3"), ('rm "$2"', "could not be read"), ('printf "\\377" > "$2"', "could not be read")],
)
def test_an_editor_that_fails_leaves_the_draft_as_it_was(tmp_path, script, problem):
    result = edit_text("draft", App(), environ={"EDITOR": editor(tmp_path, script)})
    assert result.text == "draft"
    assert problem in result.problem


def test_without_an_editor_the_message_says_what_to_set():
    result = edit_text("draft", App(), environ={"PATH": "/nowhere"})
    assert result.text == "draft"
    assert "EDITOR" in result.problem


def test_where_the_screen_cannot_be_handed_over_it_says_so(tmp_path):
    result = edit_text("draft", WebApp(), environ={"EDITOR": editor(tmp_path, "true")})
    assert "cannot hand the screen" in result.problem


def test_visual_comes_before_editor_and_a_missing_one_is_passed_over(tmp_path):
    good = editor(tmp_path, "true")
    assert editor_command({"VISUAL": "/no/such", "EDITOR": good})[1:] == ["--wait"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("vim", "+7 {path}"),
        ("nano", "+7 {path}"),
        ("hx", "{path}:7"),
        ("code", "--wait -g {path}:7"),
        ("odd", "{path}"),
    ],
)
def test_a_file_is_opened_at_its_line(tmp_path, name, words):
    program, target = tmp_path / name, tmp_path / "a b.py"
    program.write_text(f'#!/bin/sh\nprintf "%s " "$@" > "{tmp_path}/seen"\n')
    program.chmod(0o755)
    target.write_text("x\n")
    app = App()
    command = f"{program} --wait" if name == "code" else str(program)
    assert edit_file(target, 7, app, environ={"EDITOR": command}) == ""
    assert (tmp_path / "seen").read_text().strip() == words.format(path=target)
    assert app.suspended == 1 and target.read_text() == "x\n"


def test_a_file_that_is_gone_and_an_editor_that_fails_are_told(tmp_path):
    environ = {"EDITOR": editor(tmp_path, "exit 3")}
    assert "not there any more" in edit_file(tmp_path / "gone", 1, App(), environ=environ)
    (tmp_path / "a").touch()
    assert edit_file(tmp_path / "a", 1, App(), environ=environ).endswith("ended with code 3.")
    assert "cannot hand the screen" in edit_file(tmp_path / "a", 1, WebApp(), environ=environ)
