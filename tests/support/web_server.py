"""A web server on loopback whose pages are data: ``with WebServer({"/": Page("<p>hi")}) as web: web.url("/")``."""

from __future__ import annotations

import ssl
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self


@dataclass
class Page:
    """One answer."""

    body: bytes | str = b""
    content_type: str = "text/html; charset=utf-8"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    play: Callable[[BaseHTTPRequestHandler], None] | None = None
    """Writes the whole answer itself."""


@dataclass
class Asked:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class WebServer:
    """Serves pages by path (query cut off) and keeps what was asked; over TLS with a certificate file."""

    def __init__(self, pages: Mapping[str, Page], certificate: Path | None = None) -> None:
        self.pages = dict(pages)
        self.asked: list[Asked] = []
        self.closing = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                outer._answer(self)

            do_POST = do_GET  # noqa: N815

            def log_message(self, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        if certificate is not None:
            tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            tls.load_cert_chain(certificate)
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        self._server.block_on_close = False

    @property
    def port(self) -> int:
        return self._server.server_address[1]

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def url(self, path: str = "/") -> str:
        return f"http://{self.host}{path}"

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
        self.asked.append(Asked(handler.command, handler.path, dict(handler.headers), body))
        page = self.pages.get(handler.path.partition("?")[0], Page("not here", "text/plain", 404))
        if page.play is not None:
            page.play(handler)
            handler.close_connection = True
            return
        data = page.body.encode() if isinstance(page.body, str) else page.body
        handler.send_response(page.status)
        if page.content_type:
            handler.send_header("Content-Type", page.content_type)
        handler.send_header("Content-Length", str(len(data)))
        for name, value in page.headers.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(data)

    def __enter__(self) -> Self:
        threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()


def redirect(location: str, status: int = 302) -> Page:
    return Page(status=status, headers={"Location": location})
