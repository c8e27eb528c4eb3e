"""Which addresses the web tools may reach: the one place that reads URLs, host rules and resolved addresses.

A URL is refused rather than repaired: what two programs could read differently is read by neither.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias
from urllib.parse import quote, urlsplit

from .base import ToolFailure

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

MAX_URL_CHARS = 8_000
_PORTS = {"http": 80, "https": 443}
_BAD_PORT_NUMBERS = """
1 7 9 11 13 15 17 19 20 21 22 23 25 37 42 43 53 69 77 79 87 95 101 102 103 104 109 110 111 113 115 117 119 123 135 137
139 143 161 179 389 427 465 512 513 514 515 526 530 531 532 540 548 554 556 563 587 601 636 989 990 993 995 1719 1720
1723 2049 3659 4045 4190 5060 5061 6000 6566 6665 6666 6667 6668 6669 6679 6697 10080"""
_BAD_PORTS = frozenset(map(int, _BAD_PORT_NUMBERS.split()))
"""Ports of other protocols. Source: the Fetch standard's list of bad ports."""
_HOST = re.compile(r"[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?)*\Z")
_NUMERIC_LABEL = re.compile(r"(?:[0-9]+|0x[0-9a-f]*)\Z")
_CONTROLS = re.compile(r"[\x00-\x20\x7f-\xa0\u2028\u2029\ud800-\udfff]")
_METADATA = ipaddress.ip_address("168.63.129.16")
"""Azure's host agent, which has a public address."""
_SPECIAL = ipaddress.ip_network("192.0.0.0/24")
"""Protocol assignments (and a metadata service), which Python counts as public in part. Source: RFC 6890."""
_GLOBAL_V6 = ipaddress.ip_network("2000::/3")
"""All IPv6 addresses that are given to machines in public. Source: RFC 4291, IANA."""
_EMBEDS_IPV4 = (
    (ipaddress.ip_network("::/96"), 0),
    (ipaddress.ip_network("64:ff9b::/96"), 0),
    (ipaddress.ip_network("64:ff9b:1::/48"), 0),
    (ipaddress.ip_network("2002::/16"), 80),
)
"""IPv6 ranges that lead to an IPv4 address, and how far right of the end it stands. Source: RFC 6052, 3056, 4291."""


class UnsafeUrl(ToolFailure):
    """A URL is not reached, for safety."""


