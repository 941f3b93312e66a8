"""The facts at one moment, as every decision reads them: whole numbers for ids, bits for roles."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock
from typing import NamedTuple

from lakehold.access.facts.maps import Inner, Map, Named, laid
from lakehold.access.facts.records import Grant
from lakehold.access.model.policy import MEMBER, MEMBER_OF, Policy, policy_of
from lakehold.kit.errors import NotFoundError
from lakehold.kit.ids import quote, valid_id

ALL_MEMBERS = "tenant.all_members"

_bits: dict[str, int] = {}
_naming = Lock()
"""Two roles that are named at the same moment must not get the same bit."""


def role_bit(role: str) -> int:
    """The bit that stands for a role's name, the same in every model of this process."""
    bit = _bits.get(role)
    if bit is None:
        with _naming:
            bit = _bits.setdefault(role, 1 << len(_bits))
    return bit


def role_names(mask: int) -> list[str]:
    """The roles in a mask."""
    return [role for role, bit in _bits.items() if mask & bit]


@dataclass(frozen=True, slots=True)
class Subject:
    """A member with the groups they are in."""

    id: int
    ids: tuple[int, ...]
    ids_with_all: tuple[int, ...]
    everyone: int
    """The built-in group All."""


class ResourceRow(NamedTuple):
    """Something that exists."""

    id: int
    uid: str
    kind: str
    name: str


class GrantRow(NamedTuple):
    """A subject holds a role."""

    subject: int
    role: str
    resource: int


class AttributeRow(NamedTuple):
    """A value; `member` is 0 unless it is of a membership."""

    resource: int
    member: int
    name: str
    value: str


class EdgeRow(NamedTuple):
    """A pointer."""

    name: str
    source: int
    target: int


class ModelRow(NamedTuple):
    """A model in force."""

    name: str
    source: str


Row = ResourceRow | GrantRow | AttributeRow | EdgeRow | ModelRow


