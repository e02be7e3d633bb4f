"""Check which addresses may be reached (S2-21). The caller resolves names, once; these functions only judge.

The caller checks the URL, resolves its host once, checks every address, connects to a checked one, and does the same
again for each redirect. `libs.clients.outside` resolves and connects.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

from libs.guards.blocked import UrlRefused

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

PORTS = {"http": 80, "https": 443}
LONGEST = 8192

LOCAL_NAMES = ("localhost", "local", "internal", "lan", "home.arpa", "localdomain")
"""Names and name suffixes that mean this machine or this network."""

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
"""IPv4 of the IANA special-purpose registry, multicast and reserved ranges."""

REACHABLE = ipaddress.ip_network("2000::/3")
"""Global unicast IPv6; everything else (mapped, NAT64, local, multicast) is refused."""

REFUSED_6 = tuple(
    ipaddress.ip_network(network)
    for network in ("2001::/23", "2001:db8::/32", "2002::/16", "2620:4f:8000::/48", "3fff::/20")
)
"""Within that range: protocol assignments with Teredo and ORCHID, documentation, 6to4, AS112."""

METADATA = ipaddress.ip_address("fd00:ec2::254")
"""The metadata service of Amazon over IPv6; the others are link-local."""


@dataclass(frozen=True)
class Target:
    """The destination of a URL. `private`: the settings allow this host by name, whatever its addresses."""

    url: str
    scheme: str
    host: str
    port: int
    private: bool = False


def check_url(url: str, *, ports: Sequence[int] = (80, 443), allowed: Collection[str] = ()) -> Target:
    """Return the target of an absolute http or https URL. `allowed` names hosts of this machine or network, each as
    `host` or `host:port`. Raises UrlRefused.
    """
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
    if parts.netloc.lower() in allowed:
        return Target(url, parts.scheme, host, port, private=True)
    if port not in ports:
        raise UrlRefused("url.port", f"Port {port} is not open to fetches.")
    private = host in allowed
    if not private:
        _check_host(host)
    return Target(url, parts.scheme, host, port, private)


def check_redirect(
    base: Target, location: str, *, ports: Sequence[int] = (80, 443), allowed: Collection[str] = ()
) -> Target:
    """Return the target of a redirect seen at `base`, checked like a URL that was asked for. Raises UrlRefused."""
    _legible(location)
    try:
        url = urljoin(base.url, location)
    except ValueError as broken:
        raise UrlRefused("url.form", f"This is not a URL: {broken}.") from broken
    # A public page must not choose what is fetched within this network.
    target = check_url(url, ports=ports, allowed=allowed if base.private else ())
    if base.scheme == "https" and target.scheme != "https":
        raise UrlRefused("url.downgrade", "A redirect may not leave https.")
    return target


def check_address(ip: str | Address) -> Address:
    """Return the address when it is public. Raises UrlRefused for every other range."""
    try:
        address = ipaddress.ip_address(ip)
    except ValueError as broken:
        raise UrlRefused("url.address", f"{ip!r} is not an address.") from broken
    if isinstance(address, ipaddress.IPv4Address):
        public = not any(address in network for network in REFUSED)
    else:
        public = address in REACHABLE and not any(address in network for network in REFUSED_6)
    # A scope names an interface of this machine.
    if not public or getattr(address, "scope_id", None):
        raise UrlRefused("url.address", f"{address} is not a public address.")
    return address


def check_addresses(addresses: Sequence[str]) -> tuple[Address, ...]:
    """Check all addresses of a name. One that is not public refuses the name, as any of them might be dialled."""
    if not addresses:
        raise UrlRefused("url.unresolved", "The name has no address.")
    return tuple(check_address(address) for address in addresses)


def gives_credentials(ip: str) -> bool:
    """Return whether this address may be a cloud's metadata service, which gives credentials to every process."""
    address = ipaddress.ip_address(ip)
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_link_local or address == METADATA


def _legible(url: str) -> None:
    # Libraries normalise other characters differently: the host that is checked might not be the host that is dialled.
    if not url.isascii() or not url.isprintable() or " " in url:
        raise UrlRefused("url.characters", "A URL is plain ASCII without spaces; escape the rest.")
    if "\\" in url:
        raise UrlRefused("url.characters", "A backslash in a URL is read as a slash by some.")
    if len(url) > LONGEST:
        raise UrlRefused("url.length", f"The URL is longer than {LONGEST} characters.")


def _check_host(host: str) -> None:
    """Check a name, or the address in its place. Every unusual spelling of an address is refused."""
    if ":" in host:
        check_address(host)
        return
    if "%" in host or not re.fullmatch(r"[a-z0-9_.-]+", host):
        raise UrlRefused("url.host", f"{host!r} is not a host's name.")
    # The root's dot hides nothing: `localhost.` is `localhost`.
    labels = host.removesuffix(".").split(".")
    if not all(labels):
        raise UrlRefused("url.host", f"{host!r} is not a host's name.")
    if re.fullmatch(r"\d+|0x[0-9a-f]*", labels[-1]):
        _check_dotted(host)
        return
    name = ".".join(labels)
    if "." not in name or any(name == end or name.endswith("." + end) for end in LOCAL_NAMES):
        raise UrlRefused("url.local", f"{host!r} is a name of this network.")
    # Certificates and lists of blocked hosts have names without it.
    if host.endswith("."):
        raise UrlRefused("url.host", f"{host!r} ends with a dot; write it without.")


def _check_dotted(host: str) -> None:
    """Parse a host whose last label is numeric, an IPv4 address (WHATWG URL, 3.5); accept only the plain form."""
    if not re.fullmatch(r"(?:(?:0|[1-9]\d{0,2})\.){3}(?:0|[1-9]\d{0,2})", host):
        raise UrlRefused("url.number", f"{host!r} spells an address in a way that hides it.")
    check_address(host)
