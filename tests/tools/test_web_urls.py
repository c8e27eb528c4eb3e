"""Which URLs and addresses the web tools may reach."""

from __future__ import annotations

import ipaddress

import pytest

from hermes_tui.tools.web_urls import HostRules, UnsafeUrl, read_url, why_not_public

REFUSED = {
    "file": ("file:///etc/passwd", "http:// and https://"),
    "ftp": ("ftp://example.com/", "http:// and https://"),
    "no scheme": ("example.com/x", "http:// and https://"),
    "javascript": ("javascript:alert(1)", "http:// and https://"),
    "gopher": ("gopher://127.0.0.1:11211/_stats", "http:// and https://"),
    "one slash": ("http:/example.com", "http:// and https://"),
    "user": ("http://user@example.com/", "user name"),
    "user and password": ("http://example.com:80@127.0.0.1/", "user name"),
    "user that looks like the host": ("https://example.com@evil.test/", "user name"),
    "backslash": ("http://example.com\\@evil.test/", "backslash"),
    "backslash for slash": ("http://127.0.0.1\\.example.com/", "backslash"),
    "NUL in the host": ("http://example.com\x00.evil.test/", "control character"),
    "tab in the host": ("http://127.0\t.0.1/", "control character"),
    "newline in the host": ("http://127.0.0.1\n.example.com/", "control character"),
    "tab in the scheme": ("ht\ttp://example.com/", "http:// and https://"),
    "CR LF in the path": ("http://example.com/\r\nHost: x", "control character"),
    "blank in the host": ("http://exa mple.com/", "control character"),
    "lone surrogate": ("http://example.com/\ud800", "control character"),
    "no host": ("http:///x", "not a host name"),
    "only a port": ("http://:80/", "not a host name"),
    "percent in the host": ("http://%31%32%37.0.0.1/", "not a host name"),
    "port of mail": ("http://example.com:25/", "not a port of the web"),
    "port 0": ("http://example.com:0/", "not a port of the web"),
    "port too large": ("http://example.com:99999/", "cannot be read"),
    "port in words": ("http://example.com:http/", "cannot be read"),
    "hexadecimal": ("http://0x7f.1/", "odd spelling"),
    "one number": ("http://2130706433/", "odd spelling"),
    "one hexadecimal number": ("http://0x7f000001/", "odd spelling"),
    "octal": ("http://0177.0.0.1/", "odd spelling"),
    "short": ("http://127.1/", "odd spelling"),
    "leading zeros": ("http://127.000.000.001/", "odd spelling"),
    "number at the end of a name": ("http://example.com.0x1/", "odd spelling"),
    "IPv6 that is none": ("http://[::g]/", "cannot be read"),
    "IPv6 without brackets": ("http://::1/", "cannot be read"),
    "too long": ("http://example.com/" + "x" * 9_000, "longer than"),
    "label of hyphens": ("http://-x.example.com/", "not a host name"),
    "two dots": ("http://example..com/", "letters that no host name"),
}


@pytest.mark.parametrize(("url", "words"), REFUSED.values(), ids=REFUSED)
def test_a_url_that_could_be_read_in_two_ways_is_refused(url: str, words: str) -> None:
    with pytest.raises(UnsafeUrl) as refused:
        read_url(url)
    assert words in refused.value.message


READ = {
    "plain": ("http://example.com", "http://example.com/"),
    "upper case": ("HTTPS://Example.COM/Path", "https://example.com/Path"),
    "default port": ("http://example.com:80/", "http://example.com/"),
    "other port": ("https://example.com:8443/a?b=c&d=e", "https://example.com:8443/a?b=c&d=e"),
    "dot at the end": ("http://example.com./x", "http://example.com/x"),
    "fragment": ("http://example.com/x#part", "http://example.com/x"),
    "international name": ("http://bücher.example/ä", "http://xn--bcher-kva.example/%C3%A4"),
    "wide digits": ("http://１２７.０.０.１/", "http://127.0.0.1/"),
    "ideographic dots": ("http://127。0。0。1/", "http://127.0.0.1/"),
    "blank in the path": ("http://example.com/a b?c d", "http://example.com/a%20b?c%20d"),
    "encoded stays": ("http://example.com/a%2Fb?q=%20", "http://example.com/a%2Fb?q=%20"),
    "IPv6": ("http://[2606:4700::0:1]:8080/", "http://[2606:4700::1]:8080/"),
    "blanks around": ("  http://example.com/ \n", "http://example.com/"),
}


@pytest.mark.parametrize(("url", "plain"), READ.values(), ids=READ)
def test_other_urls_get_one_plain_spelling(url: str, plain: str) -> None:
    assert read_url(url).url == plain
    assert read_url(plain).url == plain


