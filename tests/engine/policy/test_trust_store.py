"""Trust holds for one content, survives a restart, and is lost by anything that is not understood."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from hermes_tui.engine.policy.trust import TrustStore
from hermes_tui.engine.types.errors import ConfigError


def test_trust_holds_for_this_content_only(tmp_path: Path) -> None:
    store = TrustStore(tmp_path / "c" / "trust.json")
    assert store.state("/p/AGENTS.md", "a") == "new"
    store.remember({"/p/AGENTS.md": "a"}, trusted=True)
    assert store.state("/p/AGENTS.md", "a") == "trusted"
    assert store.state("/p/AGENTS.md", "b") == "changed"
    assert store.state("/q/AGENTS.md", "a") == "new"


@pytest.mark.parametrize(("trusted", "state"), [(True, "trusted"), (False, "refused")])
def test_an_answer_is_kept_for_the_next_start_in_a_private_file(trusted: bool, state: str, tmp_path: Path) -> None:
    file = tmp_path / "c" / "trust.json"
    TrustStore(file).remember({"/p/AGENTS.md": "a"}, trusted=trusted)
    assert TrustStore(file).state("/p/AGENTS.md", "a") == state
    assert TrustStore(file).is_trusted("/p/AGENTS.md", "a") == trusted
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_trust_for_now_writes_nothing(tmp_path: Path) -> None:
    store = TrustStore(tmp_path / "trust.json")
    store.trust_for_now({"/p/AGENTS.md": "a"})
    assert store.is_trusted("/p/AGENTS.md", "a") and not store.is_trusted("/p/AGENTS.md", "b")
    assert not (tmp_path / "trust.json").exists()


def test_answers_of_another_process_are_kept(tmp_path: Path) -> None:
    one, two = TrustStore(tmp_path / "trust.json"), TrustStore(tmp_path / "trust.json")
    assert two.state("/p", "a") == "new"
    one.remember({"/p": "a"}, trusted=True)
    two.remember({"/q": "b"}, trusted=True)
    assert TrustStore(tmp_path / "trust.json").is_trusted("/p", "a")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        '{"format": 2, "files": {"/p": {"hash": "a", "trusted": true}}}',
        '{"format": 1, "files": ["/p"]}',
        '{"format": 1, "files": {"/p": "a"}}',
        '{"format": 1, "files": {"/p": {"hash": "a", "trusted": "yes"}}}',
        '{"format": 1, "files": {"/p": {"hash": "a", "trusted": 1}}}',
    ],
)
def test_a_file_that_is_not_understood_trusts_nothing(text: str, tmp_path: Path) -> None:
    (tmp_path / "trust.json").write_text(text)
    store = TrustStore(tmp_path / "trust.json")
    assert not store.is_trusted("/p", "a")
    store.remember({"/p": "a"}, trusted=True)
    assert json.loads((tmp_path / "trust.json").read_text())["files"]["/p"]["trusted"] is True


def test_where_nothing_can_be_written_the_answer_holds_for_now(tmp_path: Path) -> None:
    (tmp_path / "c").write_text("a file")
    store = TrustStore(tmp_path / "c" / "trust.json")
    with pytest.raises(ConfigError):
        store.remember({"/p": "a"}, trusted=True)
    assert store.is_trusted("/p", "a")
