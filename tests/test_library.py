"""AIAgent as a script uses it: wrong arguments are named at once, nothing is half done, nothing is lost."""

from __future__ import annotations

import json
import logging
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.model_server import Call, ModelServer, Turn

from hermes_tui import AIAgent, SessionDB, run_batch
from hermes_tui.engine.types.errors import ConfigError, HermesError, SessionNotFound

KEY = "a-key-of-the-local-server"


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ModelServer]:
    """A model server; the present folder is empty."""
    monkeypatch.chdir(tmp_path)
    with ModelServer() as made:
        yield made


def options(server: ModelServer, **more: Any) -> dict[str, Any]:
    """Arguments of an agent that talks to the server and gives no titles."""
    given = {"model": "m", "provider": "custom", "base_url": server.base_url, "api_key": KEY}
    return {**given, "routing": {"auxiliary.title.enabled": False}, **more}


@pytest.mark.parametrize(
    ("arguments", "kind", "words"),
    [
        ({"callbacks": {"on_tool_start": print}}, ConfigError, "on_tool_started"),
        ({"routing": {"approvals.mod": "strict"}}, ConfigError, "did you mean mode"),
        ({"routing": {"approvals.mode": "stric"}}, ConfigError, "approvals.mode"),
        ({"enabled_toolsets": ["terminals"]}, ConfigError, "Did you mean terminal?"),
        ({"disabled_toolsets": ["zzz"]}, ConfigError, "Known: "),
        ({"workspace": "/no/such/folder"}, ConfigError, "/no/such/folder"),
        ({"max_iterations": 0}, ConfigError, "1 or more"),
        ({"session_id": "nothing"}, SessionNotFound, "nothing"),
    ],
)
def test_a_wrong_argument_raises_at_once_and_closes_what_was_opened(
    arguments: dict[str, Any], kind: type[HermesError], words: str, tmp_path: Path
) -> None:
    with SessionDB(tmp_path / "given.db") as db:
        for store in (None, db):
            with pytest.raises(kind, match=words):
                AIAgent(model="openai/x", db=store, **arguments)
        db.create("still open")


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ({"content": "z"}, "role None"),
        ({"role": "robot", "content": "z"}, "'robot'"),
        ("x", "str, not a dict"),
        ({"role": "user", "content": 3}, "int as content"),
        ({"role": "user", "content": [{"a": object()}]}, "no JSON"),
    ],
)
def test_a_history_that_is_none_is_refused_before_any_of_it_is_stored(message: Any, words: str) -> None:
    with AIAgent(model="openai/x") as agent:
        good: Any = {"role": "user", "content": "fine"}
        with pytest.raises(HermesError, match=words) as raised:
            agent.run_conversation("go", conversation_history=[good, message])
        assert "conversation_history[1]" in str(raised.value)
    with SessionDB() as db:
        assert db.list_sessions() == []


@pytest.mark.parametrize("message", [None, 3, [3], {"role": "user"}])
def test_a_user_message_that_is_none_is_refused(message: Any) -> None:
    with AIAgent(model="openai/x") as agent, pytest.raises(HermesError, match="user_message"):
        agent.run_conversation(message)


def test_a_system_message_in_the_history_reaches_the_model(server: ModelServer) -> None:
    with AIAgent(**options(server)) as agent:
        history: Any = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "a"}]
        agent.run_conversation("b", conversation_history=history)
    assert str(server.requests[0].body["messages"][0]["content"]).endswith("Be brief.")


def test_without_a_key_the_result_says_what_to_set() -> None:
    with AIAgent(model="openai/gpt-5.2") as agent:
        result = agent.run_conversation("hi")
    assert not result["completed"] and "OPENAI_API_KEY" in result["errors"][0]


