"""Fetching: what is connected to, where redirects lead, and what ends it. Real sockets on loopback."""

from __future__ import annotations

import gzip
import socket
import ssl
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from support.web_server import Page, WebServer, redirect

from hermes_tui.tools import web_fetch
from hermes_tui.tools.abort import Abort, Stopped, side_by_side
from hermes_tui.tools.base import ToolFailure
from hermes_tui.tools.web_fetch import MAX_REDIRECTS, Fetched, Fetcher
from hermes_tui.tools.web_urls import HostRules, UnsafeUrl


@pytest.fixture
def web() -> Iterator[WebServer]:
    with WebServer({"/": Page("<p>Hello</p>")}) as server:
        yield server


def fetch(web: WebServer, path: str = "/", **changes: object) -> Fetched:
    fetcher = Fetcher(rules=HostRules(allow=[web.host]), **changes)  # type: ignore[arg-type]
    return fetcher.fetch(web.url(path), Abort())


def test_a_page_arrives_with_its_type_and_place(web: WebServer) -> None:
    page = fetch(web, "/?a=b c")
    assert (page.status, page.body, page.content_type) == (200, b"<p>Hello</p>", "text/html; charset=utf-8")
    assert page.url == web.url("/?a=b%20c")
    headers = web.asked[0].headers
    assert headers["Host"] == web.host
    assert {"Cookie", "Referer", "Authorization"}.isdisjoint(headers)


def test_loopback_is_refused_without_a_rule_and_nothing_is_sent(web: WebServer) -> None:
    with pytest.raises(UnsafeUrl, match=rf'this machine.*web\.allow_hosts = \["{web.host}"\]'):
        Fetcher(rules=HostRules()).fetch(web.url(), Abort())
    assert web.asked == []


def test_the_name_is_resolved_once_and_the_checked_address_is_used(web: WebServer) -> None:
    answers = iter([["127.0.0.1"], ["10.0.0.1"]])
    page = Fetcher(
        rules=HostRules(allow=[f"rebind.example:{web.port}"]), resolver=lambda host, port: next(answers)
    ).fetch(f"http://rebind.example:{web.port}/", Abort())
    assert page.status == 200
    assert web.asked[0].headers["Host"] == f"rebind.example:{web.port}"
    assert next(answers) == ["10.0.0.1"], "it was asked for once"


def test_a_name_that_turns_private_is_refused(web: WebServer) -> None:
    fetcher = Fetcher(rules=HostRules(), resolver=lambda host, port: ["127.0.0.1"])
    with pytest.raises(UnsafeUrl, match=r"localtest\.example has the address 127\.0\.0\.1, this machine"):
        fetcher.fetch(f"http://localtest.example:{web.port}/", Abort())
    assert web.asked == []


def test_the_next_address_is_tried_when_one_does_not_answer(web: WebServer) -> None:
    fetcher = Fetcher(rules=HostRules(allow=["two.example"]), resolver=lambda host, port: ["127.0.0.2", "127.0.0.1"])
    assert fetcher.fetch(f"http://two.example:{web.port}/", Abort()).status == 200


LEADS = {
    "file": ("file:///etc/passwd", "http:// and https://"),
    "metadata": ("http://169.254.169.254/latest/", "link-local or metadata"),
    "mapped": ("http://[::ffff:127.0.0.1]:{port2}/", "this machine"),
    "odd spelling": ("http://0x7f.1/", "odd spelling"),
    "another port here": ("http://127.0.0.1:{port2}/", "this machine"),
    "user": ("http://127.0.0.1:{port}@127.0.0.1:{port2}/", "user name"),
    "no URL": ("http://[/", "no URL"),
}


