"""How files name things. An id stands as it is; the tenant is `/` and the group All is `/all`, so that the same files
can be read into a tenant of any id. An id that begins with a slash itself is written with one more.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from lakehold.access.facts.records import Attribute, Edge, Fact, Grant
from lakehold.access.facts.view import FactView

TENANT = "/"
ALL = "/all"


@dataclass(frozen=True, slots=True)
class Ids:
    """The ids of one tenant's own two things, for going from files to the tenant and back."""

    tenant: str
    everyone: str

    @classmethod
    def of(cls, view: FactView, tenant: int) -> Ids:
        """Those of the tenant of this number."""
        return cls(view.uid(tenant), view.uid(view.everyone))

    def ref(self, uid: str) -> str:
        """What files call it."""
        if uid == self.tenant:
            return TENANT
        if uid == self.everyone:
            return ALL
        return f"/{uid}" if uid.startswith("/") else uid

    def uid(self, ref: str) -> str:
        """What the tenant calls it."""
        return {TENANT: self.tenant, ALL: self.everyone}.get(ref) or plain(ref)

    def fact(self, fact: Fact) -> Fact:
        """A fact of the files, as the tenant calls what is in it."""
        match fact:
            case Grant(subject, role, resource):
                return Grant(self.uid(subject), role, self.uid(resource))
            case Edge(name, source, target):
                return Edge(name, self.uid(source), self.uid(target))
            case Attribute(resource, _, _, member):
                return replace(fact, resource=self.uid(resource), member=None if member is None else self.uid(member))


def plain(ref: str) -> str:
    """The id without the slash that keeps it apart from `/` and `/all`."""
    return ref.removeprefix("/")


def opaque(ref: str, names: Mapping[str, str]) -> str:
    """The name that helps a reader where the id says nothing; empty where the id speaks for itself."""
    hexadecimal = len(ref) == _DRAWN and not set(ref) - _HEX
    return names.get(ref, "") if hexadecimal else ""


_DRAWN = 16
_HEX = set("0123456789abcdef")
