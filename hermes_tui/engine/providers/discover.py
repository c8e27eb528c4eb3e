"""Model servers on this machine: asked at their usual ports, all at once, within 300 ms."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from queue import Empty, Queue

from ..config.settings import Settings
from ..types.errors import ConfigError
from .base_urls import normalise
from .probe import fetch_json
from .proxies import is_loopback
from .resolve import provider_named, provider_names

PROBE_S = 0.3
"""A server on this machine answers within milliseconds; nobody waits for one that is not there."""


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A server that answered."""

    provider: str
    base_url: str
    models: tuple[str, ...]


def discover(settings: Settings, env: Mapping[str, str], budget_s: float = PROBE_S) -> list[LocalServer]:
    """Return the local servers that answer ``GET /models``, in the providers' order. Blocks for ``budget_s`` at most.

    Providers whose base URL is on this machine are asked: the shipped local ones, the user's own, and one that an
    environment variable such as ``OPENAI_BASE_URL`` moved here. Nothing leaves the machine.
    """
    targets = dict(_targets(settings, env))
    answers: Queue[tuple[str, tuple[str, ...]]] = Queue()
    urls = sorted(set(targets.values()))
    for url in urls:
        threading.Thread(target=_ask, args=(url, budget_s, answers), daemon=True).start()
    end = time.monotonic() + budget_s
    found: dict[str, tuple[str, ...]] = {}
    for _ in urls:
        try:
            url, models = answers.get(timeout=max(0.0, end - time.monotonic()))
        except Empty:
            break
        found[url] = models
    return [LocalServer(name, url, found[url]) for name, url in targets.items() if found.get(url)]


def _targets(settings: Settings, env: Mapping[str, str]) -> Iterable[tuple[str, str]]:
    for name in provider_names(settings):
        provider = provider_named(name, settings)
        own = settings.providers.get(name)
        moved = env.get(provider.base_url_env, "") if provider.base_url_env and not (own and own.base_url) else ""
        text = moved.strip() or provider.base_url
        try:
            url = normalise(text, name) if text else ""
        except ConfigError:  # said when the provider is used
            continue
        if url and is_loopback(url):
            yield name, url


def _ask(url: str, timeout_s: float, answers: Queue[tuple[str, tuple[str, ...]]]) -> None:
    answers.put((url, model_ids(fetch_json(f"{url}/models", timeout_s))))


def model_ids(listing: object) -> tuple[str, ...]:
    """Return the ids of a ``/models`` answer; empty when it is none."""
    rows = listing.get("data") if isinstance(listing, dict) else None
    if not isinstance(rows, list):
        return ()
    return tuple(str(row["id"]) for row in rows if isinstance(row, dict) and row.get("id"))
