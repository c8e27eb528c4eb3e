"""Requests through the real SDK clients, answers as raw bytes, closable from any thread at any moment.

The SDK's client does what it is good at (authentication, URLs, connections, proxies, its errors); the body is read as
it arrives, because the SDK's own model per chunk costs thirty times what our decoders need.

A *lane* is one SDK client with at most one connection. Since a lane carries one request at a time, its socket is always
known, also before the answer's first byte, and closing shuts down that socket: a blocked read returns at once and the
server sees the end of the connection. Lanes are kept and reused, so their connections are.
"""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ..config.secrets import redact
from ..types.errors import ConfigError, HermesError, StreamBroken
from ..types.messages import JsonObject
from .base import Endpoint, StreamControl
from .proxies import is_loopback, proxy_for
from .sdk_import import client_class

if TYPE_CHECKING:
    import ssl

CONNECT_TIMEOUT_S = 10.0
WRITE_TIMEOUT_S = 60.0
KEEP_ALIVE_S = 90.0
NO_KEY = "none"
"""Sent to servers that need no key; the SDKs refuse an empty one."""

_BASE_ERRORS = {"openai": "OpenAIError", "anthropic": "AnthropicError"}

wire_log = logging.getLogger("hermes_tui.wire")


@dataclass(frozen=True, slots=True)
class _LaneKey:
    """What two requests must have in common to share a connection."""

    sdk: str
    base_url: str
    api_key: str
    headers: tuple[tuple[str, str], ...]


class _Lane:
    """One SDK client and the socket of its only connection."""

    def __init__(self, key: _LaneKey, context: ssl.SSLContext | bool) -> None:
        import httpx2

        timeout = httpx2.Timeout(None, connect=CONNECT_TIMEOUT_S, write=WRITE_TIMEOUT_S)
        http = httpx2.Client(
            verify=context,
            timeout=timeout,
            limits=httpx2.Limits(max_connections=1, max_keepalive_connections=1, keepalive_expiry=KEEP_ALIVE_S),
            # A redirect from plain http may lead to a host that needs the certificate check switched off here.
            follow_redirects=context is not False,
            trust_env=not is_loopback(key.base_url),
            event_hooks={"request": [self._watch]},
        )
        self.key = key
        self.response_class: Any = httpx2.Response
        sdk_class = client_class(key.sdk)
        sdk_error: type[Exception] = getattr(import_module(f"{key.sdk}._exceptions"), _BASE_ERRORS[key.sdk])
        self.foreign_errors = (
            sdk_error,
            httpx2.HTTPError,
            httpx2.StreamError,
            httpx2.InvalidURL,
            OSError,
            UnicodeError,
        )
        self.client: Any = sdk_class(
            api_key=key.api_key or NO_KEY,
            base_url=key.base_url,
            default_headers={**_unsent_headers(key), **dict(key.headers)},
            max_retries=0,
            timeout=timeout,
            http_client=http,
        )
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._turn = 0
        self._closed = False

    def begin(self) -> Callable[[], None]:
        """Take the lane for a new request and return the function that ends this request, and no later one."""
        with self._lock:
            self._turn += 1
            self._closed = False
            return partial(self._close, self._turn)

    def end(self) -> None:
        """The request is over; closing it now means nothing."""
        with self._lock:
            self._turn += 1

    @property
    def is_closed(self) -> bool:
        """True when the present request was closed by its caller."""
        return self._closed

    def _close(self, turn: int) -> None:
        with self._lock:
            if turn == self._turn:
                self._closed = True
                self._shut_down()

    def _watch(self, request: Any) -> None:
        request.extensions["trace"] = self._trace

    def _trace(self, _event: str, facts: Mapping[str, Any]) -> None:
        stream = facts.get("return_value")
        if stream is not None and hasattr(stream, "get_extra_info"):
            with self._lock:
                self._socket = stream.get_extra_info("socket")
                if self._closed:
                    self._shut_down()

    def _shut_down(self) -> None:
        if self._socket is not None:
            with suppress(OSError):
                # Below TLS on purpose: its own shutdown would wait for the peer.
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


def _unsent_headers(key: _LaneKey) -> dict[str, Any]:
    """Keep the account ids that the SDK finds in the environment from everybody but OpenAI."""
    if key.sdk != "openai" or urlsplit(key.base_url).hostname == "api.openai.com":
        return {}
    omit = import_module("openai._types").Omit()
    return {"OpenAI-Organization": omit, "OpenAI-Project": omit}


