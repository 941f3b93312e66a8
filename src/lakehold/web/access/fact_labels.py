"""Describes grants, edges and attributes as text for a reader."""

from __future__ import annotations

from lakehold.access import Attribute, Edge, Grant
from lakehold.access.decisions.explanation import describe_resource, humanize
from lakehold.access.facts.records import Fact
from lakehold.access.facts.view import FactView
from lakehold.access.model.policy import MEMBER_OF

__all__ = ["describe_fact", "describe_resource", "humanize", "kind_title", "name_of", "role_title", "value_label"]

_ON_OFF = {"true": "on", "false": "off"}


def name_of(view: FactView, uid: str) -> str:
    """Return the name of a resource; its id if it has none."""
    number = view.ids.get(uid)
    return (view.names.get(number) if number is not None else None) or uid


def kind_title(view: FactView, uid: str) -> str:
    """Return the title of a resource's kind: Table."""
    return view.policy.kinds[view.kind(view.resource(uid))].schema.title


def role_title(view: FactView, role: str, uid: str) -> str:
    """Return the title of a role on a resource."""
    return view.policy.role(view.kind(view.resource(uid)), role).title


def value_label(value: str) -> str:
    """Return the label of an attribute's value: `on`, `off`, or the value in words."""
    return _ON_OFF.get(value) or humanize(value)


def describe_fact(view: FactView, fact: Fact, to: str = "") -> str:
    """Describe a fact: `Editor on orders`, `a place in Engineers`. The reader `to` is not named in it."""
    match fact:
        case Grant(subject, role, resource):
            words = f"{role_title(view, role, resource)} on {name_of(view, resource)}"
            return words if subject == to else f"{words} for {name_of(view, subject)}"
        case Edge(name, source, target) if name == MEMBER_OF:
            place = f"a place in {name_of(view, target)}"
            return place if source == to else f"{place} for {name_of(view, source)}"
        case Edge(name, source, target):
            return f"{name_of(view, target)} among the {humanize(name)} of {name_of(view, source)}"
        case Attribute(resource, name, value, None):
            return f"{humanize(name)}: {value_label(value)} for {name_of(view, resource)}"
        case Attribute(resource, name, value, member):
            whose = "" if member == to else f" for {name_of(view, str(member))}"
            return f"{humanize(name)} {value_label(value)} in {name_of(view, resource)}{whose}"
