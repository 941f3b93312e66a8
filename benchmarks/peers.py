"""casbin, cedarpy and oso answering the same questions, each prepared once in the way its documentation advises.

What a peer need not do is left out in its favour: only grants on tables and layers and the tenant's Admin are known to
it, no plan, no time, no change log.
"""

from __future__ import annotations

import json
import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol

import casbin
import cedarpy
from casbin.model import FastModel
from oso import Oso

from benchmarks.facts import (
    ALL,
    GROUPS,
    LAKE,
    LAYERS,
    TABLES_IN_LAYER,
    TENANT,
    WIDE_QUERY,
    Facts,
    layer,
    layer_of,
    table,
)
from benchmarks.questions import LADDER, LEVEL

Held = Mapping[str, Mapping[str, Sequence[str]]]


class Peer(Protocol):
    """Somebody else's engine."""

    def check(self, member: str, action: str, uid: str) -> bool:
        """Whether the member may do this with the table."""

    def every(self, member: str) -> bool:
        """Whether the member may read every table of the wide pipeline."""


def peers(facts: Facts, wide: Sequence[str]) -> dict[str, Peer]:
    """All three, loaded."""
    logging.getLogger("casbin").setLevel(logging.ERROR)
    return {"casbin": Casbin(facts, wide), "cedarpy": Cedar(facts, wide), "oso": OsoChecks(facts, wide)}


def _all_tables() -> Iterable[int]:
    return range(LAYERS * TABLES_IN_LAYER)


def _held_roles(facts: Facts) -> Held:
    """For each resource and role those who hold it, as granted."""
    held: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for subject, role, resource in facts.grants:
        held[resource][role.rpartition(".")[2]].append(subject)
    return held


# casbin

_CASBIN = """
[request_definition]
r = sub, obj, act
[policy_definition]
p = sub, obj, act
[role_definition]
g = _, _
[policy_effect]
e = some(where (p.eft == allow))
[matchers]
m = g(r.sub, p.sub)
"""


class Casbin:
    """Its FastEnforcer, which looks policies up by object and action instead of trying all 300,000.

    So that it can, levels are spelt out, and the table, its layer and the tenant are asked one after the other.
    """

    def __init__(self, facts: Facts, wide: Sequence[str]) -> None:
        self._wide = wide
        model = FastModel([1, 2])
        model.load_model_from_text(_CASBIN)
        self._enforcer: Any = casbin.FastEnforcer(model, cache_key_order=[1, 2])
        self._enforcer.add_policies(
            [
                [subject, resource, level]
                for subject, role, resource in facts.grants
                for level in LADDER.get(role.rpartition(".")[2], (role.rpartition(".")[2],))
            ]
        )
        groups = [[member, group] for member, found in facts.groups.items() for group in (*found, ALL)]
        self._enforcer.add_grouping_policies(groups)

    def check(self, member: str, action: str, uid: str) -> bool:
        """Whether the member may do this with the table."""
        level, enforce = LEVEL[action], self._enforcer.enforce
        return bool(
            enforce(member, uid, level)
            or enforce(member, layer_of(int(uid[1:])), level)
            or enforce(member, TENANT, "admin")
        )

    def every(self, member: str) -> bool:
        """No such thing here: the caller asks for each table."""
        return all(self.check(member, "read", uid) for uid in self._wide)


# cedarpy

_CEDAR = """
permit (principal, action == Action::"read", resource)
when { principal in resource.viewer || principal in resource.layer.viewer };
permit (principal, action in [Action::"read", Action::"write"], resource)
when { principal in resource.editor || principal in resource.layer.editor };
permit (principal, action, resource)
when { principal in resource.manager || principal in resource.layer.manager
       || principal in resource.layer.lakehouse.tenant.admin };
"""


class Cedar:
    """Policies and all entities parsed once; each table and layer has those who hold a level as attributes."""

    def __init__(self, facts: Facts, wide: Sequence[str]) -> None:
        self._policies = cedarpy.PolicySet.from_str(_CEDAR)
        self._entities = cedarpy.Entities.from_json_str(json.dumps(list(_entities(facts))))
        self._wide = wide

    def check(self, member: str, action: str, uid: str) -> bool:
        """Whether the member may do this with the table."""
        return bool(cedarpy.is_authorized(_request(member, action, uid), self._policies, self._entities).allowed)

    def every(self, member: str) -> bool:
        """Its language has no quantifier: all tables are asked for in one batch."""
        asked = [_request(member, "read", uid) for uid in self._wide]
        answers = cedarpy.is_authorized_batch(asked, self._policies, self._entities)
        return all(answer.allowed for answer in answers)


def _request(member: str, action: str, uid: str) -> dict[str, Any]:
    return {"principal": _uid("User", member), "action": _uid("Action", action), "resource": _uid("Table", uid)}


def _uid(kind: str, uid: str) -> dict[str, str]:
    return {"type": kind, "id": uid}


