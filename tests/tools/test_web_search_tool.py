"""The web_search tool and the engines behind it, on loopback; the library ddgs is replaced by one that asks nobody."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import ModuleType

import pytest
from ddgs.exceptions import DDGSException
from support.tool_context import PlainContext, call_tool, plain_context
from support.web_server import Page, WebServer

from hermes_tui.tools.registry import load_builtin_tools
from hermes_tui.tools.web_providers import SearchEngine, find_engine

HITS = [
    {"title": f"Title {n}", "url": f"https://example.com/{n}", "content": f"Words {n}", "description": f"Words {n}"}
    for n in range(1, 11)
]
ANSWERS: dict[str, tuple[str, object]] = {
    "searxng": ("/search", {"results": HITS}),
    "brave": ("/res/v1/web/search", {"web": {"results": HITS}}),
    "tavily": ("/search", {"results": HITS}),
}
KEYS = {"BRAVE_API_KEY": "brave-key", "TAVILY_API_KEY": "tavily-key"}


@pytest.fixture
def web() -> Iterator[WebServer]:
    with WebServer({}) as server:
        yield server


@pytest.fixture
def context(tmp_path: Path) -> Iterator[PlainContext]:
    with plain_context(tmp_path) as made:
        yield made


def engine(name: str, web: WebServer, env: Mapping[str, str] = KEYS) -> SearchEngine:
    found = find_engine(name, web.url("/"), env)
    assert found is not None
    return found


def search(context: PlainContext, name: str, web: WebServer, **args: object) -> dict[str, object]:
    context.services["search"] = engine(name, web)
    return call_tool(context, "web_search", query="two  words", **args)


@pytest.mark.parametrize("name", ANSWERS)
def test_each_engine_is_asked_in_its_own_way(context: PlainContext, web: WebServer, name: str) -> None:
    path, answer = ANSWERS[name]
    web.pages[path] = Page(json.dumps(answer), "application/json")
    result = search(context, name, web, limit=3)
    assert result["ok"]
    first = {"position": 1, "title": "Title 1", "url": "https://example.com/1", "snippet": "Words 1"}
    assert result["results"][0] == first
    assert len(result["results"]) == 3
    asked = web.asked[0]
    wanted: dict[str, tuple[str, str, str]] = {
        "searxng": ("GET", "/search?q=two+words&format=json", ""),
        "brave": ("GET", "/res/v1/web/search?q=two+words&count=3", "brave-key"),
        "tavily": ("POST", "/search", "Bearer tavily-key"),
    }
    key = asked.headers.get("X-Subscription-Token") or asked.headers.get("Authorization") or ""
    assert (asked.method, asked.path, key) == wanted[name]
    if name == "tavily":
        assert json.loads(asked.body) == {"query": "two words", "max_results": 3}


FAULTS = {
    "no JSON": (Page("<html>"), "not in the form"),
    "another form": (Page('{"error": "x"}', "application/json"), "not in the form"),
    "hits without URLs": (Page('{"results": [{"title": "x"}]}', "application/json"), "not in the form"),
    "hits that are none": (Page('{"results": ["x"]}', "application/json"), "not in the form"),
    "refused": (Page("no", status=403), "It answered 403: its settings must allow the format json"),
    "too many": (Page("no", status=429), "too many searches"),
    "broken": (Page("no", status=500), "It answered 500"),
    "deep": (Page("[" * 100_000, "application/json"), "not in the form"),
}


@pytest.mark.parametrize(("page", "words"), FAULTS.values(), ids=FAULTS)
def test_an_engine_that_does_not_answer_is_told(context: PlainContext, web: WebServer, page: Page, words: str) -> None:
    web.pages["/search"] = page
    result = search(context, "searxng", web)
    assert not result["ok"]
    assert str(result["error"]).startswith("SearXNG gave no answer. ")
    assert words in str(result["error"])


def test_a_refused_key_is_named_not_shown(context: PlainContext, web: WebServer) -> None:
    web.pages["/search"] = Page("no", status=401)
    error = str(search(context, "tavily", web)["error"])
    assert "check TAVILY_API_KEY" in error
    assert "tavily-key" not in error


def test_nothing_found_is_no_failure(context: PlainContext, web: WebServer) -> None:
    web.pages["/search"] = Page('{"results": []}', "application/json")
    result = search(context, "searxng", web)
    assert (result["ok"], result["results"], result["note"]) == (True, [], "Nothing was found.")


def test_words_of_pages_are_bounded_on_one_line_and_visible(context: PlainContext, web: WebServer) -> None:
    hit = {"title": "a\nb\u202e" + "x" * 900, "url": "https://e.com/\x1b", "content": "y" * 9_000}
    web.pages["/search"] = Page(json.dumps({"results": [hit]}), "application/json")
    found = search(context, "searxng", web)["results"][0]
    assert found["title"].startswith("a b<U+202E>x")
    assert len(found["title"]) == 200
    assert found["url"] == "https://e.com/␛"
    assert len(found["snippet"]) == 500


def test_a_secret_is_not_searched_for(context: PlainContext, web: WebServer) -> None:
    context.services["search"] = engine("searxng", web)
    assert "holds a key" in call_tool(context, "web_search", query="PLANTED-SECRET")["error"]
    assert "empty" in call_tool(context, "web_search", query="  ")["error"]
    assert web.asked == []


def test_an_interrupt_ends_the_wait(context: PlainContext, web: WebServer) -> None:
    def play(handler: object) -> None:
        context.cancel.cancel()
        web.closing.wait(20)

    web.pages["/search"] = Page(play=play)
    result = search(context, "searxng", web)
    assert not result["ok"]
    assert "Stopped" in str(result["error"])


class FakeLibrary(ModuleType):
    def __init__(self, answer: object) -> None:
        super().__init__("ddgs")
        self.asked: list[tuple[str, int]] = []
        outer = self

        class DDGS:
            def __init__(self, timeout: int) -> None:
                assert timeout > 0

            def text(self, query: str, max_results: int) -> object:
                outer.asked.append((query, max_results))
                if isinstance(answer, Exception):
                    raise answer
                return answer

        self.DDGS = DDGS


def test_without_keys_the_library_is_asked(context: PlainContext, monkeypatch: pytest.MonkeyPatch) -> None:
    library = FakeLibrary([{"title": "T", "href": "https://e.com", "body": "B"}])
    found = find_engine("auto", "", {})
    assert found is not None
    context.services["search"] = found
    monkeypatch.setitem(sys.modules, "ddgs", library)  # the real one asks the internet
    result = call_tool(context, "web_search", query="q", limit=2)
    assert result["results"] == [{"position": 1, "title": "T", "url": "https://e.com", "snippet": "B"}]
    assert library.asked == [("q", 2)]


@pytest.mark.parametrize(("words", "ok"), [("No results found.", True), ("Ratelimit", False)])
def test_what_the_library_raises_is_told(
    context: PlainContext, monkeypatch: pytest.MonkeyPatch, words: str, ok: bool
) -> None:
    context.services["search"] = find_engine("ddgs", "", {})
    monkeypatch.setitem(sys.modules, "ddgs", FakeLibrary(DDGSException(words)))  # the real one asks the internet
    result = call_tool(context, "web_search", query="q")
    assert result["ok"] is ok
    assert ok or "Ratelimit" in result["error"]


CHOICES = {
    "SearXNG first": ("auto", "http://s.example", KEYS, "searxng"),
    "then Brave": ("auto", "", KEYS, "brave"),
    "then Tavily": ("auto", "", {"TAVILY_API_KEY": "k"}, "tavily"),
    "then the library": ("auto", "", {}, "ddgs"),
    "as said": ("tavily", "http://s.example", KEYS, "tavily"),
    "as said, but without its key": ("brave", "", {}, None),
    "as said, but without its place": ("searxng", "", KEYS, None),
}


@pytest.mark.parametrize(("name", "url", "env", "chosen"), CHOICES.values(), ids=CHOICES)
def test_the_engine_is_the_first_that_is_set_up(
    name: str, url: str, env: Mapping[str, str], chosen: str | None
) -> None:
    found = find_engine(name, url, env)
    assert (found.provider.name if found else None) == chosen


def test_a_search_address_stands_for_the_named_engine_only() -> None:
    brave = find_engine("brave", "http://proxy.example", KEYS)
    assert brave is not None
    assert brave.url == "http://proxy.example"
    own = find_engine("auto", "", KEYS)
    assert own is not None
    assert own.url == "https://api.search.brave.com"


def test_the_card_says_what_was_found(context: PlainContext, web: WebServer) -> None:
    tool = load_builtin_tools().get("web_search")
    assert tool is not None
    web.pages["/search"] = Page(json.dumps({"results": HITS}), "application/json")
    result = search(context, "searxng", web, limit=2)
    shown = tool.display({"query": "two words"}, result)
    assert (shown["verb"], shown["target"], shown["summary"]) == ("search the web", "two words", "2 hits")
    assert shown["output"].startswith("1. Title 1\nhttps://example.com/1\nWords 1\n\n2. Title 2")
    assert tool.assess({"query": "two words"}, context).sends == ("search SearXNG for: two words",)
