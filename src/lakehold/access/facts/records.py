"""The three facts that give access, as people and services name them, and changes to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, order=True)
class Grant:
    """A subject (member, group or All) holds a role on a resource."""

    subject: str
    role: str
    resource: str


@dataclass(frozen=True, slots=True)
class Attribute:
    """A resource's value, or with `member` the value of that member's membership in it."""

    resource: str
    name: str
    value: str
    member: str | None = None


@dataclass(frozen=True, slots=True, order=True)
class Edge:
    """One resource points at another: a table at its layer, a member at a group."""

    name: str
    source: str
    target: str


Fact = Grant | Attribute | Edge


def mentioned(fact: Fact) -> tuple[str, ...]:
    """The ids that a fact names: what it is about first."""
    match fact:
        case Grant(subject, _, resource):
            return resource, subject
        case Edge(_, source, target):
            return source, target
        case Attribute(resource, _, _, member):
            return (resource,) if member is None else (resource, member)


@dataclass(frozen=True, slots=True)
class Add:
    """The fact begins to hold. An attribute, or an edge of which there is one, takes the old one's place."""

    fact: Fact


@dataclass(frozen=True, slots=True)
class Remove:
    """The fact no longer holds. An attribute goes back to its default, whatever its value is."""

    fact: Fact


@dataclass(frozen=True, slots=True)
class Adopt:
    """A model, new or in place of the one of the same name, as YAML."""

    source: str


Change = Add | Remove | Adopt


@dataclass(frozen=True, slots=True)
class Draft:
    """A resource that does not exist yet, with the parent and edges that are proposed for it."""

    kind: str
    edges: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    attributes: Mapping[str, str | bool] = field(default_factory=dict)