def _entities(facts: Facts) -> Iterable[dict[str, Any]]:
    held = _held_roles(facts)

    def entity(kind: str, uid: str, roles: Iterable[str] = (), **points: dict[str, str]) -> dict[str, Any]:
        attributes: dict[str, Any] = {name: {"__entity": end} for name, end in points.items()}
        for role in roles:
            attributes[role] = [{"__entity": _subject(facts, subject)} for subject in held.get(uid, {}).get(role, ())]
        parents = [_uid("Group", group) for group in (*facts.groups[uid], ALL)] if kind == "User" else []
        return {"uid": _uid(kind, uid), "attrs": attributes, "parents": parents}

    yield from (entity("User", member) for member in facts.groups)
    yield from (entity("Group", f"g{number:02}") for number in range(GROUPS))
    yield entity("Group", ALL)
    yield entity("Tenant", TENANT, ["admin"])
    yield entity("Lakehouse", LAKE, tenant=_uid("Tenant", TENANT))
    yield from (entity("Layer", layer(n), LADDER, lakehouse=_uid("Lakehouse", LAKE)) for n in range(LAYERS))
    yield from (entity("Table", table(n), LADDER, layer=_uid("Layer", layer_of(n))) for n in _all_tables())


def _subject(facts: Facts, subject: str) -> dict[str, str]:
    return _uid("User" if subject in facts.groups else "Group", subject)


# oso

_POLAR = """
allow(member, action, resource) if has_permission(member, action, resource);

actor Member {}

resource Tenant { roles = ["admin"]; }

resource Layer {
  roles = ["viewer", "editor", "manager"];
  relations = { tenant: Tenant };
  "viewer" if "editor";
  "editor" if "manager";
  "manager" if "admin" on "tenant";
}

resource Table {
  roles = ["viewer", "editor", "manager"];
  permissions = ["read", "write", "delete"];
  relations = { layer: Layer };
  "viewer" if "editor";
  "editor" if "manager";
  "viewer" if "viewer" on "layer";
  "editor" if "editor" on "layer";
  "manager" if "manager" on "layer";
  "read" if "viewer";
  "write" if "editor";
  "delete" if "manager";
}

resource Pipeline { permissions = ["see"]; }

has_relation(layer: Layer, "layer", table: Table) if layer = table.layer;
has_relation(tenant: Tenant, "tenant", layer: Layer) if tenant = layer.tenant;
has_role(member: Member, role: String, resource: Tenant) if member.holds(role, resource);
has_role(member: Member, role: String, resource: Layer) if member.holds(role, resource);
has_role(member: Member, role: String, resource: Table) if member.holds(role, resource);
has_permission(member: Member, "see", pipeline: Pipeline) if
  forall(table in pipeline.tables, has_permission(member, "read", table));
"""


class Member:
    """Somebody with groups."""

    def __init__(self, subjects: Sequence[str], held: Held) -> None:
        self.subjects = subjects
        self._held = held

    def holds(self, role: str, resource: Tenant | Layer | Table) -> bool:
        """Whether the role was given to the member, a group or All."""
        holders = self._held.get(resource.uid, {}).get(role, ())
        return any(subject in holders for subject in self.subjects)


class Tenant:
    """The whole company."""

    def __init__(self, uid: str) -> None:
        self.uid = uid


class Layer:
    """A container of tables."""

    def __init__(self, uid: str, tenant: Tenant) -> None:
        self.uid = uid
        self.tenant = tenant


class Table:
    """What is read."""

    def __init__(self, uid: str, layer: Layer) -> None:
        self.uid = uid
        self.layer = layer


class Pipeline:
    """What reads."""

    def __init__(self, uid: str, tables: Sequence[Table]) -> None:
        self.uid = uid
        self.tables = tables


class OsoChecks:
    """Polar with resource blocks over Python objects; a grant is found in a dictionary."""

    def __init__(self, facts: Facts, wide: Sequence[str]) -> None:
        oso: Any = Oso()
        for kind in (Member, Tenant, Layer, Table, Pipeline):
            oso.register_class(kind)
        oso.load_str(_POLAR)
        self._oso = oso
        held, tenant = _held_roles(facts), Tenant(TENANT)
        layers = {layer(n): Layer(layer(n), tenant) for n in range(LAYERS)}
        self._members = {uid: Member((uid, *groups, ALL), held) for uid, groups in facts.groups.items()}
        self._tables = {table(n): Table(table(n), layers[layer_of(n)]) for n in _all_tables()}
        self._wide = Pipeline(WIDE_QUERY, [self._tables[uid] for uid in wide])

    def check(self, member: str, action: str, uid: str) -> bool:
        """Whether the member may do this with the table."""
        return bool(self._oso.is_allowed(self._members[member], action, self._tables[uid]))

    def every(self, member: str) -> bool:
        """Polar's forall()."""
        return bool(self._oso.is_allowed(self._members[member], "see", self._wide))
