"""The network policy of a tenant: which hosts and mail domains may be reached, decided by what is written.

A host counts as the client spells it that connects to it: lower case, in ASCII, without the dot at its end. What has no
such form, an address in an odd notation for instance, is in no list. Whether a name leads into a private network is
another question, which `connectors.address_guard` answers when the name is resolved.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from enum import StrEnum
from functools import lru_cache

from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote
from lakehold.kit.settings_schema import InvalidSettingError, SettingsRecord, SettingsSchema

MAX_ENTRIES = 1_000
_MAX_LENGTH = 260
_MAX_NAME = 253
_MAX_PORT = 65_535
_PORTS = {"http": 80, "https": 443}
_LABEL = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NUMBER = re.compile(r"\d+|0x[0-9a-f]*")
"""The last part of a name that programs read as an address, whatever stands before it."""
_ENTRY = re.compile(r"(?P<host>\[[^\[\]]+\](?:/\d{1,3})?|[^:\[\]]+)(?::(?P<port>\d{1,5}))?")

_Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class PolicyList(StrEnum):
    """A list of a policy, by its name in settings."""

    DESTINATIONS = "destination_hosts"
    MAIL = "mail_domains"
    SOURCES = "source_hosts"


_MESSAGES = {
    PolicyList.DESTINATIONS: "does not allow data to be sent to this host",
    PolicyList.MAIL: "does not allow mails to this address",
    PolicyList.SOURCES: "does not allow data to be read from this host",
}


class NetworkPolicyError(InvalidSettingError):
    """A host or mail domain that the tenant's network policy does not allow. It is not named: a run tells more people
    of its error than may know where it sends.
    """

    code = "refused_by_network_policy"


@dataclass(frozen=True, slots=True)
class NetworkTarget:
    """A host or mail domain that settings lead to."""

    list: PolicyList
    host: str
    """As it is written; empty if it cannot be told, which no list allows."""
    port: int = 0
    """0 if it is not known, or there is none."""
    field: str = ""


@dataclass(frozen=True, slots=True)
class HostRule:
    """An entry of a list: a name, all names that end with it, or addresses; and perhaps only one of their ports."""

    name: str = ""
    is_suffix: bool = False
    network: _Network | None = None
    port: int = 0

    def __str__(self) -> str:
        if self.network is None:
            host = f"*.{self.name}" if self.is_suffix else self.name
        else:
            single = self.network.num_addresses == 1
            host = str(self.network.network_address if single else self.network)
            host = f"[{host}]" if self.port and self.network.version == 6 else host  # noqa: PLR2004 - of IP
        return f"{host}:{self.port}" if self.port else host

    def matches(self, host: str, port: int) -> bool:
        """Return whether it allows a host, as `normalize_host` returns it."""
        if self.port not in {0, port}:
            return False
        if self.network is not None:
            address = _parse_ip(host)
            return address is not None and address in self.network
        return host.endswith(f".{self.name}") if self.is_suffix else host == self.name


@dataclass(frozen=True, slots=True)
class HostList:
    """One list of a policy. None allows everything, an empty one nothing."""

    list: PolicyList = PolicyList.DESTINATIONS
    entries: tuple[str, ...] | None = None

    def allows(self, host: str, port: int = 0) -> bool:
        """Return whether a host or mail domain may be reached."""
        if self.entries is None:
            return True
        found = normalize_host(host)
        return bool(found) and any(parse_rule(entry, self.list).matches(found, port) for entry in self.entries)

    def need(self, host: str, port: int = 0, *, field: str = "address") -> None:
        """Refuse a host or mail domain that may not be reached."""
        if not self.allows(host, port):
            raise self.error(field)

    def error(self, field: str) -> NetworkPolicyError:
        """Return the error for what may not be reached."""
        message = f"The network policy of the tenant {_MESSAGES[self.list]}."
        hint = "Use another one, or ask an Owner or Admin of the tenant to change the policy."
        return NetworkPolicyError(message, hint, field=field)


ANY_HOST = HostList()


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkPolicy(SettingsRecord):
    """Which hosts and mail domains the tenant's connections may reach. A list that is not set allows all."""

    destination_hosts: tuple[str, ...] | None = None
    """Hosts that data may be sent to: `example.org`, `*.example.org`, `10.2.0.0/16`, with `:port` for one port only."""
    mail_domains: tuple[str, ...] | None = None
    """Mail domains that data may be sent to: `example.org`, `*.example.org`."""
    source_hosts: tuple[str, ...] | None = None
    """Hosts that data may be read from."""

    def __post_init__(self) -> None:
        for each in PolicyList:
            if (entries := getattr(self, each)) is not None:
                object.__setattr__(self, each, _normalize_entries(entries, each))

    @property
    def is_open(self) -> bool:
        """Whether everything may be reached."""
        return all(getattr(self, each) is None for each in PolicyList)

    def hosts(self, which: PolicyList) -> HostList:
        """Return one of its lists."""
        return HostList(which, getattr(self, which))

    def need(self, targets: Iterable[NetworkTarget]) -> None:
        """Refuse targets of which one may not be reached."""
        for problem in self.problems(targets):
            raise problem

    def problems(self, targets: Iterable[NetworkTarget]) -> Iterator[NetworkPolicyError]:
        """Return an error for each target that may not be reached."""
        return (self.hosts(each.list).error(each.field) for each in self.refused(targets))

    def refused(self, targets: Iterable[NetworkTarget]) -> Iterator[NetworkTarget]:
        """Return the targets that may not be reached."""
        return (each for each in targets if not self.hosts(each.list).allows(each.host, each.port))

    def to_json(self) -> dict[str, object]:
        """Return the lists that are set, as they are stored."""
        found = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: list(entries) for name, entries in found.items() if entries is not None}


