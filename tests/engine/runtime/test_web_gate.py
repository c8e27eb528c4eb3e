"""The web tools in a turn: which modes ask, who is offered them, and where their keys are not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.scripted import NO_TITLE, Bench, bench, call, say, start
from support.web_server import Page, WebServer

from hermes_tui.bootstrap import Workshop
from hermes_tui.engine.config.loader import load_settings
from hermes_tui.engine.config.settings import ApprovalSettings, AuxiliarySettings, WebSettings
from hermes_tui.engine.policy.gate.gate import ShellGate
from hermes_tui.engine.types.events import ApprovalRequested, Event
from hermes_tui.engine.types.requests import ApprovalDecision
from hermes_tui.tools.registry import load_builtin_tools


@pytest.fixture
def web() -> Iterator[WebServer]:
    hits = {"results": [{"title": "T", "url": "https://e.com", "content": "C"}]}
    pages = {"/": Page("Hello", "text/plain"), "/search": Page(json.dumps(hits), "application/json")}
    with WebServer(pages) as server:
        yield server


def run(tmp_path: Path, web: WebServer, mode: str, name: str, args: dict[str, Any]) -> tuple[Bench, dict[str, Any]]:
    """Let the model make one call in a mode; every question is denied."""
    settings = replace(
        NO_TITLE,
        auxiliary={"title": AuxiliarySettings(enabled=False)},
        web=WebSettings(allow_hosts=(web.host,), search_url=web.url("/")),
    )
    gate = ShellGate(ApprovalSettings(mode=mode), home=tmp_path / "home")  # type: ignore[arg-type]
    made = bench(
        [call((name, json.dumps(args))), say("ok")],
        tmp_path,
        gate=gate,  # type: ignore[arg-type]
        registry=load_builtin_tools(),
        settings=settings,
    )

    def answer(event: Event) -> None:
        if isinstance(event, ApprovalRequested):
            decision = ApprovalDecision(choice="deny")
            start(lambda: made.agent.approvals.resolve(event.request.request_id, decision))

    made.agent.approvals.attach_surface()
    made.agent.hub.subscribe(answer)
    made.agent.chat("go")
    made.agent.close()
    return made, json.loads(str(next(row["content"] for row in made.rows() if row["role"] == "tool")))


@pytest.mark.parametrize("mode", ["ask", "smart", "plan", "off"])
def test_reading_the_web_asks_nobody(tmp_path: Path, web: WebServer, mode: str) -> None:
    made, page = run(tmp_path, web, mode, "web_extract", {"urls": [web.url()]})
    assert "Hello" in page["pages"][0]["content"]
    assert made.of(ApprovalRequested) == []


def test_strict_asks_before_anything_is_sent_and_shows_all_of_it(tmp_path: Path, web: WebServer) -> None:
    urls = [web.url(), web.url("/?q=x")]
    made, result = run(tmp_path, web, "strict", "web_extract", {"urls": urls})
    (event,) = made.of(ApprovalRequested)
    assert (event.request.action, event.request.text) == ("send", "\n".join(urls))
    assert event.request.always_rules == ()
    assert (result["denied_by"], web.asked) == ("user", [])
    made, result = run(tmp_path, web, "strict", "web_search", {"query": "some words"})
    (event,) = made.of(ApprovalRequested)
    assert event.request.text == "search SearXNG for: some words"
    assert web.asked == []


def test_a_search_is_answered_by_the_engine_of_the_settings(tmp_path: Path, web: WebServer) -> None:
    _, result = run(tmp_path, web, "ask", "web_search", {"query": "words"})
    assert result["results"][0]["url"] == "https://e.com"


def test_without_an_engine_no_search_is_offered(tmp_path: Path) -> None:
    settings = replace(NO_TITLE, web=WebSettings(search_provider="searxng"))
    made = bench([say("ok")], tmp_path, registry=load_builtin_tools(), settings=settings)
    made.agent.chat("go")
    names = {tool["function"]["name"] for tool in made.client.requests[0].tools}  # type: ignore[index]
    assert "web_extract" in names
    assert "web_search" not in names


def test_the_keys_of_search_engines_reach_no_child_process_and_no_screen(tmp_path: Path) -> None:
    env = {"HERMES_TUI_HOME": str(tmp_path / "home"), "BRAVE_API_KEY": "brave-key-of-the-test"}
    shop = Workshop(load_settings(env), env)
    try:
        assert "BRAVE_API_KEY" in shop.agent_parts().key_names
        assert "brave-key-of-the-test" in shop.secrets()
    finally:
        shop.close()
