"""URLs: which addresses may be reached (S2-21). Names are resolved by the caller, once; here is only judgement.

The caller checks the URL, resolves its host once, checks every address, connects to one that was checked, and does
the same again for each redirect.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

from libs.guards.blocked import UrlRefused

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

PORTS = {"http": 80, "https": 443}
LONGEST = 8192

LOCAL_NAMES = ("localhost", "local", "internal", "lan", "home.arpa", "localdomain")
"""Names, and the ends of names, that mean this machine or this network."""

REFUSED = tuple(
    ipaddress.ip_network(network)
    for network in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.31.196.0/24",
        "192.52.193.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "192.175.48.0/24",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
    )
)
"""IPv4 of the IANA special-purpose registry, multicast and the reserved rest."""

REACHABLE = ipaddress.ip_network("2000::/3")
"""All of IPv6 that is unicast and global; what else there is (mapped, NAT64, local, multicast) is refused whole."""

REFUSED_6 = tuple(
    ipaddress.ip_network(network)
    for network in ("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20")
)
"""In that range: protocol assignments with Teredo and ORCHID, documentation, 6to4, AS112."""


@dataclass(frozen=True)
class Target:
    """Where a URL leads. `address` is set where its host is already one, so that nothing is left to resolve."""

    url: str
    scheme: str
    host: str
    port: int
    address: Address | None


def check_url(url: str, *, ports: Sequence[int] = (80, 443)) -> Target:
    """The target of an absolute http or https URL. Raises UrlRefused."""
    _legible(url)
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as broken:
        raise UrlRefused("url.form", f"This is not a URL: {broken}.") from broken
    if parts.scheme not in PORTS:
        raise UrlRefused("url.scheme", "Only http and https are fetched.")
    if not host or not parts.netloc:
        raise UrlRefused("url.host", "The URL names no host.")
    if "@" in parts.netloc:
        raise UrlRefused("url.userinfo", "A URL with a user name hides where it leads.")
    port = PORTS[parts.scheme] if port is None else port
    if port not in ports:
        raise UrlRefused("url.port", f"Port {port} is not open to fetches.")
    return Target(url, parts.scheme, host, port, _host(host))


def check_redirect(base: str, location: str, *, ports: Sequence[int] = (80, 443)) -> Target:
    """The target of a redirect seen at `base`, judged as if it had been asked for. Raises UrlRefused."""
    _legible(location)
    try:
        url = urljoin(base, location)
    except ValueError as broken:
        raise UrlRefused("url.form", f"This is not a URL: {broken}.") from broken
    target = check_url(url, ports=ports)
    if urlsplit(base).scheme == "https" and target.scheme != "https":
        raise UrlRefused("url.downgrade", "A redirect may not leave https.")
    return target


def check_address(ip: str | Address) -> Address:
    """The address, when it is public. Raises UrlRefused for every range that is not."""
    try:
        address = ipaddress.ip_address(ip)
    except ValueError as broken:
        raise UrlRefused("url.address", f"{ip!r} is not an address.") from broken
    if isinstance(address, ipaddress.IPv4Address):
        public = not any(address in network for network in REFUSED)
    else:
        public = address in REACHABLE and not any(address in network for network in REFUSED_6)
    if not public or getattr(address, "scope_id", None):
        raise UrlRefused("url.address", f"{address} is not a public address.")
    return address


def check_addresses(addresses: Sequence[str]) -> tuple[Address, ...]:
    """All that a name resolved to. One that is not public refuses the name: who knows which one would be dialled."""
    if not addresses:
        raise UrlRefused("url.unresolved", "The name has no address.")
    return tuple(check_address(address) for address in addresses)


def resolve_once(target: Target, lookup: Callable[[str], Sequence[str]]) -> tuple[Address, ...]:
    """The checked addresses to connect to. `lookup` is called at most once, so a second answer cannot differ."""
    return check_addresses([str(target.address)] if target.address else lookup(target.host))


def _legible(url: str) -> None:
    if not url.isascii() or not url.isprintable() or " " in url:
        raise UrlRefused("url.characters", "A URL is plain ASCII without spaces; escape the rest.")
    if "\\" in url:
        raise UrlRefused("url.characters", "A backslash in a URL is read as a slash by some.")
    if len(url) > LONGEST:
        raise UrlRefused("url.length", f"The URL is longer than {LONGEST} characters.")


def _host(host: str) -> Address | None:
    """The host as an address, or None for a name. Every spelling of a number that a resolver might take is refused."""
    if ":" in host:
        return check_address(host)
    if "%" in host or not re.fullmatch(r"[a-z0-9_.-]+", host):
        raise UrlRefused("url.host", f"{host!r} is not a host's name.")
    labels = host.removesuffix(".").split(".")
    if not all(labels):
        raise UrlRefused("url.host", f"{host!r} is not a host's name.")
    if re.fullmatch(r"\d+|0x[0-9a-f]*", labels[-1]):
        return _dotted(host)
    name = ".".join(labels)
    if "." not in name or any(name == end or name.endswith("." + end) for end in LOCAL_NAMES):
        raise UrlRefused("url.local", f"{host!r} is a name of this network.")
    return None


def _dotted(host: str) -> Address:
    """A number as the last label makes the host an IPv4 address (WHATWG URL, 3.5): only the plain spelling is taken."""
    if not re.fullmatch(r"(?:(?:0|[1-9]\d{0,2})\.){3}(?:0|[1-9]\d{0,2})", host):
        raise UrlRefused("url.number", f"{host!r} spells an address in a way that hides it.")
    return check_address(host)