class View:
    """Facts with nothing about time in them: what holds at the moment of the view."""

    def __init__(self, policy: Policy, below: View | None = None) -> None:
        self.policy = policy
        self.sources: dict[str, str] = dict(below.sources) if below else {}
        self.version = 0
        self.memo: dict[object, bool] = {}
        self.sets: dict[object, int] = {}
        self.kept: dict[object, object] = {}
        """What others have worked out from this view, for as long as nothing in it changes."""
        self._below = below
        self._subjects: dict[int, Subject] = {}
        self.askers: dict[str, Subject] = {}
        """The members who have asked something of this view, by their id."""
        self._numbers: dict[int, int] = {}
        self.twins: dict[Row, int] = dict(below.twins) if below else {}
        self.kinds: Map[int, str] = laid(below.kinds if below else None)
        self.uids: Map[int, str] = laid(below.uids if below else None)
        self.names: Map[int, str] = laid(below.names if below else None)
        self.ids: Map[str, int] = laid(below.ids if below else None)
        self.of_kind: Inner[str, int, None] = Inner(below.of_kind if below else None)
        self.grants: Inner[int, int, int] = Inner(below.grants if below else None)
        self.held: Inner[int, int, int] = Inner(below.held if below else None)
        self.out: Named[Map[int, tuple[int, ...]]] = Named(self._new_out)
        self.back: Named[Inner[int, int, None]] = Named(self._new_back)
        self.attributes: Named[Map[int, str]] = Named(self._new_attributes)
        self.memberships: Named[Inner[int, int, str]] = Named(self._new_memberships)

    def _new_out(self, edge: str) -> Map[int, tuple[int, ...]]:
        return laid(self._below.out[edge] if self._below else None)

    def _new_back(self, edge: str) -> Inner[int, int, None]:
        return Inner(self._below.back[edge] if self._below else None)

    def _new_attributes(self, name: str) -> Map[int, str]:
        return laid(self._below.attributes[name] if self._below else None)

    def _new_memberships(self, name: str) -> Inner[int, int, str]:
        return Inner(self._below.memberships[name] if self._below else None)

    # Reading

    @property
    def everyone(self) -> int:
        """The built-in group All; 0 before there is one."""
        return next(iter(self.of_kind.get(ALL_MEMBERS) or ()), 0)

    def resource(self, uid: object, what: str = "resource") -> int:
        """The resource of this id."""
        found = self.ids.get(uid) if isinstance(uid, str) else None
        if found is None:
            raise NotFoundError(f"There is no {what} {quote(valid_id(uid))}.", "Look the id up in a list.")
        return found

    def kind(self, resource: int) -> str:
        """The kind of a resource that exists."""
        return self.kinds.get(resource) or ""

    def uid(self, resource: int) -> str:
        """The public id of a resource that exists."""
        return self.uids.get(resource) or ""

    def member(self, uid: object) -> int:
        """The member of this id."""
        found = self.ids.get(uid) if isinstance(uid, str) else None
        if found is None or self.kinds.get(found) != MEMBER:
            raise NotFoundError(f"There is no member {quote(valid_id(uid))}.", "Look the id up among the members.")
        return found

    def subject(self, member: int) -> Subject:
        """The member with the groups they are in."""
        known = self._subjects.get(member)
        if known is None:
            ids = (member, *(self.out[MEMBER_OF].get(member) or ()))
            known = self._subjects[member] = Subject(member, ids, (*ids, self.everyone), self.everyone)
        return known

    def asker(self, uid: str) -> Subject:
        """The member of this id, with the groups they are in."""
        known = self.askers.get(uid)
        if known is None:
            known = self.askers[uid] = self.subject(self.member(uid))
        return known

    @property
    def members(self) -> dict[int, int]:
        """The members, each with the number of its bit in a set of members."""
        if not self._numbers:
            self._numbers = {member: number for number, member in enumerate(self.of_kind.get(MEMBER) or ())}
        return self._numbers

    def inside(self, resource: int) -> list[int]:
        """The resources that lie directly in this one."""
        here = self.kind(resource)
        return [
            child
            for kind in self.policy.kinds.values()
            if kind.parent and here in kind.parent.kinds
            for child in self.back[kind.parent.edge].get(resource) or ()
            if self.kind(child) == kind.id
        ]

    def granted(self, resource: int) -> list[Grant]:
        """Who holds which role on the resource itself."""
        held = self.grants.get(resource) or {}
        here = self.uid(resource)
        return [Grant(self.uid(subject), role, here) for subject, mask in held.items() for role in role_names(mask)]

    def holders(self, resource: int, role: str) -> list[str]:
        """Who holds this role on the resource itself."""
        bit = role_bit(role)
        return [self.uid(subject) for subject, mask in (self.grants.get(resource) or {}).items() if mask & bit]

    # Changing

    def touch(self) -> None:
        """Something has changed: forget what was worked out."""
        if self.sources and self.sources != self.policy.sources:
            self.policy = policy_of(tuple(sorted(self.sources.items())))
        self.version += 1
        self.memo.clear()
        self.sets.clear()
        self.kept.clear()
        self._subjects.clear()
        self.askers.clear()
        self._numbers = {}

    def open(self, row: Row) -> None:
        """The fact begins to hold."""
        match row:
            case GrantRow(subject, role, resource):
                self._open_grant(row, subject, role_bit(role), resource)
            case EdgeRow(name, source, target):
                self._open_edge(name, source, target)
            case AttributeRow(resource, member, name, value):
                if member:
                    self.memberships[name].own(resource)[member] = value
                else:
                    self.attributes[name].put(resource, value)
            case ResourceRow(resource, uid, kind, name):
                self._open_resource(resource, uid, kind, name)
            case ModelRow(name, source):
                self.sources[name] = source

    def close(self, row: Row) -> None:
        """The fact no longer holds."""
        match row:
            case GrantRow(subject, role, resource):
                self._close_grant(row, subject, role_bit(role), resource)
            case EdgeRow(name, source, target):
                self._close_edge(name, source, target)
            case AttributeRow(resource, member, name, value):
                self._close_attribute(resource, member, name, value)
            case ResourceRow(resource, uid, kind, _):
                self._close_resource(resource, uid, kind)
            case ModelRow(name, source):
                if self.sources.get(name) == source:
                    del self.sources[name]

    def _open_resource(self, resource: int, uid: str, kind: str, name: str) -> None:
        self.kinds.put(resource, kind)
        self.uids.put(resource, uid)
        self.names.put(resource, name)
        self.ids.put(uid, resource)
        self.of_kind.own(kind)[resource] = None

    def _close_resource(self, resource: int, uid: str, kind: str) -> None:
        self.kinds.drop(resource)
        self.uids.drop(resource)
        self.names.drop(resource)
        self.ids.drop(uid)
        self.of_kind.forget(kind, resource)

    def _open_grant(self, row: Row, subject: int, bit: int, resource: int) -> None:
        held = self.grants.own(resource)
        before = held.get(subject, 0)
        if before & bit:
            # The same grant twice, for two spans of time: it ends when both have.
            self.twins[row] = self.twins.get(row, 0) + 1
        held[subject] = self.held.own(subject)[resource] = before | bit

    def _close_grant(self, row: Row, subject: int, bit: int, resource: int) -> None:
        if self.twins.get(row):
            self.twins[row] -= 1
            return
        left = (self.grants.get(resource) or {}).get(subject, 0) & ~bit
        if left:
            self.grants.own(resource)[subject] = self.held.own(subject)[resource] = left
        else:
            self.grants.forget(resource, subject)
            self.held.forget(subject, resource)

    def _open_edge(self, name: str, source: int, target: int) -> None:
        targets = self.out[name].get(source) or ()
        if target not in targets:
            self.out[name].put(source, (*targets, target))
            self.back[name].own(target)[source] = None

    def _close_edge(self, name: str, source: int, target: int) -> None:
        left = tuple(other for other in self.out[name].get(source) or () if other != target)
        if left:
            self.out[name].put(source, left)
        else:
            self.out[name].drop(source)
        self.back[name].forget(target, source)

    def _close_attribute(self, resource: int, member: int, name: str, value: str) -> None:
        # A value that has been replaced in the meantime is not the one that ends.
        if member:
            if (self.memberships[name].get(resource) or {}).get(member) == value:
                self.memberships[name].forget(resource, member)
        elif self.attributes[name].get(resource) == value:
            self.attributes[name].drop(resource)
