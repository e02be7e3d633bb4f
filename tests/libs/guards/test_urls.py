"""Fetchable URLs: public addresses over http and https, in any spelling."""

from __future__ import annotations

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from libs.guards.blocked import UrlRefused
from libs.guards.urls import check_address, check_addresses, check_redirect, check_url


@pytest.mark.requirement("A6")
@pytest.mark.parametrize(
    ("url", "host", "port"),
    [
        ("https://example.org/a?b#c", "example.org", 443),
        ("http://example.org:80/", "example.org", 80),
        ("HTTPS://Example.ORG/", "example.org", 443),
        ("https://xn--80ak6aa92e.com", "xn--80ak6aa92e.com", 443),
        ("https://8.8.8.8/", "8.8.8.8", 443),
        ("https://[2606:4700::1111]/", "2606:4700::1111", 443),
    ],
)
def test_a_public_url_is_let_through(url: str, host: str, port: int) -> None:
    target = check_url(url)
    assert (target.host, target.port) == (host, port)


@pytest.mark.requirement("A6")
@pytest.mark.parametrize(
    ("url", "rule"),
    [
        ("ftp://example.org", "url.scheme"),
        ("file:///etc/passwd", "url.scheme"),
        ("gopher://example.org", "url.scheme"),
        ("//169.254.169.254/", "url.scheme"),
        ("example.org", "url.scheme"),
        ("javascript:alert(1)", "url.scheme"),
        ("http://", "url.host"),
        ("http:///x", "url.host"),
        ("http:example.org", "url.host"),
        ("http://example.org@127.0.0.1/", "url.userinfo"),
        ("http://ada:word@example.org/", "url.userinfo"),
        ("http://@example.org/", "url.userinfo"),
        ("http://example.org\\@127.0.0.1/", "url.characters"),
        ("http://exa mple.org/", "url.characters"),
        ("http://example.org/\r\nHost: x", "url.characters"),
        ("http://ex\u00e4mple.org/", "url.characters"),
        ("http://127\u30020\u30020\u30021/", "url.characters"),
        ("http://example.org:22/", "url.port"),
        ("http://example.org:0/", "url.port"),
        ("http://example.org:99999/", "url.form"),
        ("http://[::1/", "url.form"),
        ("http://a..org/", "url.host"),
        ("http://example.org./", "url.host"),
        ("http://ex%61mple.org/", "url.host"),
        ("http://2130706433/", "url.number"),
        ("http://0x7f000001/", "url.number"),
        ("http://0x7f.0.0.1/", "url.number"),
        ("http://0177.0.0.1/", "url.number"),
        ("http://127.1/", "url.number"),
        ("http://127.0.0.1./", "url.number"),
        ("http://127.0.0.0x1/", "url.number"),
        ("http://127.0.0.1/", "url.address"),
        ("http://0.0.0.0/", "url.address"),
        ("http://[::]/", "url.address"),
        ("http://[::1]/", "url.address"),
        ("http://[::ffff:127.0.0.1]/", "url.address"),
        ("http://[fe80::1%25eth0]/", "url.address"),
        ("http://localhost/", "url.local"),
        ("http://localhost./", "url.local"),
        ("http://a.localhost/", "url.local"),
        ("http://router/", "url.local"),
        ("http://printer.local/", "url.local"),
        ("http://metadata.google.internal/", "url.local"),
        ("http://example.org/" + "a" * 9000, "url.length"),
    ],
)
def test_deceptive_or_internal_url_is_refused_by_its_rule(url: str, rule: str) -> None:
    with pytest.raises(UrlRefused) as refused:
        check_url(url)
    assert refused.value.rule == rule


@pytest.mark.requirement("A6")
@pytest.mark.parametrize(
    "address",
    """0.0.0.0 0.1.2.3 10.0.0.1 100.64.0.1 100.127.255.255 127.0.0.1 127.255.255.255 169.254.169.254 172.16.0.1
    172.31.255.255 192.0.0.1 192.0.2.1 192.88.99.1 192.168.1.1 198.18.0.1 198.19.255.255 198.51.100.1 203.0.113.1
    224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 :: ::1 ::7f00:1 ::ffff:127.0.0.1 ::ffff:8.8.8.8
    ::ffff:0:8.8.8.8 64:ff9b::7f00:1 64:ff9b::808:808 64:ff9b:1::1 100::1 2001::1 2001:db8::1 2002:7f00:1::
    2002:808:808:: 3fff::1 5f00::1 fc00::1 fd00:ec2::254 fe80::1 fec0::1 ff02::1 fe80::1%eth0 2606:4700::1%eth0
    2130706433 0x7f.1 localhost""".split(),  # noqa: SIM905
)
def test_an_address_that_is_not_public_is_refused(address: str) -> None:
    with pytest.raises(UrlRefused):
        check_address(address)


