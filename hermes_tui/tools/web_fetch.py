"""Fetch one URL: the address that was checked is connected to, each redirect is checked anew, everything is bounded."""

from __future__ import annotations

import socket
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from .abort import Abort
from .base import ToolFailure
from .web_urls import HostRules, Target, UnsafeUrl, read_url

if TYPE_CHECKING:
    import http.client
    import ssl

MAX_BODY_BYTES = 5_000_000
"""Of a page after decompression; what follows is left out."""
MAX_REDIRECTS = 5
CONNECT_TIMEOUT_S = 10.0
READ_TIMEOUT_S = 15.0
MAX_ADDRESSES = 4
"""Addresses of one host that are tried."""
_CHUNK = 65_536
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
USER_AGENT = "Mozilla/5.0 (compatible; hermes-tui)"
ACCEPT = "text/html,application/xhtml+xml,text/markdown,text/plain,application/json,*/*;q=0.5"

Resolver = Callable[[str, int], list[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """What a server answered."""

    url: str
    """Where it came from, redirects followed."""
    status: int
    content_type: str
    """The header as sent."""
    body: bytes
    is_cut: bool = False
    """Whether there was more than fits, or the connection ended early."""
    retry_after: str = ""


def resolve(host: str, port: int) -> list[str]:
    """Return the addresses of a host. Blocks.

    Raises:
        OSError: It has none.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]).partition("%")[0] for entry in found))


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetcher:
    """Fetches under one set of rules. Any thread.

    Attributes:
        rules: Which hosts may be reached.
        resolver: Name to addresses; asked once per hop.
        max_bytes: What a body may hold, decompressed.
    """

    rules: HostRules
    resolver: Resolver = resolve
    max_bytes: int = MAX_BODY_BYTES

    def fetch(
        self, url: str, abort: Abort, headers: Mapping[str, str] | None = None, body: bytes | None = None
    ) -> Fetched:
        """Return the answer for a URL; blocks until it is whole, too large, or ``abort`` is set.

        Args:
            url: Where to begin.
            abort: Ends it.
            headers: Further request headers; they go to the first host only.
            body: Sent as JSON by POST; then no redirect is followed.

        Raises:
            UnsafeUrl: It, or a place that it leads to, may not be reached.
            ToolFailure: It cannot be fetched.
        """
        import http.client

        target, own = read_url(url), dict(headers or {})
        for _ in range(MAX_REDIRECTS + 1):
            self.rules.check_name(target)
            abort.check()
            connection = self._connect(target, abort)
            try:
                answer = _ask(connection, target, own, body)
                abort.check()
                location = answer.getheader("Location")
                if answer.status not in _REDIRECTS or not location or body is not None:
                    return self._read(target, answer, abort)
            except (OSError, http.client.HTTPException, UnicodeError) as error:
                abort.check()
                raise ToolFailure(f"{target.authority} did not answer as a web server: {_words(error)}.") from error
            finally:
                connection.close()
            target, own = _redirected(target, location), {}
        raise ToolFailure(f"More than {MAX_REDIRECTS} redirects; the last led to {target.url}.")

    def _connect(self, target: Target, abort: Abort) -> socket.socket:
        """Connect to an address that was checked; the name is not resolved a second time."""
        import ssl

        try:
            addresses = [target.host] if target.address else self.resolver(target.host, target.port)
        except (OSError, UnicodeError):
            raise ToolFailure(f"There is no host {target.host}, or no connection to a name server.") from None
        self.rules.check_addresses(target, addresses)
        problem: Exception | None = None
        for address in addresses[:MAX_ADDRESSES]:
            abort.check()
            try:
                return _open(address, target, abort)
            except ssl.SSLError as error:
                raise ToolFailure(f"{target.host} has no valid certificate: {_words(error)}.") from error
            except OSError as error:
                problem = error
        abort.check()
        raise ToolFailure(f"{target.authority} cannot be reached: {_words(problem)}.")

    def _read(self, target: Target, answer: http.client.HTTPResponse, abort: Abort) -> Fetched:
        import http.client

        inflate = _decoder((answer.getheader("Content-Encoding") or "").strip().lower())
        parts: list[bytes] = []
        room, is_cut = self.max_bytes, False
        try:
            while room > 0 and (chunk := answer.read1(_CHUNK)):
                abort.check()
                piece = inflate(chunk, room)
                room -= len(piece)
                parts.append(piece)
            abort.check()
            is_cut = room <= 0 or bool(answer.length)
        except http.client.IncompleteRead:
            is_cut = True
        except zlib.error as error:
            raise ToolFailure("The page is compressed in a way that cannot be read.") from error
        return Fetched(
            url=target.url,
            status=answer.status,
            content_type=answer.getheader("Content-Type") or "",
            body=b"".join(parts),
            is_cut=is_cut,
            retry_after=answer.getheader("Retry-After") or "",
        )


def _open(address: str, target: Target, abort: Abort) -> socket.socket:
    plain = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
    held: socket.socket = plain
    try:
        abort.hold(plain)
        plain.settimeout(CONNECT_TIMEOUT_S)
        plain.connect((address, target.port))
        if target.scheme == "https":
            secure = _tls().wrap_socket(plain, server_hostname=target.host, do_handshake_on_connect=False)
            held = secure
            abort.hold(secure)
            secure.do_handshake()
        held.settimeout(READ_TIMEOUT_S)
    except BaseException:
        held.close()
        raise
    return held


@lru_cache(maxsize=1)
def _tls() -> ssl.SSLContext:
    import httpx2

    return httpx2.create_ssl_context()


def _ask(
    connection: socket.socket, target: Target, headers: Mapping[str, str], body: bytes | None
) -> http.client.HTTPResponse:
    import http.client

    asking = http.client.HTTPConnection(target.host, target.port)
    asking.sock = connection
    asking.putrequest("GET" if body is None else "POST", target.path, skip_host=True, skip_accept_encoding=True)
    fixed = {
        "Host": target.authority,
        "User-Agent": USER_AGENT,
        "Accept": ACCEPT,
        "Accept-Encoding": "gzip",
        "Connection": "close",
    }
    if body is not None:
        fixed |= {"Content-Type": "application/json", "Content-Length": str(len(body))}
    for name, value in {**fixed, **headers}.items():
        asking.putheader(name, value)
    asking.endheaders(body)
    return asking.getresponse()


def _redirected(target: Target, location: str) -> Target:
    try:
        return read_url(urljoin(target.url, location))
    except UnsafeUrl as error:
        raise UnsafeUrl(f"{target.host} redirects to a place that is not read. {error.message}") from None
    except ValueError:
        raise UnsafeUrl(f"{target.host} redirects to something that is no URL.") from None


def _decoder(encoding: str) -> Callable[[bytes, int], bytes]:
    """Return what decompresses the next bytes to at most so many; a bomb bursts inside zlib's own limit."""
    if encoding in ("", "identity"):
        return lambda chunk, room: chunk[:room]
    if encoding not in ("gzip", "x-gzip", "deflate"):
        raise ToolFailure(f"The server compresses with {encoding[:40]}, which was not asked for.")
    inflater = zlib.decompressobj(wbits=47)  # 32 + 15: gzip or zlib, by its header
    return lambda chunk, room: inflater.decompress(inflater.unconsumed_tail + chunk, room)


def _words(error: Exception | None) -> str:
    if isinstance(error, TimeoutError):
        return "it took too long"
    text = getattr(error, "verify_message", "") or getattr(error, "strerror", "") or str(error)
    return " ".join(str(text).split())[:200] or type(error).__name__
