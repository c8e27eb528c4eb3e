"""What the doctor says of the web tools."""

from __future__ import annotations

import pytest

from hermes_tui.engine.config.settings import WebSettings
from hermes_tui.engine.surfaces import doctor
from hermes_tui.tools import web_extract, web_providers


def rows(settings: WebSettings) -> dict[str, tuple[str, str]]:
    return {found.name: (found.level, found.hint or found.text) for found in doctor._web(settings)}


def test_what_is_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)  # the doctor reads the real environment
    monkeypatch.setenv("BRAVE_API_KEY", "k")
    assert rows(WebSettings()) == {
        "web pages": ("ok", "read with trafilatura"),
        "web search": ("ok", "Brave Search"),
    }


def test_a_proxy_that_is_not_used_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://user:secret@proxy.example:3128")
    for name in ("https_proxy", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    (row,) = [found for found in doctor._web(WebSettings()) if found.name == "web pages"]
    assert row.level == "warning"
    assert "HTTPS_PROXY" in row.text
    assert "secret" not in row.text


def test_what_is_missing_comes_with_the_way_to_it(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in web_providers.KEY_ENVS:
        monkeypatch.delenv(name, raising=False)
    for module in (web_extract, web_providers):
        monkeypatch.setattr(module, "find_spec", lambda name: None)  # as if the extra were not installed
    found = rows(WebSettings())
    assert found["web pages"] == ("warning", "web_extract needs the web extra: pip install 'hermes-tui[web]'")
    assert found["web search"][0] == "warning"
    assert "BRAVE_API_KEY" in found["web search"][1]
    assert "pip install 'hermes-tui[web]'" in found["web search"][1]
