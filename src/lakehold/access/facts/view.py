"""The facts at one moment, as every decision reads them: whole numbers for ids, bits for roles."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from threading import Lock
from typing import NamedTuple

from lakehold.access.facts.layered_maps import Map, MapsByName, NestedMap, layer_over
from lakehold.access.facts.records import Grant
from lakehold.access.model.policy import MEMBER, MEMBER_OF, Policy, compile_policy
from lakehold.kit.errors import NotFoundError
from lakehold.kit.ids import quote, valid_id

ALL_MEMBERS = "tenant.all_members"

_bits: dict[str, int] = {}
_bits_lock = Lock()
"""Two roles that are named at the same moment must not get the same bit."""


def role_bit(role: str) -> int:
    """Return the bit of a role's name, the same in every model of this process."""
    bit = _bits.get(role)
    if bit is None:
        with _bits_lock:
            bit = _bits.setdefault(role, 1 << len(_bits))
    return bit


def role_names(mask: int) -> list[str]:
    """Return the roles in a mask."""
    return [role for role, bit in _bits.items() if mask & bit]


@dataclass(frozen=True, slots=True)
class MemberSubject:
    """A member with the groups they are in."""

    id: int
    ids: tuple[int, ...]
    ids_with_all: tuple[int, ...]
    everyone: int
    """The built-in group All."""


class ResourceRow(NamedTuple):
    """A resource that exists."""

    id: int
    uid: str
    kind: str
    name: str


class GrantRow(NamedTuple):
    """A subject holds a role on a resource."""

    subject: int
    role: str
    resource: int


class AttributeRow(NamedTuple):
    """The value of an attribute; `member` is 0 unless it is of a membership."""

    resource: int
    member: int
    name: str
    value: str


class EdgeRow(NamedTuple):
    """An edge from one resource to another."""

    name: str
    source: int
    target: int


class ModelRow(NamedTuple):
    """A model in force."""

    name: str
    source: str


FactRow = ResourceRow | GrantRow | AttributeRow | EdgeRow | ModelRow