@pytest.mark.parametrize(("location", "words"), LEADS.values(), ids=LEADS)
def test_each_place_that_a_redirect_leads_to_is_checked(web: WebServer, location: str, words: str) -> None:
    with WebServer({"/": Page("secret")}) as other:
        web.pages["/go"] = redirect(location.format(port=web.port, port2=other.port))
        with pytest.raises(UnsafeUrl) as refused:
            fetch(web, "/go")
        assert words in refused.value.message
        assert other.asked == []


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_followed_within_the_rules(web: WebServer, status: int) -> None:
    web.pages |= {"/a/b": redirect("../c?d", status), "/c": Page("here")}
    page = fetch(web, "/a/b")
    assert (page.body, page.url) == (b"here", web.url("/c?d"))


def test_a_circle_of_redirects_ends(web: WebServer) -> None:
    web.pages["/go"] = redirect("/go")
    with pytest.raises(ToolFailure, match=f"More than {MAX_REDIRECTS} redirects"):
        fetch(web, "/go")
    assert len(web.asked) == MAX_REDIRECTS + 1


def test_own_headers_go_to_the_first_host_only(web: WebServer) -> None:
    web.pages["/go"] = redirect("/")
    Fetcher(rules=HostRules(allow=[web.host])).fetch(web.url("/go"), Abort(), {"X-Key": "k"})
    assert ["X-Key" in asked.headers for asked in web.asked] == [True, False]


def test_a_long_page_is_cut_and_said_to_be(web: WebServer) -> None:
    web.pages["/long"] = Page("x" * 100_000)
    page = fetch(web, "/long", max_bytes=1_000)
    assert (len(page.body), page.is_cut) == (1_000, True)


COMPRESSED: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    "gzip": ("gzip", gzip.compress),
    "deflate": ("deflate", zlib.compress),
}


@pytest.mark.parametrize(("encoding", "compress"), COMPRESSED.values(), ids=COMPRESSED)
def test_a_bomb_is_unpacked_no_further_than_the_limit(
    web: WebServer, encoding: str, compress: Callable[[bytes], bytes]
) -> None:
    web.pages["/small"] = Page(compress(b"hello " * 100), headers={"Content-Encoding": encoding})
    web.pages["/bomb"] = Page(compress(b"\0" * 30_000_000), headers={"Content-Encoding": encoding})
    assert fetch(web, "/small").body == b"hello " * 100
    bomb = fetch(web, "/bomb", max_bytes=10_000)
    assert (len(bomb.body), bomb.is_cut) == (10_000, True)


def test_an_unknown_or_broken_compression_is_said(web: WebServer) -> None:
    web.pages["/br"] = Page(b"\x0b\x02\x80", headers={"Content-Encoding": "br"})
    web.pages["/broken"] = Page(b"no gzip at all", headers={"Content-Encoding": "gzip"})
    with pytest.raises(ToolFailure, match="compresses with br"):
        fetch(web, "/br")
    with pytest.raises(ToolFailure, match="compressed in a way"):
        fetch(web, "/broken")


