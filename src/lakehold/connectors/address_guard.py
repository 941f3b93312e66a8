"""Guards against requests to private networks (SSRF) and to hosts that the tenant's network policy does not allow.

It also reads TLS errors and `Retry-After` headers.

A name is resolved once, and the connection goes to the address that was checked: a name that resolves to something else
a moment later gains nothing by it.
"""

import ipaddress
import socket
import ssl
from contextlib import suppress
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx

from lakehold.kit.errors import InvalidInputError, UnavailableError
from lakehold.kit.network_policy import ANY_HOST, HostList

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address
# IPv4 addresses inside IPv6 ones, as gateways translate them; the second network is for gateways of one's own.
_TRANSLATED = (ipaddress.IPv6Network("64:ff9b::/96"), ipaddress.IPv6Network("64:ff9b:1::/48"))
_HALF = 0xFFFFFFFF


class GuardedTransport(httpx.BaseTransport):
    """HTTP transport that connects to allowed hosts and addresses only, also where a redirect or a link leads.

    It follows no redirects itself, and uses no proxy.
    """

    def __init__(self, *, private: bool, hosts: HostList = ANY_HOST) -> None:
        self._private, self._hosts = private, hosts
        self._inner = httpx.HTTPTransport(verify=ssl.create_default_context(), trust_env=False, retries=0)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request to the checked address; the certificate still has to match the host name."""
        host = request.url.raw_host.decode("ascii")
        port = request.url.port or (443 if request.url.scheme == "https" else 80)
        self._hosts.need(host, port)
        address = resolve_host(host, port, private=self._private)
        extensions = {**request.extensions, "sni_hostname": host.strip("[]")}
        there = httpx.Request(
            request.method,
            request.url.copy_with(host=address),
            headers=request.headers,
            stream=request.stream,
            extensions=extensions,
        )
        return self._inner.handle_request(there)

    def close(self) -> None:
        """Close all connections."""
        self._inner.close()


def resolve_host(host: str, port: int, *, private: bool) -> str:
    """Return the address of a host, or refuse. All addresses that it resolves to must be allowed."""
    try:
        found = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        words = "The host in the address does not exist."
        raise UnavailableError(words, "Check the address, then run it again.", field="address") from None
    addresses = [str(where[0]) for *_, where in found]
    for address in addresses:
        if not is_allowed(address, private=private):
            hint = "Use one on the internet, or ask an admin to allow private addresses."
            raise InvalidInputError("Connections to this address are not allowed.", hint, field="address")
    return addresses[0]


def describe_tls_error(error: BaseException) -> str:
    """Return what is wrong with the TLS of the other side; empty if the error is another one."""
    here: BaseException | None = error
    while here is not None:
        if isinstance(here, ssl.SSLCertVerificationError):
            return "has a certificate that is not trusted"
        if isinstance(here, ssl.SSLError):
            return "has an invalid TLS configuration"
        here = here.__cause__ or here.__context__
    return ""


def parse_retry_after(text: str | None) -> float | None:
    """Return how many seconds a `Retry-After` header asks for, by a number or a date; None if it asks for nothing."""
    if not text:
        return None
    with suppress(ValueError):
        return max(0.0, float(text))
    try:
        at = parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(0.0, (at.replace(tzinfo=at.tzinfo or UTC) - datetime.now(UTC)).total_seconds())


def is_allowed(text: str, *, private: bool) -> bool:
    """Return whether requests may go to an address. Link-local, multicast and unspecified ones are never allowed."""
    try:
        address = _embedded_ipv4(ipaddress.ip_address(text.partition("%")[0]))
    except ValueError:
        return False
    if address.is_link_local or address.is_multicast or address.is_unspecified:
        return False
    if isinstance(address, ipaddress.IPv6Address) and address.is_site_local:
        # Private networks of before fc00::/7, which Python takes for reserved.
        return private
    if address.is_global and not address.is_reserved:
        return True
    # Those of the host itself and of networks of its owner's.
    return private and (address.is_loopback or not address.is_reserved)


def _embedded_ipv4(address: _Address) -> _Address:
    """Return the IPv4 address that an IPv6 address stands for."""
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if any(address in network for network in _TRANSLATED):
        return ipaddress.IPv4Address(int(address) & _HALF)
    return address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None) or address
