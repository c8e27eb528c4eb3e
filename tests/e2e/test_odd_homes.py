"""Homes, files, locales and tools that are not as expected: it says so once and works with what is there."""

from __future__ import annotations

import json
import os
import shutil
import signal
import site
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from support.model_server import Call, ModelServer, Turn
from support.program import Installation, idle, ready, say

import hermes_tui

pytestmark = pytest.mark.e2e

ASCII_LOCALE = {"LANG": "C", "LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    with ModelServer([Turn(match="greet", text="Hello there.")]) as server:
        yield server


def database(user: Installation) -> Path:
    return user.home / "hermes" / "state.db"


def as_text(user: Installation) -> None:
    database(user).write_text("my notes\n" * 100)


def as_folder(user: Installation) -> None:
    database(user).mkdir()


def as_dangling_link(user: Installation) -> None:
    database(user).symlink_to(user.home / "gone" / "state.db")


def home_as_file(user: Installation) -> None:
    shutil.rmtree(user.home / "hermes")
    (user.home / "hermes").write_text("mine")


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (as_text, "state.db is not a session database; it was left as it is."),
        (as_folder, "state.db is a folder, not a session database."),
        (as_dangling_link, "state.db cannot be written"),
        (home_as_file, "hermes is not a folder."),
    ],
)
def test_a_place_that_cannot_hold_sessions_is_named_and_left_alone(
    user: Installation, server: ModelServer, spoil: Callable[[Installation], None], words: str
) -> None:
    spoil(user)
    before = [
        (path, path.read_bytes()) for path in user.home.rglob("*") if path.is_file() and path.name != "config.toml"
    ]
    done = user.run("run", "--base-url", server.base_url, "-m", "test-model", "greet me")
    assert (done.returncode, done.stdout) == (0, "Hello there.\n")
    assert words in done.stderr and done.stderr.count("This session will not be kept.") == 1
    assert [(path, path.read_bytes()) for path, _ in before] == before


def test_an_empty_database_file_is_made_a_database(user: Installation) -> None:
    database(user).touch()
    assert user.run("run", "greet me").stderr == ""
    assert len(json.loads(user.run("sessions", "list", "--json").stdout)) == 1


def test_the_full_screen_works_where_nothing_can_be_written(user: Installation, server: ModelServer) -> None:
    env = {"HERMES_TUI_HOME": "/proc/nowhere"}
    with user.start("--base-url", server.base_url, "-m", "test-model", env=env) as terminal:
        ready(terminal)
        say(terminal, "greet me")
        text = " ".join(idle(terminal).wait_for("Hello there.").split())
        assert "/proc/nowhere/state.db" in text and "This session will not be kept." in text
        terminal.type("\x12")  # ctrl+r: this session is found while it lasts
        terminal.wait(lambda text: "Sessions" in text and "open here" in text and "greet me" in text)
        terminal.type("\x1b")
        terminal.wait_gone("open here")
        terminal.type("\x04")
        assert terminal.wait_exit() == 0
        assert terminal.is_sane()


@pytest.mark.parametrize("home", [None, "", "/nonexistent"])
def test_without_a_home_it_works_in_a_private_folder(
    user: Installation, server: ModelServer, tmp_path: Path, home: str | None
) -> None:
    env = {"HOME": home, "HERMES_TUI_HOME": None, "TMPDIR": str(tmp_path)}
    if home is None:  # then the password file knows one; the test must not write there
        env |= {f"XDG_{kind}_HOME": str(tmp_path / kind) for kind in ("CONFIG", "DATA", "STATE", "CACHE")}
    done = user.run("run", "--base-url", server.base_url, "-m", "test-model", "greet me", env=env)
    assert (done.returncode, done.stdout) == (0, "Hello there.\n")
    assert done.stderr.count("is not a folder") == (home is not None)


@pytest.mark.parametrize(
    "proxies",
    [
        {"ALL_PROXY": "socks5://127.0.0.1:1080"},
        {"HTTPS_PROXY": "http://user:p@ss@127.0.0.1:9", "HTTP_PROXY": "127.0.0.1:9"},
    ],
)
def test_no_proxy_stands_between_the_program_and_a_local_server(user: Installation, proxies: dict[str, str]) -> None:
    done = user.run("run", "greet me", env=proxies)
    assert (done.returncode, done.stdout, done.stderr) == (0, "Hello there.\n", "")