def raw(data: bytes, *, waits: threading.Event | None = None) -> Page:
    def play(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(data)
        handler.wfile.flush()
        if waits is not None:
            waits.wait(20)

    return Page(play=play)


def test_a_body_that_ends_early_is_kept_and_said_to_be_cut(web: WebServer) -> None:
    web.pages["/short"] = raw(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
    web.pages["/chunks"] = raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n")
    assert (fetch(web, "/short").body, fetch(web, "/short").is_cut) == (b"half", True)
    assert fetch(web, "/chunks").is_cut


@pytest.mark.parametrize("answer", [b"", b"garbage\r\n\r\n", b"HTTP/1.1 200 OK\r\nX: " + b"y" * 200_000])
def test_what_is_no_http_is_a_clear_failure(web: WebServer, answer: bytes) -> None:
    web.pages["/odd"] = raw(answer)
    with pytest.raises(ToolFailure, match="did not answer as a web server"):
        fetch(web, "/odd")


def test_a_host_without_a_server_or_a_name_is_a_clear_failure() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with pytest.raises(ToolFailure, match=f"127.0.0.1:{port} cannot be reached: Connection refused"):
        Fetcher(rules=HostRules(allow=["127.0.0.1"])).fetch(f"http://127.0.0.1:{port}/", Abort())

    def unknown(host: str, port: int) -> list[str]:
        raise socket.gaierror(-2, "Name or service not known")

    with pytest.raises(ToolFailure, match=r"no host nowhere\.example"):
        Fetcher(rules=HostRules(), resolver=unknown).fetch("http://nowhere.example/", Abort())


CERTIFICATE = Path(__file__).parents[1] / "data" / "tls.example.pem"


@pytest.fixture
def trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    """The certificate of the tests is one of a known authority; the machine's own store cannot hold it."""
    context = ssl.create_default_context(cafile=str(CERTIFICATE))
    monkeypatch.setattr(web_fetch, "_tls", lambda: context)


@pytest.mark.usefixtures("trusted")
def test_over_tls_the_name_is_proven_at_the_address_that_was_checked() -> None:
    with WebServer({"/": Page("over TLS")}, CERTIFICATE) as server:

        def fetch_from(name: str) -> Fetched:
            fetcher = Fetcher(rules=HostRules(allow=[name]), resolver=lambda host, port: ["127.0.0.1"])
            return fetcher.fetch(f"https://{name}:{server.port}/", Abort())

        assert fetch_from("tls.example").body == b"over TLS"
        assert server.asked[0].headers["Host"] == f"tls.example:{server.port}"
        with pytest.raises(ToolFailure, match=r"other\.example has no valid certificate: .*not valid for"):
            fetch_from("other.example")
        assert len(server.asked) == 1


def test_an_unknown_authority_is_no_authority() -> None:
    with WebServer({"/": Page("over TLS")}, CERTIFICATE) as server:
        fetcher = Fetcher(rules=HostRules(allow=["tls.example"]), resolver=lambda host, port: ["127.0.0.1"])
        with pytest.raises(ToolFailure, match="no valid certificate: self-signed certificate"):
            fetcher.fetch(f"https://tls.example:{server.port}/", Abort())
        assert server.asked == []


def test_a_server_without_tls_is_a_clear_failure(web: WebServer) -> None:
    with pytest.raises(ToolFailure, match="no valid certificate"):
        Fetcher(rules=HostRules(allow=[web.host])).fetch(f"https://{web.host}/", Abort())


STALLS = {
    "before the answer": b"",
    "within the headers": b"HTTP/1.1 200 OK\r\nX: ",
    "within the body": b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf",
}


@pytest.mark.parametrize("start", STALLS.values(), ids=STALLS)
def test_a_stalled_server_is_left_at_once_when_aborted(web: WebServer, start: bytes) -> None:
    web.pages["/stall"] = raw(start, waits=web.closing)
    abort, ended = Abort(), threading.Event()
    problems: list[BaseException] = []

    def run() -> None:
        try:
            Fetcher(rules=HostRules(allow=[web.host])).fetch(web.url("/stall"), abort)
        except ToolFailure as failure:
            problems.append(failure)
        ended.set()

    threading.Thread(target=run, daemon=True).start()
    while not web.asked:
        time.sleep(0.001)
    abort.set()
    assert ended.wait(5), "the socket was not woken"
    assert [type(problem) for problem in problems] == [Stopped]


class _Never:
    cancelled = False
    reason = ""

    def on_cancel(self, hook: Callable[[], None]) -> Callable[[], None]:
        return lambda: None

    def wait(self, timeout_s: float | None = None) -> bool:
        return False


def test_each_work_has_its_own_end_and_late_ones_are_left() -> None:
    never = threading.Event()

    def fails(abort: Abort) -> str:
        raise ValueError("odd")

    def hangs(abort: Abort) -> str:
        never.wait(20)
        return "late"

    good, failed, late = side_by_side([lambda abort: "good", fails, hangs], _Never(), 0.2)
    never.set()
    assert good == "good"
    assert isinstance(failed, ToolFailure)
    assert "ValueError: odd" in failed.message
    assert isinstance(late, ToolFailure)
    assert "longer than 0.2 s" in late.message