@dataclass(frozen=True, slots=True)
class Target:
    """A URL that was read without doubt."""

    scheme: str
    host: str
    """Lower-case ASCII; an IP address in its one plain spelling."""
    port: int
    path: str
    """With its query, percent-encoded."""

    @property
    def authority(self) -> str:
        """Host and port as a ``Host`` header has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def url(self) -> str:
        """The URL in its plain spelling."""
        return f"{self.scheme}://{self.authority}{self.path}"

    @property
    def address(self) -> Address | None:
        """The host when it is an IP address."""
        try:
            return ipaddress.ip_address(self.host)
        except ValueError:
            return None


def read_url(url: str) -> Target:
    """Read a URL.

    Raises:
        UnsafeUrl: It is no plain http or https URL, or could be read in two ways.
    """
    text = url.strip(" \n")
    if len(text) > MAX_URL_CHARS:
        raise UnsafeUrl(f"The URL is longer than {MAX_URL_CHARS} characters.")
    scheme, separator, rest = text.partition("://")
    if scheme.lower() not in _PORTS or not separator:
        raise UnsafeUrl("Only http:// and https:// URLs can be read; use read_file for files.")
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    if _CONTROLS.search(authority) or _CONTROLS.search(text.replace(" ", "")):
        raise UnsafeUrl("The URL has a blank or a control character in it.")
    if "\\" in rest:
        raise UnsafeUrl("The URL has a backslash in it.")
    if "@" in authority:
        raise UnsafeUrl("The URL has a user name in it (name@host); give it without.")
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise UnsafeUrl("The URL's host or port cannot be read.") from None
    scheme = parts.scheme.lower()
    port = _PORTS[scheme] if port is None else port
    if port in _BAD_PORTS or not port:
        raise UnsafeUrl(f"Port {port} is not a port of the web.")
    path = quote(parts.path or "/", safe="/%:@!$&'()*+,;=~-._")
    if parts.query:
        path += "?" + quote(parts.query, safe="/%:@!$&'()*+,;=~-._?[]|")
    return Target(scheme, _read_host(host, is_bracketed="[" in authority), port, path)


def _read_host(host: str, *, is_bracketed: bool) -> str:
    if is_bracketed:
        try:
            return str(ipaddress.IPv6Address(host))  # a zone (%eth0) stays in the text and meets the address check
        except ValueError:
            raise UnsafeUrl("The URL's IPv6 address cannot be read.") from None
    try:
        plain = host.encode("idna").decode("ascii").lower().removesuffix(".")
    except UnicodeError:
        raise UnsafeUrl("The URL's host has letters that no host name can have.") from None
    if not _HOST.match(plain) or len(plain) > 253:
        raise UnsafeUrl("The URL's host is not a host name.")
    if not _NUMERIC_LABEL.match(plain.rpartition(".")[2]):
        return plain
    try:
        return str(ipaddress.IPv4Address(plain))
    except ValueError:
        raise UnsafeUrl("The URL's host is a number in an odd spelling; write it as four decimal numbers.") from None


@dataclass(frozen=True, slots=True)
class HostRule:
    """One entry of ``web.allow_hosts`` or ``web.deny_hosts``."""

    host: str = ""
    """A name; it and all names below it are meant."""
    network: Network | None = None
    port: int = 0
    """0 means every port."""

    def covers(self, target: Target, address: Address | None) -> bool:
        """Tell whether it is about this target, or about the address that its host has."""
        if self.port and self.port != target.port:
            return False
        if self.network is not None:
            return address is not None and _unmapped(address) in self.network
        return target.host == self.host or target.host.endswith(f".{self.host}")


def read_rule(text: str) -> HostRule:
    """Read ``name``, ``*.name``, an IP address or a network, each with ``:port`` or without."""
    host, port = text.strip().lower(), 0
    if match := re.fullmatch(r"(\[[^\]]*\]|[^:]*):([0-9]{1,5})", host):
        host, port = match[1], int(match[2])
    host = host.strip("[]")
    try:
        return HostRule(network=ipaddress.ip_network(host, strict=False), port=port)
    except ValueError:
        name = host.removeprefix("*.").strip(".")
    try:
        return HostRule(host=name.encode("idna").decode("ascii"), port=port)
    except UnicodeError:
        return HostRule(host=name, port=port)


class HostRules:
    """What the settings allow and deny beyond the rule that only public addresses are reached.

    Args:
        allow: Hosts that may have private addresses.
        deny: Hosts that are never reached; wins over ``allow``.
    """

    def __init__(self, allow: Iterable[str] = (), deny: Iterable[str] = ()) -> None:
        self._allow = tuple(map(read_rule, allow))
        self._deny = tuple(map(read_rule, deny))

    def check_name(self, target: Target) -> None:
        """Refuse a host by its name, before anything is sent, a question to a name server included.

        Raises:
            UnsafeUrl: A rule denies it, or it is an address that is not public.
        """
        self._check(target, target.address)

    def check_addresses(self, target: Target, addresses: Sequence[str]) -> None:
        """Refuse a host by what its name resolved to; one bad address is enough.

        Raises:
            UnsafeUrl: A rule denies one, or one is not public.
        """
        for address in addresses:
            self._check(target, ipaddress.ip_address(address))

    def _check(self, target: Target, address: Address | None) -> None:
        if any(rule.covers(target, address) for rule in self._deny):
            raise UnsafeUrl(f"The person's settings deny {target.host} (web.deny_hosts).")
        if address is None or any(rule.covers(target, address) for rule in self._allow):
            return
        if what := why_not_public(address):
            place = f"{target.host} is" if target.address else f"{target.host} has the address {address},"
            raise UnsafeUrl(
                f"{place} {what}: web pages are read from public addresses only. The person can allow it with "
                f'web.allow_hosts = ["{target.authority}"].'
            )


def why_not_public(address: Address) -> str:
    """Say what keeps an address from being a public one; empty when nothing does."""
    address = _unmapped(address)
    kinds = (
        (address.is_loopback, "this machine"),
        (address == _METADATA or address.is_link_local, "a link-local or metadata address"),
        (address.is_multicast, "a multicast address"),
        (address.is_unspecified, "no address of a server"),
        (not address.is_global or address.is_private or address.is_reserved, "a private or reserved address"),
        (address.version == 4 and address in _SPECIAL, "a reserved address"),
        (address.version == 6 and address not in _GLOBAL_V6, "a reserved address"),
    )
    return next((what for is_so, what in kinds if is_so), "")


def _unmapped(address: Address) -> Address:
    """Return the IPv4 address that an IPv6 address leads to, if it leads to one."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.teredo is not None:
        return address.teredo[1]
    number = int(address)
    if number <= 1:  # :: and ::1 are addresses of their own
        return address
    for network, shift in _EMBEDS_IPV4:
        if address in network:
            return ipaddress.IPv4Address((number >> shift) & 0xFFFFFFFF)
    return address