class FactView:
    """The facts that hold at one moment. A view may lie over another one, which stays unchanged."""

    def __init__(self, policy: Policy, base: FactView | None = None) -> None:
        self.policy = policy
        self.sources: dict[str, str] = dict(base.sources) if base else {}
        self.version = 0
        self.memo: dict[object, bool] = {}
        self.sets: dict[object, int] = {}
        self.cache: dict[object, object] = {}
        """What others have worked out from this view, for as long as nothing in it changes."""
        self._subjects: dict[int, MemberSubject] = {}
        self.subjects_by_uid: dict[str, MemberSubject] = {}
        """The members who have queried this view, by their id."""
        self._member_numbers: dict[int, int] = {}
        self.duplicate_grants: dict[FactRow, int] = dict(base.duplicate_grants) if base else {}
        self.kinds: Map[int, str] = layer_over(base.kinds if base else None)
        self.uids: Map[int, str] = layer_over(base.uids if base else None)
        self.names: Map[int, str] = layer_over(base.names if base else None)
        self.ids: Map[str, int] = layer_over(base.ids if base else None)
        self.by_kind: NestedMap[str, int, None] = NestedMap(base.by_kind if base else None)
        self.grants: NestedMap[int, int, int] = NestedMap(base.grants if base else None)
        self.grants_by_subject: NestedMap[int, int, int] = NestedMap(base.grants_by_subject if base else None)
        self.edges_out: MapsByName[Map[int, tuple[int, ...]]] = MapsByName(
            lambda edge: layer_over(base.edges_out[edge] if base else None)
        )
        self.edges_in: MapsByName[NestedMap[int, int, None]] = MapsByName(
            lambda edge: NestedMap(base.edges_in[edge] if base else None)
        )
        self.attributes: MapsByName[Map[int, str]] = MapsByName(
            lambda name: layer_over(base.attributes[name] if base else None)
        )
        self.memberships: MapsByName[NestedMap[int, int, str]] = MapsByName(
            lambda name: NestedMap(base.memberships[name] if base else None)
        )

    # Reading

    @property
    def everyone(self) -> int:
        """The built-in group All; 0 before there is one."""
        return next(iter(self.by_kind.get(ALL_MEMBERS) or ()), 0)

    def resource(self, uid: object, what: str = "resource") -> int:
        """Return the number of the resource of this id."""
        found = self.ids.get(uid) if isinstance(uid, str) else None
        if found is None:
            raise NotFoundError(f"There is no {what} {quote(valid_id(uid))}.", "Check the ID.")
        return found

    def kind(self, resource: int) -> str:
        """Return the kind of a resource that exists."""
        return self.kinds.get(resource) or ""

    def uid(self, resource: int) -> str:
        """Return the public id of a resource that exists."""
        return self.uids.get(resource) or ""

    def member(self, uid: object) -> int:
        """Return the number of the member of this id."""
        found = self.ids.get(uid) if isinstance(uid, str) else None
        if found is None or self.kinds.get(found) != MEMBER:
            raise NotFoundError(f"There is no member {quote(valid_id(uid))}.", "Check the ID in the list of members.")
        return found

    def subject(self, member: int) -> MemberSubject:
        """Return the member with the groups they are in."""
        known = self._subjects.get(member)
        if known is None:
            ids = (member, *(self.edges_out[MEMBER_OF].get(member) or ()))
            known = self._subjects[member] = MemberSubject(member, ids, (*ids, self.everyone), self.everyone)
        return known

    def subject_by_uid(self, uid: str) -> MemberSubject:
        """Return the member of this id, with the groups they are in."""
        known = self.subjects_by_uid.get(uid)
        if known is None:
            known = self.subjects_by_uid[uid] = self.subject(self.member(uid))
        return known

    @property
    def members(self) -> dict[int, int]:
        """The members, each with the number of its bit in a set of members."""
        if not self._member_numbers:
            self._member_numbers = {member: number for number, member in enumerate(self.by_kind.get(MEMBER) or ())}
        return self._member_numbers

    def children(self, resource: int) -> list[int]:
        """Return the resources that lie directly in this one."""
        here = self.kind(resource)
        return [
            child
            for kind in self.policy.kinds.values()
            if kind.parent and here in kind.parent.kinds
            for child in self.edges_in[kind.parent.edge].get(resource) or ()
            if self.kind(child) == kind.id
        ]

    def containers(self, resource: int) -> Iterator[int]:
        """Yield the resource and everything that it lies in, the nearest first."""
        here: int | None = resource
        while here is not None:
            yield here
            parent = self.policy.kinds[self.kind(here)].parent
            here = next(iter(self.edges_out[parent.edge].get(here) or ()), None) if parent else None

    def grants_on(self, resource: int) -> list[Grant]:
        """Return the grants on the resource itself."""
        held = self.grants.get(resource) or {}
        here = self.uid(resource)
        return [Grant(self.uid(subject), role, here) for subject, mask in held.items() for role in role_names(mask)]

    def holders(self, resource: int, role: str) -> list[str]:
        """Return who holds this role on the resource itself."""
        bit = role_bit(role)
        return [self.uid(subject) for subject, mask in (self.grants.get(resource) or {}).items() if mask & bit]

    # Changing

    def touch(self) -> None:
        """Invalidate everything that was computed from the view, after a change."""
        if self.sources and self.sources != self.policy.sources:
            self.policy = compile_policy(tuple(sorted(self.sources.items())))
        self.version += 1
        self.memo.clear()
        self.sets.clear()
        self.cache.clear()
        self._subjects.clear()
        self.subjects_by_uid.clear()
        self._member_numbers = {}

    def open(self, row: FactRow) -> None:
        """Let the fact begin to hold."""
        match row:
            case GrantRow(subject, role, resource):
                self._open_grant(row, subject, role_bit(role), resource)
            case EdgeRow(name, source, target):
                self._open_edge(name, source, target)
            case AttributeRow(resource, member, name, value):
                if member:
                    self.memberships[name].own_inner(resource)[member] = value
                else:
                    self.attributes[name].put(resource, value)
            case ResourceRow(resource, uid, kind, name):
                self._open_resource(resource, uid, kind, name)
            case ModelRow(name, source):
                self.sources[name] = source

    def close(self, row: FactRow) -> None:
        """Let the fact no longer hold."""
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
        self.by_kind.own_inner(kind)[resource] = None

    def _close_resource(self, resource: int, uid: str, kind: str) -> None:
        self.kinds.drop(resource)
        self.uids.drop(resource)
        self.names.drop(resource)
        self.ids.drop(uid)
        self.by_kind.forget(kind, resource)

    def _open_grant(self, row: FactRow, subject: int, bit: int, resource: int) -> None:
        held = self.grants.own_inner(resource)
        before = held.get(subject, 0)
        if before & bit:
            # The same grant twice, for two spans of time: it ends when both have.
            self.duplicate_grants[row] = self.duplicate_grants.get(row, 0) + 1
        held[subject] = self.grants_by_subject.own_inner(subject)[resource] = before | bit

    def _close_grant(self, row: FactRow, subject: int, bit: int, resource: int) -> None:
        if self.duplicate_grants.get(row):
            self.duplicate_grants[row] -= 1
            return
        left = (self.grants.get(resource) or {}).get(subject, 0) & ~bit
        if left:
            self.grants.own_inner(resource)[subject] = self.grants_by_subject.own_inner(subject)[resource] = left
        else:
            self.grants.forget(resource, subject)
            self.grants_by_subject.forget(subject, resource)

    def _open_edge(self, name: str, source: int, target: int) -> None:
        targets = self.edges_out[name].get(source) or ()
        if target not in targets:
            self.edges_out[name].put(source, (*targets, target))
            self.edges_in[name].own_inner(target)[source] = None

    def _close_edge(self, name: str, source: int, target: int) -> None:
        left = tuple(other for other in self.edges_out[name].get(source) or () if other != target)
        if left:
            self.edges_out[name].put(source, left)
        else:
            self.edges_out[name].drop(source)
        self.edges_in[name].forget(target, source)

    def _close_attribute(self, resource: int, member: int, name: str, value: str) -> None:
        # A value that has been replaced in the meantime is not the one that ends.
        if member:
            if (self.memberships[name].get(resource) or {}).get(member) == value:
                self.memberships[name].forget(resource, member)
        elif self.attributes[name].get(resource) == value:
            self.attributes[name].drop(resource)
