"""The demo's web: two pages and a search over them, without a network. What is refused elsewhere is refused here."""

from __future__ import annotations

from collections.abc import Mapping

from ...tools.abort import Abort
from ...tools.base import ToolFailure
from ...tools.ports import ToolContext
from ...tools.web_fetch import Fetched
from ...tools.web_urls import HostRules, read_url

PAGE = "https://demo.example/terminal-agents"
APPROVALS = "https://demo.example/approvals"
PAGES: Mapping[str, str] = {
    PAGE: """<!doctype html><html><head><title>Working with an agent in a terminal</title></head><body><main>
<h1>Working with an agent in a terminal</h1>
<p>This page is part of the hermes-tui demo. It was read without a network, by the tool that reads real pages.</p>
<h2>Three habits</h2>
<ul><li>Say what the result should be, not every step on the way.</li>
<li>Read the diff before the next message; undoing one step is cheaper than undoing ten.</li>
<li>Let it search your old sessions instead of explaining things twice.</li></ul>
<table><tr><th>you want to</th><th>press</th></tr><tr><td>interrupt</td><td>Esc</td></tr>
<tr><td>find a session</td><td>Ctrl+R</td></tr></table></main></body></html>""",
    APPROVALS: """<!doctype html><html><head><title>What asks for approval</title></head><body><main>
<h1>What asks for approval</h1>
<p>Reading asks nobody. Commands that delete, send or change the system ask first, and the dialog shows all of what
would run.</p></main></body></html>""",
}
_WORDS: Mapping[str, tuple[str, str]] = {
    PAGE: ("Working with an agent in a terminal", "Three habits: say the result, read the diff, search old sessions."),
    APPROVALS: ("What asks for approval", "Commands that delete, send or change the system."),
}


class DemoWeb:
    """Implements ``tools.ports.WebAccess``: the demo's pages, and nobody else's."""

    def fetch(self, url: str, abort: Abort) -> Fetched:
        """Return a page of the demo.

        Raises:
            ToolFailure: It is not one of them.
        """
        abort.check()
        target = read_url(url)
        HostRules().check_name(target)
        if target.url not in PAGES:
            raise ToolFailure("The demo reads its own pages only; with a real model this goes to the network.")
        return Fetched(url=target.url, status=200, content_type="text/html; charset=utf-8", body=PAGES[url].encode())


class DemoSearch:
    """Implements ``tools.ports.WebSearch`` over the demo's pages."""

    title = "Demo (offline)"

    def search(self, query: str, count: int, context: ToolContext) -> list[dict[str, str]]:
        """Return the demo's pages, those first that hold a word of the query."""
        del context
        words = query.lower().split()
        rows = [{"title": title, "url": url, "snippet": snippet} for url, (title, snippet) in _WORDS.items()]
        rows.sort(key=lambda row: -sum(word in " ".join(row.values()).lower() for word in words))
        return rows[:count]
