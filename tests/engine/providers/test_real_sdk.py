"""The real SDK clients against a real server on loopback: streams, tools, faults, interrupts, proxies."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from support.model_server import Call, ModelServer, Turn
from support.streams import Answer, Control, fold

from hermes_tui.engine.providers.base import ApiMode, Endpoint, ModelRequest
from hermes_tui.engine.providers.clients import ProviderClients
from hermes_tui.engine.types.errors import (
    AuthError,
    ConfigError,
    ConnectionFailed,
    HermesError,
    ModelNotFound,
    Overloaded,
    RateLimited,
    StreamBroken,
)

MODES: tuple[ApiMode, ...] = ("chat_completions", "codex_responses", "anthropic_messages")
each_mode = pytest.mark.parametrize("mode", MODES)


@pytest.fixture
def clients() -> Iterator[ProviderClients]:
    made = ProviderClients({})
    yield made
    made.close()


def at(server: ModelServer, mode: ApiMode = "chat_completions", **more: Any) -> Endpoint:
    base_url = server.root_url if mode == "anthropic_messages" else server.base_url
    fields: dict[str, Any] = {"provider": "local", "model": "m", "api_mode": mode, "base_url": base_url, **more}
    return Endpoint(**fields)


def ask(clients: ProviderClients, endpoint: Endpoint, control: Control | None = None, **more: Any) -> Iterator[Any]:
    request = ModelRequest(endpoint=endpoint, messages=[{"role": "user", "content": "hi"}], **more)
    return clients.client_for(endpoint.api_mode).stream(request, control or Control())


def answer(clients: ProviderClients, endpoint: Endpoint, **more: Any) -> Answer:
    return fold(ask(clients, endpoint, **more))


@each_mode
@pytest.mark.parametrize("stream", [True, False])
def test_reasoning_text_a_call_and_usage_arrive(clients: ProviderClients, mode: ApiMode, stream: bool) -> None:
    turn = Turn(reasoning="let me see", text="Hello 🌍 there.", tool_calls=(Call(name="ls", args={"path": "é"}),))
    with ModelServer([turn]) as server:
        found = answer(clients, at(server, mode, api_key="sk-1", headers={"X-Team": "a"}), stream=stream)
        (seen,) = server.requests
    assert (found.reasoning, found.text, found.finish) == ("let me see", "Hello 🌍 there.", "tool_calls")
    ((_, name, args),) = found.calls
    assert (name, args) == ("ls", '{"path": "é"}') or args == '{"path": "\\u00e9"}'
    assert found.usage is not None and (found.usage.prompt_tokens, found.usage.output_tokens) == (100, 10)
    assert bool(seen.body.get("stream")) is stream
    headers = {key.lower(): value for key, value in seen.headers.items()}
    assert headers["x-team"] == "a"
    assert "sk-1" in (headers.get("authorization", "") + headers.get("x-api-key", ""))


@each_mode
def test_every_byte_counts_as_life_also_where_it_holds_nothing_to_show(clients: ProviderClients, mode: ApiMode) -> None:
    pings = (": still thinking\n\n",) * 5
    with ModelServer([Turn(text="done"), Turn(raw=pings)]) as server:
        control = Control()
        assert fold(ask(clients, at(server, mode), control)).text == "done"
        assert b"done" in control.bytes
        silent = Control()
        with pytest.raises(StreamBroken):
            fold(ask(clients, at(server, mode), silent))
        assert silent.bytes.decode() == "".join(pings)


@each_mode
def test_the_wire_form_is_known_without_sending(clients: ProviderClients, mode: ApiMode) -> None:
    with ModelServer([Turn(text="done")]) as server:
        request = ModelRequest(endpoint=at(server, mode), messages=[{"role": "user", "content": "hi"}], max_tokens=9)
        fold(clients.client_for(mode).stream(request, Control()))
        wire = clients.client_for(mode).wire(request)
        assert wire is not None and wire[0].startswith(at(server, mode).base_url)
        assert server.requests[0].body == wire[1] and server.requests[0].path in wire[0]


@each_mode
def test_bytes_flushed_one_by_one_make_the_same_answer(clients: ProviderClients, mode: ApiMode) -> None:
    with ModelServer([Turn(text="你好 🌍 Zürich", byte_wise=True)]) as server:
        assert answer(clients, at(server, mode)).text == "你好 🌍 Zürich"


def test_requests_in_a_row_share_a_connection_and_parallel_ones_do_not_wait(clients: ProviderClients) -> None:
    with ModelServer([Turn(text="a b"), Turn(text="c d"), Turn(text="e f"), Turn(text="g h")]) as server:
        answer(clients, at(server))
        answer(clients, at(server))
        first, second = ask(clients, at(server)), ask(clients, at(server))
        texts = [next(first).text, next(second).text]
        assert sorted([texts[0] + fold(first).text, texts[1] + fold(second).text]) == ["e f", "g h"]
        numbers = [request.connection for request in server.requests]
    assert numbers[0] == numbers[1]
    assert len(set(numbers[2:])) == 2


def test_the_turn_ends_soon_after_the_end_mark_although_the_socket_stays_open(clients: ProviderClients) -> None:
    with ModelServer([Turn(text="all of it", fault="linger"), Turn(text="next")]) as server:
        assert answer(clients, at(server)).text == "all of it"
        server.requests[0].wait_gone()
        assert answer(clients, at(server)).text == "next"


def test_a_server_that_hangs_up_without_an_end_mark_after_the_finish_is_believed(clients: ProviderClients) -> None:
    done = 'data: {"choices":[{"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n'
    with ModelServer([Turn(raw=(done,), fault="reset", after=1)]) as server:
        assert answer(clients, at(server)).text == "Hi"


@each_mode
@pytest.mark.parametrize(
    "turn",
    [Turn(text="one two three", fault="stall", after=1), Turn(text="late", first_delay_s=3600)],
    ids=["mid-stream", "before the first byte"],
)
def test_closing_ends_a_blocked_read_at_once_and_the_server_sees_it(
    clients: ProviderClients, mode: ApiMode, turn: Turn
) -> None:
    control = Control()
    with ModelServer([turn, Turn(text="after")]) as server:
        failures: list[HermesError] = []
        pieces: list[Any] = []

        def read() -> None:
            try:
                pieces.extend(ask(clients, at(server, mode), control))
            except HermesError as error:
                failures.append(error)

        thread = threading.Thread(target=read)
        thread.start()
        request = server.wait_request()
        if turn.fault:
            assert request.sent.wait(10)
        control.close()
        request.wait_gone()
        thread.join(10)
        assert not thread.is_alive()
        assert isinstance(failures[0], StreamBroken) and failures[0].code == "closed"
        assert answer(clients, at(server, mode)).text == "after"


def test_closing_after_the_end_harms_nothing(clients: ProviderClients) -> None:
    control = Control()
    with ModelServer([Turn(text="a"), Turn(text="b")]) as server:
        fold(ask(clients, at(server), control))
        control.close()
        assert answer(clients, at(server)).text == "b"


def test_a_late_close_does_not_end_the_request_that_reuses_the_connection(clients: ProviderClients) -> None:
    control = Control()
    with ModelServer([Turn(text="a"), Turn(text="b c d", rate=200)]) as server:
        fold(ask(clients, at(server), control))
        later = ask(clients, at(server))
        first = next(later)
        control.close()
        assert first.text + fold(later).text == "b c d"
        assert server.requests[1].connection == server.requests[0].connection


def test_account_ids_from_the_environment_go_to_their_provider_only(
    clients: ProviderClients, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")  # the SDK reads the process environment
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-1")
    with ModelServer() as server:
        answer(clients, at(server))
        assert "org-1" not in str(server.requests[0].headers)
        assert "proj-1" not in str(server.requests[0].headers)


def test_the_wire_can_be_logged_without_the_key(clients: ProviderClients, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG", "hermes_tui.wire")
    with ModelServer([Turn(text="it says sk-SECRET")]) as server:
        answer(clients, at(server, api_key="sk-SECRET"))
    assert "'content': 'hi'" in caplog.text
    assert "says" in caplog.text
    assert "SECRET" not in caplog.text


def test_dropping_the_iterator_closes_the_connection(clients: ProviderClients) -> None:
    with ModelServer([Turn(text="one two three", fault="stall", after=1)]) as server:
        deltas = ask(clients, at(server))
        next(deltas)
        deltas.close()  # type: ignore[attr-defined]
        server.requests[0].wait_gone()


@each_mode
@pytest.mark.parametrize(
    ("turn", "kind", "words"),
    [
        (Turn(status=401), AuthError, "401"),
        (Turn(status=404, body='{"error":{"message":"no model m"}}'), ModelNotFound, "does not know the model m"),
        (Turn(status=429, headers={"Retry-After": "1.5"}), RateLimited, "429"),
        (Turn(status=500), Overloaded, "500"),
        (Turn(status=502, body="<html>" + "x" * 8_000), Overloaded, r"502 from .* \(HTML page\)"),
        (Turn(status=529), Overloaded, "529"),
        (Turn(text="a b c", fault="eof", after=1), StreamBroken, "before the end"),
        (Turn(text="a b c", fault="reset", after=1), StreamBroken, "before the end"),
        (Turn(text="a b c", fault="error_event", after=1), Overloaded, "Overloaded"),
        (Turn(text="a b c", fault="malformed", after=1), StreamBroken, "unreadable"),
        (Turn(body="<html>sign in</html>"), HermesError, "HTML page"),
    ],
    ids=["401", "404", "429", "500", "502 html", "529", "eof", "reset", "error event", "malformed", "200 html"],
)  # fmt: skip
def test_a_failure_is_one_clear_error(
    clients: ProviderClients, mode: ApiMode, turn: Turn, kind: type[HermesError], words: str
) -> None:
    with ModelServer([turn, Turn(text="fine")]) as server:
        with pytest.raises(kind, match=words) as caught:
            answer(clients, at(server, mode, api_key="sk-SECRET"))
        assert "SECRET" not in str(caught.value)
        assert "x" * 50 not in str(caught.value)
        assert len(server.requests) == 1, "retries are the loop's"
        assert answer(clients, at(server, mode, api_key="sk-SECRET")).text == "fine"
    if kind is RateLimited:
        assert caught.value.retry_after_s == 1.5  # type: ignore[attr-defined]


def test_a_stream_cut_inside_a_call_names_the_call(clients: ProviderClients) -> None:
    turn = Turn(tool_calls=(Call(name="write_file", args={"path": "a" * 60}),), fault="eof", after=2)
    with ModelServer([turn]) as server, pytest.raises(StreamBroken, match="tool call write_file"):
        answer(clients, at(server))


@each_mode
def test_an_endpoint_that_nobody_serves_is_named(clients: ProviderClients, mode: ApiMode) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}"
    endpoint = Endpoint(provider="ollama", model="m", api_mode=mode, base_url=url)
    with pytest.raises(ConnectionFailed) as caught:
        answer(clients, endpoint)
    assert f"Cannot reach {url}: nothing listens there." in str(caught.value)
    assert "Start Ollama" in str(caught.value)


def test_a_header_that_cannot_be_sent_is_a_settings_error(clients: ProviderClients) -> None:
    with ModelServer() as server, pytest.raises(ConfigError, match=r"header.*local"):
        answer(clients, at(server, headers={"X-Name": "naïve\u043a"}))


def test_a_key_that_the_server_needs_none_of_is_not_required(clients: ProviderClients) -> None:
    with ModelServer([Turn(text="ok")]) as server:
        assert answer(clients, at(server, api_key="")).text == "ok"


# --------------------------------------------------------------------------------------------------------- proxies

DEAD = "http://127.0.0.1:9"
FAR = Endpoint(provider="openai", model="m", api_mode="chat_completions", base_url="http://llm.example/v1", api_key="k")


@pytest.fixture
def proxied(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The HTTP library reads proxies from the process environment only."""

    def set_to(name: str, value: str) -> ProviderClients:
        monkeypatch.setenv(name, value)
        return ProviderClients({name: value})

    return set_to