class Reply:
    """An answer that has begun: status 200 and headers are there, the body may still be growing."""

    def __init__(
        self, response: Any, lane: _Lane, close: Callable[[], None], received: Callable[[bytes], None]
    ) -> None:
        self._response = response
        self._received = received
        self._lane = lane
        self._close = close
        self._timer: threading.Timer | None = None
        self._is_over = False
        self.end_error: Exception | None = None
        """What broke the connection, if something did."""

    @property
    def headers(self) -> Mapping[str, str]:
        """Response headers; names in any case."""
        return self._response.headers  # type: ignore[no-any-return]

    def chunks(self) -> Iterator[bytes]:
        """Yield the body as it arrives; blocks between chunks."""
        try:
            for chunk in self._response.iter_bytes():
                self._received(chunk)
                if wire_log.isEnabledFor(logging.DEBUG):
                    wire_log.debug("< %s", redact(chunk.decode("utf-8", "replace"), [self._lane.key.api_key]))
                yield chunk
        except self._lane.foreign_errors as error:
            if self._lane.is_closed and not self._is_over:
                raise
            # Whether this was too early is for the decoder to say: some servers hang up without an end mark.
            self.end_error = error

    def expect_end(self, within_s: float) -> None:
        """End the body unless it ends by itself in time: everything needed has arrived."""
        self.cancel_timer()
        self._timer = threading.Timer(within_s, self._give_up)
        self._timer.daemon = True
        self._timer.start()

    def cancel_timer(self) -> None:
        """The body ended by itself."""
        if self._timer is not None:
            self._timer.cancel()

    def _give_up(self) -> None:
        self._is_over = True
        self._close()


class Transport:
    """Keeps the lanes. One per process; every method from any thread.

    Args:
        env: For explaining proxies; the HTTP library reads the process environment itself.
    """

    def __init__(self, env: Mapping[str, str]) -> None:
        self.env = env
        self._lock = threading.Lock()
        self._idle: dict[_LaneKey, list[_Lane]] = {}
        self._context: ssl.SSLContext | None = None

    @contextmanager
    def send(
        self, sdk: str, endpoint: Endpoint, path: str, body: JsonObject, control: StreamControl
    ) -> Iterator[Reply]:
        """Send a request and give its reply. Blocks until the headers are there.

        Args:
            sdk: ``openai`` or ``anthropic``.
            endpoint: Where to send it.
            path: Below the base URL.
            body: The exact JSON.
            control: Is told at once how to close the request.

        Raises:
            HermesError: Whatever went wrong, classified, also for what happens while the body is read.
        """
        lane = self._take(sdk, endpoint)
        reply: Reply | None = None
        close = lane.begin()
        try:
            control.on_open(close)
            if wire_log.isEnabledFor(logging.DEBUG):
                wire_log.debug("> %s%s %s", endpoint.base_url, path, redact(repr(body), [endpoint.api_key]))
            response = lane.client.post(path, cast_to=lane.response_class, body=body, stream=True)
            reply = Reply(response, lane, close, control.received)
            with closing(response):
                yield reply
        except lane.foreign_errors as error:
            raise self._translate(error, lane, endpoint) from error
        finally:
            if reply is not None:
                reply.cancel_timer()
            lane.end()
            self._give_back(lane)

    def warm_up(self, sdk: str, endpoint: Endpoint) -> None:
        """Import the SDK and make a client, so that the first request finds both. Blocks; call it from a thread.

        Raises:
            HermesError: The client cannot be made (proxy settings).
        """
        lane = self._take(sdk, endpoint)
        # Looking up what machine this is takes the SDK 10 ms, once.
        lane.client.platform_headers()
        self._give_back(lane)

    def close(self) -> None:
        """Close the idle connections."""
        with self._lock:
            lanes = [lane for idle in self._idle.values() for lane in idle]
            self._idle.clear()
        for lane in lanes:
            lane.client.close()

    def _take(self, sdk: str, endpoint: Endpoint) -> _Lane:
        headers = tuple(sorted(endpoint.headers.items()))
        key = _LaneKey(sdk, endpoint.base_url, endpoint.api_key, headers)
        with self._lock:
            if idle := self._idle.get(key):
                return idle.pop()
        try:
            return _Lane(key, self._tls(endpoint.base_url))
        except (ImportError, ValueError, TypeError) as error:
            raise self._bad_client(error, endpoint) from error

    def _give_back(self, lane: _Lane) -> None:
        with self._lock:
            self._idle.setdefault(lane.key, []).append(lane)

    def _tls(self, base_url: str) -> ssl.SSLContext | bool:
        if base_url.startswith("http:"):
            return False
        import httpx2

        with self._lock:
            self._context = self._context or httpx2.create_ssl_context()
            return self._context

    def _translate(self, error: Exception, lane: _Lane, endpoint: Endpoint) -> HermesError:
        if lane.is_closed:
            return StreamBroken("The request was closed.", code="closed")
        if isinstance(error, UnicodeError) or type(error.__cause__).__name__ == "LocalProtocolError":
            return ConfigError(
                f"A header for {endpoint.provider} has a character that headers cannot carry.",
                hint=f"Check providers.{endpoint.provider}.headers.",
            )
        from .classify import classify

        return classify(error, endpoint, self.env)

    def _bad_client(self, error: Exception, endpoint: Endpoint) -> ConfigError:
        """Explain why no client could be made; nearly always the proxy variables."""
        proxy = proxy_for(endpoint.base_url, self.env)
        if proxy is None:
            return ConfigError(f"Cannot make a client for {endpoint.base_url}: {error}.", hint="Check base_url.")
        if isinstance(error, ImportError):
            hint = "Install it with: pip install 'httpx2[socks]' - or unset the variable."
            return ConfigError(f"The proxy {proxy.url} ({proxy.variable}) needs SOCKS support.", hint=hint)
        return ConfigError(
            f"The proxy {proxy.url} ({proxy.variable}) cannot be used.", hint="It must look like http://host:port."
        )