@pytest.mark.parametrize("locale", [{"LANG": "C"}, ASCII_LOCALE])
def test_a_folder_with_a_japanese_name_works_in_any_locale(
    user: Installation, server: ModelServer, locale: dict[str, str]
) -> None:
    folder = user.work / "プロジェクト"
    folder.mkdir()
    (folder / "日本.txt").write_text("x")
    call = {"name": "search_files", "args": {"pattern": "*", "path": ".", "target": "files"}}
    with user.start(cwd=folder, env=locale) as terminal:
        text = ready(terminal).text
        assert "プロジェクト" in text and "╭" in text
        terminal.type("@日")
        terminal.wait_for("日本.txt")
        terminal.type("\t")
        terminal.wait_for("❯ @日本.txt")
        terminal.type("\x03")
        server.add(Turn(match="list", tool_calls=(Call(**call),)))
        say(terminal, "list files")
        idle(terminal).wait_for("ok")
    assert "日本.txt" in server.last_message()


def test_a_folder_whose_name_is_no_text_works(user: Installation) -> None:
    folder = user.work / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    with user.start(cwd=folder) as terminal:
        assert "/caf" in ready(terminal).text.splitlines()[0]
        say(terminal, "greet me")
        idle(terminal).wait_for("Hello there.")
        terminal.type("a draft")
        terminal.wait_for("❯ a draft")
        terminal.process.send_signal(signal.SIGTERM)
        assert terminal.wait_exit() == 0
    rows = json.loads(user.run("sessions", "list", "--here", "--json", cwd=folder).stdout)
    assert [row["cwd"] for row in rows] == [f"{user.work}/caf\\xe9"]
    with user.start("--continue", cwd=folder) as terminal:
        terminal.wait(lambda text: "Hello there." in text and "❯ a draft" in text)


def test_with_sh_only_it_says_once_what_is_missing_and_works(
    user: Installation, server: ModelServer, tmp_path: Path
) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("sh", "ls", "cat", "sleep"):
        (tools / name).symlink_to(shutil.which(name) or "")
    # No rg beside this Python either: the base interpreter with this environment's packages.
    packages = os.pathsep.join([*site.getsitepackages(), str(Path(hermes_tui.__file__).parents[1])])
    env = {"PATH": str(tools), "PYTHONPATH": packages}
    user.program = (os.path.realpath(sys.executable), "-m", "hermes_tui")
    (user.work / "needle.txt").write_text("find me")
    calls = [
        {"name": "search_files", "args": {"pattern": "find", "path": ".", "target": "content"}},
        {"name": "terminal", "args": {"command": "cat needle.txt"}},
    ]
    done = user.run("run", f"<<{json.dumps({'tool_calls': calls})}>>", env=env)
    assert done.returncode == 0
    assert done.stderr.count("bash was not found") == 1
    found, shown = (json.loads(m["content"]) for m in server.requests[-1].body["messages"][-2:])
    assert "needle.txt" in found["output"] and shown["output"].strip() == "find me"
    findings = {row["name"]: row for row in json.loads(user.run("doctor", "--json", env=env).stdout)}
    assert [findings[name]["level"] for name in ("bash", "ripgrep", "git")] == ["warning"] * 3


@pytest.mark.parametrize(
    ("config", "words"),
    [
        (b'model = "x"\nmodel = "y"\n', ["config.toml, line 2"]),
        (b"\n\n[provider\n", ["config.toml, line 3"]),
        (b'modle = "x"\n', ["config.toml, line 1", "modle", "did you mean model?"]),
        (b'[agent]\nmax_turns = "many"\n', ["config.toml, line 2", "agent.max_turns"]),
        ('model = "local/x"\n'.encode("utf-16"), []),
        (b'\xef\xbb\xbfmodel = "local/x"\n', []),
    ],
    ids=["twice", "syntax", "unknown", "type", "utf-16", "bom"],
)
def test_a_bad_settings_file_is_named_with_its_line_and_never_written_over(
    user: Installation, server: ModelServer, config: bytes, words: list[str]
) -> None:
    path = user.write_config(config)
    done = user.run("run", "--base-url", server.base_url, "-m", "test-model", "greet me")
    assert (done.returncode, done.stdout) == (0, "Hello there.\n")
    assert not [word for word in words if word not in done.stderr], done.stderr
    assert bool(done.stderr) is bool(words)
    assert path.read_bytes() == config


def test_the_full_screen_starts_with_a_bad_settings_file_and_says_so_once(user: Installation) -> None:
    user.write_config('[ui]\ntheme = "hermes-light"\n[agent\n')
    with user.start(size=(180, 30)) as terminal:
        terminal.wait_for("Welcome to hermes-tui")
        terminal.type("\x1b")
        terminal.wait_gone("Welcome to hermes-tui")
        terminal.wait(lambda text: " ".join(text.split()).count("config.toml, line 3") == 1, "the file and the line")
    shown = user.run("doctor").stdout
    assert shown.count("config.toml, line 3") == 1