@pytest.mark.parametrize("name", ["ALL_PROXY", "HTTP_PROXY", "http_proxy"])
@pytest.mark.parametrize("value", [DEAD, "socks5://127.0.0.1:1080"])
def test_a_server_on_this_machine_is_reached_past_any_proxy(proxied: Any, name: str, value: str) -> None:
    with ModelServer([Turn(text="ok")]) as server:
        assert answer(proxied(name, value), at(server)).text == "ok"


@pytest.mark.parametrize(
    ("value", "kind", "words"),
    [
        (DEAD, ConnectionFailed, [DEAD, "HTTP_PROXY"]),
        ("127.0.0.1:9", ConnectionFailed, ["127.0.0.1:9", "HTTP_PROXY"]),
        ("http://user:p@ss@127.0.0.1:9", HermesError, ["http://127.0.0.1:9", "HTTP_PROXY"]),
        ("socks5://127.0.0.1:1080", ConfigError, ["socks5://127.0.0.1:1080", "HTTP_PROXY", "SOCKS"]),
        ("nonsense://x", ConfigError, ["nonsense://x", "HTTP_PROXY"]),
    ],
)
def test_a_proxy_that_does_not_work_is_explained_without_its_password(
    proxied: Any, value: str, kind: type[HermesError], words: list[str]
) -> None:
    with pytest.raises(kind) as caught:
        answer(proxied("HTTP_PROXY", value), FAR)
    for word in words:
        assert word in str(caught.value)
    assert "p@ss" not in str(caught.value)