NOT_PUBLIC = (
    *("127.0.0.1", "127.255.255.254", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254"),
    *("100.64.0.1", "100.100.100.200", "168.63.129.16", "192.0.0.192", "192.0.2.1", "198.18.0.1", "224.0.0.1"),
    *("240.0.0.1", "255.255.255.255", "::", "::1", "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1", "2001:db8::1"),
    *("::ffff:127.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe"),
    *("2002:7f00:1::", "2002:a9fe:a9fe::1", "2001:0:0:0:0:0:80ff:fffe", "fec0::1", "100::1"),
)


@pytest.mark.parametrize("address", NOT_PUBLIC)
def test_addresses_that_are_not_public_are_refused_however_they_are_wrapped(address: str) -> None:
    assert why_not_public(ipaddress.ip_address(address))
    host = f"[{address}]" if ":" in address else address
    with pytest.raises(UnsafeUrl, match="public addresses only"):
        HostRules().check_name(read_url(f"http://{host}/"))


@pytest.mark.parametrize(
    "address", ["1.1.1.1", "93.184.215.14", "2606:4700:4700::1111", "::ffff:1.1.1.1", "64:ff9b::1.1.1.1"]
)
def test_public_addresses_are_not(address: str) -> None:
    assert not why_not_public(ipaddress.ip_address(address))


def test_a_name_that_resolves_to_one_private_address_is_refused_whatever_the_others_are() -> None:
    target = read_url("http://rebind.example/")
    with pytest.raises(UnsafeUrl, match=r"has the address 10\.0\.0\.7, a private"):
        HostRules().check_addresses(target, ["1.1.1.1", "10.0.0.7"])


DENY = {
    "itself": ("evil.test", "http://evil.test/", True),
    "below it": ("evil.test", "http://a.b.evil.test/", True),
    "with a star": ("*.evil.test", "http://a.evil.test/", True),
    "other case and a dot": ("Evil.Test.", "http://EVIL.test./", True),
    "international": ("bücher.example", "http://xn--bcher-kva.example/", True),
    "a longer word is not meant": ("evil.test", "http://notevil.test/", False),
    "a prefix is not meant": ("evil.test", "http://evil.test.example.com/", False),
    "port": ("evil.test:8080", "http://evil.test:8080/", True),
    "another port": ("evil.test:8080", "http://evil.test/", False),
    "address": ("1.1.1.1", "http://1.1.1.1/", True),
    "network": ("1.1.1.0/24", "http://1.1.1.9/", True),
    "network, wrapped": ("1.1.1.0/24", "http://[::ffff:1.1.1.9]/", True),
    "another network": ("1.1.1.0/24", "http://1.1.2.9/", False),
}


@pytest.mark.parametrize(("rule", "url", "is_denied"), DENY.values(), ids=DENY)
def test_deny_rules_mean_a_host_and_what_is_below_it(rule: str, url: str, is_denied: bool) -> None:
    rules = HostRules(deny=[rule])
    if is_denied:
        with pytest.raises(UnsafeUrl, match=r"web\.deny_hosts"):
            rules.check_name(read_url(url))
    else:
        rules.check_name(read_url(url))


def test_a_denied_address_is_met_behind_any_name() -> None:
    with pytest.raises(UnsafeUrl, match=r"web\.deny_hosts"):
        HostRules(deny=["1.1.1.1"]).check_addresses(read_url("http://harmless.example/"), ["1.1.1.1"])


def test_allow_rules_open_private_addresses_for_what_they_name_only() -> None:
    rules = HostRules(allow=["intranet.example", "127.0.0.1:8080", "10.1.0.0/16"])
    rules.check_addresses(read_url("http://wiki.intranet.example/"), ["10.0.0.1"])
    rules.check_name(read_url("http://127.0.0.1:8080/"))
    rules.check_addresses(read_url("http://anything.example/"), ["10.1.2.3"])
    for url, addresses in (
        ("http://127.0.0.1:8081/", []),
        ("http://intranet.example.evil.test/", ["10.0.0.1"]),
        ("http://evilintranet.example/", ["10.0.0.1"]),
        ("http://anything.example/", ["10.2.0.1"]),
    ):
        with pytest.raises(UnsafeUrl, match="public addresses only"):
            rules.check_name(read_url(url))
            rules.check_addresses(read_url(url), addresses)


def test_deny_wins_over_allow() -> None:
    with pytest.raises(UnsafeUrl, match=r"web\.deny_hosts"):
        HostRules(allow=["127.0.0.1"], deny=["127.0.0.1"]).check_name(read_url("http://127.0.0.1/"))