@pytest.mark.requirement("A6")
@pytest.mark.parametrize(
    "address",
    ["1.1.1.1", "8.8.8.8", "100.63.0.1", "100.128.0.1", "172.32.0.1", "198.17.0.1", "198.20.0.1", "2606:4700::1111"],
)
def test_a_public_address_is_let_through(address: str) -> None:
    assert str(check_address(address)) == address


@pytest.mark.requirement("A6")
@given(number=st.integers(0, 2**32 - 1))
def test_ipv4_address_embedded_in_ipv6_is_refused(number: int) -> None:
    inner = ipaddress.IPv4Address(number)
    for prefix in ("::", "::ffff:0:0", "64:ff9b::", "64:ff9b:1::", "::ffff:0:0:0"):
        with pytest.raises(UrlRefused):
            check_address(ipaddress.IPv6Address(int(ipaddress.IPv6Address(prefix)) | int(inner)))
    with pytest.raises(UrlRefused):
        check_address(ipaddress.IPv6Address(0x2002 << 112 | int(inner) << 80))


@pytest.mark.requirement("A6")
@given(number=st.integers(0, 2**32 - 1))
def test_allowed_address_is_global_by_the_registry(number: int) -> None:
    address = ipaddress.IPv4Address(number)
    try:
        check_address(address)
    except UrlRefused:
        return
    assert address.is_global
    assert not address.is_multicast


@pytest.mark.requirement("A6")
@given(number=st.integers(0, 2**32 - 1))
def test_an_ipv4_host_is_taken_in_its_plain_spelling_alone(number: int) -> None:
    address = ipaddress.IPv4Address(number)
    first, *rest = str(address).split(".")
    spellings = [str(number), hex(number), f"0{first}.{'.'.join(rest)}", f"{first}.{number & 0xFFFFFF}"]
    for host in (*spellings, f"0x{int(first):x}.{'.'.join(rest)}"):
        with pytest.raises(UrlRefused):
            check_url(f"http://{host}/")


@pytest.mark.requirement("A6")
def test_a_name_with_one_private_address_is_refused_whole() -> None:
    with pytest.raises(UrlRefused):
        check_addresses(["8.8.8.8", "127.0.0.1"])
    with pytest.raises(UrlRefused):
        check_addresses([])


ALLOWED = ("wiki.lan", "127.0.0.1:8080", "[::1]:8080")


@pytest.mark.requirement("A6")
@pytest.mark.parametrize(
    "url", ["http://wiki.lan/", "https://WIKI.lan:443/", "http://127.0.0.1:8080", "http://[::1]:8080"]
)
def test_allowed_host_may_be_private(url: str) -> None:
    assert check_url(url, allowed=ALLOWED).private


@pytest.mark.requirement("A6")
@pytest.mark.parametrize(
    "url",
    """http://wiki.lan:8080/ http://a.wiki.lan/ http://wiki.lan./ http://127.0.0.1/ http://0x7f.1:8080/
    http://127.1:8080/ http://127.0.0.1:08080/ http://wiki.lan@127.0.0.1/ http://[::ffff:127.0.0.1]:8080/""".split(),  # noqa: SIM905
)
def test_allowed_host_is_meant_literally(url: str) -> None:
    with pytest.raises(UrlRefused):
        check_url(url, allowed=ALLOWED)


@pytest.mark.requirement("A6")
@pytest.mark.parametrize(
    "location",
    ["//169.254.169.254/", "http://127.0.0.1/", "https://[::1]/", "ftp://example.org/", "http://example.org/", "/\\x"],
)
def test_a_redirect_is_judged_like_any_url(location: str) -> None:
    with pytest.raises(UrlRefused):
        check_redirect(check_url("https://example.org/a"), location)


@pytest.mark.requirement("A6")
def test_a_redirect_may_be_relative() -> None:
    assert check_redirect(check_url("https://example.org/a/b"), "../c").url == "https://example.org/c"


@pytest.mark.requirement("A6")
def test_only_an_allowed_host_redirects_to_one() -> None:
    inside = check_url("http://127.0.0.1:8080/", allowed=ALLOWED)
    assert check_redirect(inside, "http://wiki.lan/", allowed=ALLOWED).private
    with pytest.raises(UrlRefused):
        check_redirect(check_url("http://example.org/"), "http://wiki.lan/", allowed=ALLOWED)