def test_warming_up_never_raises(proxied: Any) -> None:
    clients = proxied("ALL_PROXY", "socks5://127.0.0.1:1080")
    clients.warm_up(FAR)
    clients.warm_up(replace(FAR, base_url="http://127.0.0.1:9/v1"))
    clients.warm_up(replace(FAR, api_mode="demo"))


# --------------------------------------------------------------------------------------------------------- imports


def run_python(code: str) -> str:
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=root)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_the_providers_imports_no_sdk() -> None:
    code = (
        "import sys, pkgutil, importlib, hermes_tui.engine.providers as ring\n"
        "for item in pkgutil.iter_modules(ring.__path__): importlib.import_module(f'{ring.__name__}.{item.name}')\n"
        "heavy = ('openai', 'anthropic', 'httpx', 'httpx2', 'pydantic', 'genai_prices', 'tomli_w')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    assert run_python(code) == "[]"


@pytest.mark.parametrize(("sdk", "name"), [("openai", "OpenAI"), ("anthropic", "Anthropic")])
def test_the_sdk_is_entered_without_its_type_modules_and_stays_whole_for_others(sdk: str, name: str) -> None:
    code = (
        "import sys\nfrom hermes_tui.engine.providers.sdk_import import client_class\n"
        f"made = client_class('{sdk}')\n"
        f"light = len([name for name in sys.modules if name.startswith('{sdk}.types')])\n"
        f"import {sdk}\nfrom {sdk} import *\nfrom {sdk} import APIStatusError, {name}\n"
        f"assert made is {name} is {sdk}.{name}\nassert {sdk}.__version__ and {sdk}.types.__name__ == '{sdk}.types'\n"
        f"import {sdk}.resources\n"
        f"assert {sdk}.{name}(api_key='x').models\n"
        "print(light)"
    )
    spec = find_spec(sdk)
    assert spec and spec.origin
    assert int(run_python(code)) < len(list(Path(spec.origin).parent.glob("types/**/*.py"))) / 2
