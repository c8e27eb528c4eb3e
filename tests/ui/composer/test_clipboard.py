import base64
import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from hermes_tui.widgets.clipboard import MAX_OSC52_BYTES, copy, copy_with_tool, osc52, write_private


class Driver:
    def __init__(self) -> None:
        self.written = ""

    def write(self, data: str) -> None:
        self.written += data

    def flush(self) -> None:
        pass


class App:
    def __init__(self, driver: Driver | None) -> None:
        self._driver = driver


def tool(folder: Path, name: str, *, works: bool = True) -> None:
    """A clipboard tool that keeps what it is given."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n/bin/cat > {folder}/{name}.got\nexit {0 if works else 1}\n")
    path.chmod(0o755)


@pytest.mark.parametrize(
    ("tools", "env", "used"),
    [
        (["wl-copy"], {"WAYLAND_DISPLAY": "w"}, "wl-copy"),
        (["wl-copy", "xclip"], {"DISPLAY": ":0"}, "xclip"),
        (["wl-copy", "xsel"], {"DISPLAY": ":0"}, "xsel"),
        (["pbcopy"], {}, "pbcopy"),
        (["pbcopy"], {"SSH_CONNECTION": "x"}, None),
        (["xclip"], {"SSH_CONNECTION": "x", "DISPLAY": "localhost:10"}, "xclip"),
        (["xclip"], {}, None),
        ([], {"DISPLAY": ":0"}, None),
    ],
)
def test_the_native_tool_that_reaches_the_person_is_used(tmp_path, tools, env, used):
    for name in tools:
        tool(tmp_path, name)
    seen = []

    def run(command, content):
        seen.append((command[0], content))
        return True

    assert copy_with_tool("héllo", {"PATH": str(tmp_path), **env}, run) == used
    assert seen == ([(used, "héllo".encode())] if used else [])


def test_a_tool_that_fails_is_passed_over(tmp_path):
    calls = []

    def run(command, content):
        calls.append(command[0])
        return command[0] == "xsel"

    for name in ("wl-copy", "xclip", "xsel"):
        tool(tmp_path, name)
    env = {"PATH": str(tmp_path), "WAYLAND_DISPLAY": "w", "DISPLAY": ":0"}
    assert copy_with_tool("x", env, run) == "xsel"
    assert calls == ["wl-copy", "xclip", "xsel"]


def test_a_real_tool_gets_the_text(tmp_path, monkeypatch):
    tool(tmp_path, "pbcopy")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert copy_with_tool("three\nlines\nhere", {"PATH": str(tmp_path)}) == "pbcopy"
    assert (tmp_path / "pbcopy.got").read_text() == "three\nlines\nhere"


def payload(sequence: str) -> str:
    return base64.b64decode(sequence.split(";c;")[1].split("\x07", maxsplit=1)[0]).decode()


def test_osc52_is_wrapped_for_tmux_and_screen():
    assert osc52("hi", {}) == "\x1b]52;c;aGk=\x07"
    assert osc52("hi", {"TMUX": "/tmp/x"}) == "\x1bPtmux;\x1b\x1b]52;c;aGk=\x07\x1b\\"
    long = osc52("x" * 3000, {"TERM": "screen-256color"})
    pieces = long.split("\x1b\\")[:-1]
    assert all(piece.startswith("\x1bP") and len(piece) <= 768 for piece in pieces)
    assert payload("".join(piece.removeprefix("\x1bP") for piece in pieces)) == "x" * 3000
    assert osc52("x" * (MAX_OSC52_BYTES + 1), {}) == ""


async def test_without_a_tool_the_terminal_is_asked_and_nothing_is_promised(tmp_path):
    driver = Driver()
    result = await copy("hi", App(driver), environ={"PATH": str(tmp_path)})
    assert result.way == "terminal"
    assert result.message == "Sent 2 characters to the terminal's clipboard (OSC 52)."
    assert payload(driver.written) == "hi"


async def test_what_no_clipboard_can_take_goes_to_a_private_file_whose_name_is_told(tmp_path):
    text = "x" * (MAX_OSC52_BYTES + 1)
    result = await copy(text, App(Driver()), environ={"PATH": str(tmp_path)}, file_folder=tmp_path)
    (path,) = tmp_path.glob("hermes-copy-*")
    assert result.way == "file"
    assert str(path) in result.message
    assert path.read_text() == text
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


async def test_when_nothing_works_it_says_so(tmp_path):
    result = await copy("hi", App(None), environ={"PATH": str(tmp_path)}, file_folder=tmp_path / "gone")
    assert result.way == "nothing"
    assert "Could not copy" in result.message
    assert (await copy("", App(None), environ={})).message == "There is nothing to copy."


def test_a_private_file_keeps_every_byte(tmp_path):
    path = write_private("a\r\nb\n", tmp_path)
    assert path.read_bytes() == b"a\r\nb\n"


@pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux")
async def test_inside_tmux_the_buffer_has_the_text_too(tmp_path, monkeypatch):
    tmux = ["tmux", "-S", str(tmp_path / "s")]
    subprocess.run([*tmux, "-f", "/dev/null", "new-session", "-d"], check=True)
    try:
        socket = subprocess.run(
            [*tmux, "display", "-p", "#{socket_path},#{pid},0"], check=True, capture_output=True, text=True
        ).stdout.strip()
        monkeypatch.setenv("TMUX", socket)  # the tmux client itself reads it
        result = await copy("for the buffer", App(Driver()), environ={"TMUX": socket, "PATH": os.environ["PATH"]})
        shown = subprocess.run([*tmux, "show-buffer"], check=True, capture_output=True, text=True).stdout
        assert shown == "for the buffer"
        assert "tmux buffer too" in result.message
    finally:
        subprocess.run([*tmux, "kill-server"], check=False)
