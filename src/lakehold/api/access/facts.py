"""Grants, attributes, edges and changes as JSON."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from lakehold.access import Add, Adopt, Attribute, Edge, Grant, Remove
from lakehold.access.facts.records import Change, Fact
from lakehold.api.frame.models import Body, IdText, Word

_LONGEST_MODEL = 500_000

Source = Annotated[
    str, Field(min_length=1, max_length=_LONGEST_MODEL, examples=["model: library\ntitle: Library\nkinds: {}\n"])
]
Value = Annotated[str, Field(max_length=1_000, examples=["true"])]


class GrantFact(Body):
    """A member or group holds a role on a resource."""

    fact: Literal["grant"]
    subject: IdText
    role: Word
    resource: IdText


class AttributeFact(Body):
    """A resource has a value, or with `member` a membership has one."""

    fact: Literal["attribute"]
    resource: IdText
    name: Word
    value: Value
    member: IdText | None = None


class EdgeFact(Body):
    """One resource points at another."""

    fact: Literal["edge"]
    name: Word
    source: IdText
    target: IdText


FactJson = Annotated[GrantFact | AttributeFact | EdgeFact, Field(discriminator="fact")]


class FactChange(Body):
    """A fact begins to hold, or ends."""

    change: Literal["add", "remove"]
    fact: FactJson


class ModelChange(Body):
    """A model is adopted, new or in place of the one of the same name."""

    change: Literal["adopt"]
    source: Source


ChangeJson = Annotated[FactChange | ModelChange, Field(discriminator="change")]


def fact_of(given: FactJson) -> Fact:
    """The fact that is meant."""
    match given:
        case GrantFact():
            return Grant(given.subject, given.role, given.resource)
        case AttributeFact():
            return Attribute(given.resource, given.name, given.value, given.member)
        case EdgeFact():
            return Edge(given.name, given.source, given.target)


def change_of(given: ChangeJson) -> Change:
    """The change that is meant."""
    if isinstance(given, ModelChange):
        return Adopt(given.source)
    fact = fact_of(given.fact)
    return Add(fact) if given.change == "add" else Remove(fact)


def told(fact: Fact) -> FactJson:
    """A fact as an answer tells it."""
    match fact:
        case Grant(subject, role, resource):
            return GrantFact(fact="grant", subject=subject, role=role, resource=resource)
        case Attribute(resource, name, value, member):
            return AttributeFact(fact="attribute", resource=resource, name=name, value=value, member=member)
        case Edge(name, source, target):
            return EdgeFact(fact="edge", name=name, source=source, target=target)