def test_what_is_wrong_with_the_settings_is_logged_and_never_printed(
    isolated_home: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    (isolated_home / "hermes").mkdir()
    (isolated_home / "hermes" / "config.toml").write_text('modle = "x"\n')
    with caplog.at_level(logging.WARNING, logger="hermes_tui"):
        AIAgent(model="openai/x").close()
    assert "did you mean model" in caplog.text
    assert capfd.readouterr() == ("", "")


def test_trajectories_get_a_private_line_a_turn_without_secrets(server: ModelServer, isolated_home: Path) -> None:
    with AIAgent(**options(server, save_trajectories=True)) as agent:
        agent.chat("one")
        agent.chat(f"my key is {KEY}")
    file = isolated_home / "hermes" / "trajectories.jsonl"
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    assert [[message["content"] for message in row["messages"]] for row in rows] == [
        ["one", "ok"],
        ["one", "ok", "my key is [redacted:configured_key]", "ok"],
    ]
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_trajectory_that_cannot_be_written_is_an_error_of_the_result(
    server: ModelServer, isolated_home: Path
) -> None:
    (isolated_home / "hermes" / "trajectories.jsonl").mkdir(parents=True)
    with AIAgent(**options(server, save_trajectories=True)) as agent:
        result = agent.run_conversation("one")
    assert result["final_response"] == "ok" and "trajectories.jsonl" in result["errors"][0]


def test_closing_twice_does_no_harm(server: ModelServer) -> None:
    agent = AIAgent(**options(server))
    agent.chat("hi")
    agent.close()
    agent.close()


def test_a_batch_keeps_order_and_failed_turns_are_results(server: ModelServer, tmp_path: Path) -> None:
    server.add(Turn(match="bad", status=400, times=9), Turn(match="good", text="fine", times=9))
    output = tmp_path / "out" / "results.jsonl"
    results = run_batch(["bad", "good", f"good {KEY}"], concurrency=3, output=output, **options(server))
    assert [result["completed"] for result in results] == [False, True, True] and results[0]["errors"]
    assert [result["final_response"] for result in results[1:]] == ["fine", "fine"]
    assert len({result["session_id"] for result in results}) == 3
    assert f"good {KEY}" == results[2]["messages"][0]["content"]
    rows = [json.loads(line) for line in output.read_text().splitlines()]
    assert "[redacted:configured_key]" in str(next(row for row in rows if row["index"] == 2)["messages"])
    before = len(server.requests)
    again = run_batch(["bad", "good", f"good {KEY}"], output=output, **options(server))
    assert [result["completed"] for result in again] == [False, True, True]
    assert len(server.requests) == before + 1, "only the failed one is asked again"


@pytest.mark.parametrize(
    ("prompts", "arguments", "words"),
    [
        ("one text", {}, "not a list"),
        (["a"], {"concurrency": 0}, "concurrency"),
        (["a", "b"], {"callbacks": {"nope": print}}, "nope"),
    ],
)
def test_a_batch_with_wrong_arguments_raises(prompts: Any, arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        run_batch(prompts, model="openai/x", **arguments)


def test_an_empty_batch_has_no_results() -> None:
    assert run_batch([]) == []


def test_a_key_of_an_endpoint_given_by_url_stays_out_of_child_processes(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HERMES_TUI_API_KEY", KEY)
    server.add(Turn(tool_calls=(Call(name="terminal", args={"command": "printenv | grep -c API_KEY"}),)))
    results: list[str] = []
    callbacks = {"on_tool_finished": lambda tool, result: results.append(result)}
    with AIAgent(**options(server, api_key=None, callbacks=callbacks)) as agent:
        agent.chat("go")
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert json.loads(results[0])["output"].strip() == "0"


def test_keys_that_were_not_needed_yet_stay_out_of_child_processes_and_of_the_store(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch, isolated_home: Path
) -> None:
    spare, written = "sk-spare-of-a-fallback", "key-of-the-settings-file"
    monkeypatch.setenv("DEEPSEEK_API_KEY", spare)
    monkeypatch.setenv("COPY_OF_IT", spare)
    monkeypatch.setenv("ANOTHER", written)
    (isolated_home / "hermes").mkdir()
    (isolated_home / "hermes" / "config.toml").write_text(
        f'[providers.mine]\nbase_url = "http://127.0.0.1:9/v1"\napi_key = "{written}"\n'
    )
    server.add(Turn(tool_calls=(Call(name="terminal", args={"command": "printenv"}),)))
    results: list[str] = []
    with AIAgent(
        **options(server, callbacks={"on_tool_finished": lambda tool, result: results.append(result)})
    ) as agent:
        agent.chat(f"I have {spare} and {written}")
        assert spare not in results[0] and written not in results[0] and "HOME" in results[0]
        stored = str([row.message for row in agent._shop.store.history(agent.session_id)])
    assert spare not in stored and written not in stored and "[redacted" in stored


def test_an_internal_error_is_a_result_with_a_private_traceback(
    server: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_args: object) -> float:
        raise RuntimeError(f"with {KEY}")

    monkeypatch.setattr("hermes_tui.bootstrap.cost_usd", broken)
    with AIAgent(**options(server)) as agent:
        result = agent.run_conversation("hi")
    assert result["exit_reason"] == "error" and "internal error" in result["errors"][0]
    (path,) = [word for word in result["errors"][0].split() if "crash-" in word]
    log = Path(path)
    assert "RuntimeError" in log.read_text() and KEY not in log.read_text()
    assert stat.S_IMODE(log.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"api_mode": "nope"}, "chat_completions"),
        ({"base_url": "not a url"}, "http"),
        ({"provider": "nobody", "base_url": None}, "nobody"),
        ({"model": ""}, "model"),
    ],
)
def test_an_endpoint_that_makes_no_sense_is_explained_and_the_message_kept(
    server: ModelServer, more: dict[str, Any], words: str
) -> None:
    with AIAgent(**options(server, **more)) as agent:
        result = agent.run_conversation("my words")
        assert not result["completed"] and words in " ".join(result["errors"])
        assert result["messages"][0]["content"] == "my words"
    assert not server.requests


def test_an_endpoint_of_another_api_points_at_the_settings(server: ModelServer) -> None:
    wrong = {"api_mode": "anthropic_messages", "base_url": f"{server.base_url}/elsewhere"}
    with AIAgent(**options(server, **wrong)) as agent:
        result = agent.run_conversation("my words")
    assert not result["completed"] and "base_url" in result["errors"][0]
