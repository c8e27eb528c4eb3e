"""Search engines, as rows of a table: how each is asked and how its answer is read."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any
from urllib.parse import urlencode

from .abort import Abort, side_by_side
from .base import ToolFailure
from .ports import ToolContext
from .web_fetch import Fetcher
from .web_urls import HostRules, read_url

TIME_LIMIT_S = 30.0
MAX_ANSWER_BYTES = 2_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is sent to a search engine."""

    url: str
    headers: Mapping[str, str]
    body: bytes | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """One search engine."""

    name: str
    title: str
    url: str = ""
    """Where it is; empty when the settings must say."""
    key_env: str = ""
    """Variable that holds its key."""
    request: Callable[[str, str, int, str], Request] | None = None
    """``(base URL, query, count, key)`` -> what to send; None for the engine that a library asks."""
    hits: tuple[str, ...] = ("results",)
    """Where in the answer the list of hits is."""
    snippet: str = "content"
    """The field of a hit that holds its excerpt."""


def _searxng(base: str, query: str, count: int, key: str) -> Request:
    del count, key
    return Request(url=f"{base}/search?{urlencode({'q': query, 'format': 'json'})}", headers={})


def _brave(base: str, query: str, count: int, key: str) -> Request:
    url = f"{base}/res/v1/web/search?{urlencode({'q': query, 'count': count})}"
    return Request(url=url, headers={"X-Subscription-Token": key, "Accept": "application/json"})


def _tavily(base: str, query: str, count: int, key: str) -> Request:
    body = json.dumps({"query": query, "max_results": count}).encode()
    return Request(url=f"{base}/search", headers={"Authorization": f"Bearer {key}"}, body=body)


PROVIDERS: Sequence[Provider] = (
    Provider(name="searxng", title="SearXNG", request=_searxng),
    Provider(
        name="brave",
        title="Brave Search",
        url="https://api.search.brave.com",
        key_env="BRAVE_API_KEY",
        request=_brave,
        hits=("web", "results"),
        snippet="description",
    ),
    Provider(name="tavily", title="Tavily", url="https://api.tavily.com", key_env="TAVILY_API_KEY", request=_tavily),
    Provider(name="ddgs", title="DuckDuckGo and others (ddgs)"),
)
"""In the order in which ``auto`` looks. Source: the public API pages of each."""
KEY_ENVS = tuple(provider.key_env for provider in PROVIDERS if provider.key_env)
NONE_READY = "Set web.search_url to a SearXNG, or BRAVE_API_KEY or TAVILY_API_KEY, or: pip install 'hermes-tui[web]'"
"""What makes a search engine usable, for people."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchEngine:
    """A provider that can be used here. Implements ``ports.WebSearch``; any thread."""

    provider: Provider
    url: str = ""
    key: str = ""

    @property
    def title(self) -> str:
        """Its name for people."""
        return self.provider.title

    def search(self, query: str, count: int, context: ToolContext) -> list[dict[str, str]]:
        """Return the hits, each with title, url and snippet. Blocks.

        Raises:
            ToolFailure: There is no answer, or none that can be read.
        """
        ask = self._ask_library if self.provider.request is None else self._ask_server
        (found,) = side_by_side([lambda abort: ask(query, count, abort)], context.cancel, TIME_LIMIT_S)
        if isinstance(found, ToolFailure):
            raise ToolFailure(f"{self.title} gave no answer. {found.message}")
        return found

    def _ask_server(self, query: str, count: int, abort: Abort) -> list[dict[str, str]]:
        assert self.provider.request is not None
        request = self.provider.request(self.url.rstrip("/"), query, count, self.key)
        rules = HostRules(allow=(read_url(request.url).authority,))  # the person named this host
        fetcher = Fetcher(rules=rules, max_bytes=MAX_ANSWER_BYTES)
        answer = fetcher.fetch(request.url, abort, request.headers, request.body)
        if answer.status != 200:
            raise ToolFailure(_refusal(answer.status, self.provider))
        try:
            found: Any = json.loads(answer.body)
            for key in self.provider.hits:
                found = found[key]
            return [_hit(hit, "url", self.provider.snippet) for hit in found]
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
            raise ToolFailure("The answer is not in the form that is known.") from None

    def _ask_library(self, query: str, count: int, abort: Abort) -> list[dict[str, str]]:
        from ddgs import DDGS
        from ddgs.exceptions import DDGSException

        abort.check()
        try:
            return [_hit(hit, "href", "body") for hit in DDGS(timeout=20).text(query, max_results=count)]
        except DDGSException as error:
            if "no results" in str(error).lower():
                return []
            raise ToolFailure(" ".join(str(error).split())[:300]) from error


def _refusal(status: int, provider: Provider) -> str:
    if status in (401, 403):
        wanted = f"check {provider.key_env}" if provider.key_env else "its settings must allow the format json"
        return f"It answered {status}: {wanted}."
    return f"It answered {status}." + (" That is too many searches; wait a while." if status == 429 else "")


def _hit(hit: Mapping[str, Any], url: str, snippet: str) -> dict[str, str]:
    return {"title": str(hit.get("title") or ""), "url": str(hit[url]), "snippet": str(hit.get(snippet) or "")}


def find_engine(name: str, url: str, env: Mapping[str, str]) -> SearchEngine | None:
    """Return the search engine to use, None when none is set up.

    Args:
        name: A provider's name, or ``auto`` for the first that can be used.
        url: ``web.search_url``: where SearXNG is, or in place of the provider's own address.
        env: Holds the keys.
    """
    for provider in PROVIDERS:
        if name not in ("auto", provider.name):
            continue
        is_own = provider.name == name or not provider.url
        engine = SearchEngine(
            provider=provider,
            url=(url if is_own and url else provider.url),
            key=env.get(provider.key_env, "") if provider.key_env else "",
        )
        if _is_usable(engine):
            return engine
    return None


def _is_usable(engine: SearchEngine) -> bool:
    provider = engine.provider
    if provider.request is None:
        return find_spec("ddgs") is not None
    return bool(engine.url) and (not provider.key_env or bool(engine.key))