ALLOW_ALL = NetworkPolicy()
SCHEMA = SettingsSchema[NetworkPolicy]("network policy", NetworkPolicy)


def normalize_host(text: str) -> str:
    """Return a host in the form in which hosts are compared; empty for one that has none."""
    if (address := _parse_ip(text.removeprefix("[").removesuffix("]"))) is not None:
        return str(address)
    name = (text if text.isascii() else _to_ascii(text)).lower().removesuffix(".")
    labels = name.split(".")
    if len(name) > _MAX_NAME or _NUMBER.fullmatch(labels[-1]) or not all(map(_LABEL.fullmatch, labels)):
        return ""
    return name


def _to_ascii(text: str) -> str:
    """Return an international name as it is resolved: by the rules of the client that connects."""
    import httpx  # noqa: PLC0415 - slow to import, and hardly ever needed

    try:
        return httpx.URL(scheme="https", host=text).raw_host.decode("ascii")
    except (httpx.InvalidURL, UnicodeError):
        return ""


def _parse_ip(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """Return an address that is written in full; an IPv4 address inside an IPv6 one is what it connects to."""
    try:
        found = ipaddress.ip_address(text) if "%" not in text else None
    except ValueError:
        return None
    return found.ipv4_mapped or found if isinstance(found, ipaddress.IPv6Address) else found


def target_of_url(which: PolicyList, url: str, field: str) -> NetworkTarget:
    """Return the target of a URL, read as the client reads it that requests it."""
    import httpx  # noqa: PLC0415 - slow to import, and not needed to read settings

    try:
        parts = httpx.URL(url)
        host = "" if parts.userinfo else parts.raw_host.decode("ascii")
    except (httpx.InvalidURL, UnicodeError, TypeError):
        return NetworkTarget(which, "", field=field)
    return NetworkTarget(which, host, parts.port or _PORTS.get(parts.scheme, 0), field)


@lru_cache(maxsize=10 * MAX_ENTRIES)
def parse_rule(text: str, which: PolicyList) -> HostRule:
    """Return the rule of an entry, or refuse one that has no meaning."""
    # An IPv6 address without brackets has no port.
    is_plain = text.count(":") > 1 and not {"[", "]"} & set(text)
    found = _ENTRY.fullmatch(text) if len(text) <= _MAX_LENGTH and not is_plain else None
    host, port = (found["host"], found["port"]) if found else (text if is_plain else "", None)
    if which is PolicyList.MAIL:
        rule = HostRule() if port else _name_rule(host.removeprefix("@"))
    else:
        rule = _network_rule(host) if "/" in host or ":" in host or _parse_ip(host) else _name_rule(host)
    if rule == HostRule() or (port is not None and not 0 < int(port) <= _MAX_PORT):
        examples = "example.org or *.example.org"
        if which is not PolicyList.MAIL:
            examples = "example.org, *.example.org, 10.2.0.0/16 or [2001:db8::1]:443, without https:// and path"
        message = f"{quote(text[:_MAX_LENGTH])} is not {'a mail domain' if which is PolicyList.MAIL else 'a host'}."
        raise InvalidInputError(message, f"Write {examples}.")
    return HostRule(rule.name, rule.is_suffix, rule.network, int(port or 0))


def _name_rule(text: str) -> HostRule:
    name = normalize_host(text.removeprefix("*."))
    return HostRule() if not name or _parse_ip(name) else HostRule(name, is_suffix=text.startswith("*."))


def _network_rule(text: str) -> HostRule:
    plain = text.replace("[", "").replace("]", "")
    try:
        network = ipaddress.ip_network(plain)
    except ValueError:
        return HostRule()
    if "%" in plain:
        return HostRule()
    if isinstance(network, ipaddress.IPv6Network) and (inner := network.network_address.ipv4_mapped):
        # Addresses are compared as IPv4 ones then. A shorter prefix has more in it than those.
        short = network.prefixlen - 96
        return HostRule(network=ipaddress.ip_network((inner, short))) if short >= 0 else HostRule()
    return HostRule(network=network)


def _normalize_entries(entries: Iterable[str], which: PolicyList) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for n, entry in enumerate(entries):
        if n >= MAX_ENTRIES:
            message = f"A list has {MAX_ENTRIES:,} entries at most."
            raise InvalidSettingError(message, "Use suffixes or ranges.", field=which)
        try:
            found[str(parse_rule(entry.strip(), which))] = None
        except InvalidInputError as error:
            raise InvalidSettingError(error.message, error.hint, field=f"{which}.{n}") from None
    return tuple(found)
