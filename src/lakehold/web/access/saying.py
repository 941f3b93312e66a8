"""Facts in the words of a person, about whoever they are told to."""

from __future__ import annotations

from lakehold.access import Attribute, Edge, Grant
from lakehold.access.decisions.explanation import describe_resource, humanize
from lakehold.access.facts.records import Fact
from lakehold.access.facts.view import FactView
from lakehold.access.model.policy import MEMBER_OF

__all__ = ["fact", "name_of", "describe_resource", "role_of", "humanize", "title_of", "value_of"]

_ON_OFF = {"true": "on", "false": "off"}


def name_of(view: FactView, uid: str) -> str:
    """What it is called."""
    number = view.ids.get(uid)
    return (view.names.get(number) if number is not None else None) or uid


def title_of(view: FactView, uid: str) -> str:
    """What it is, by its model: Table."""
    return view.policy.kinds[view.kind(view.resource(uid))].schema.title


def role_of(view: FactView, role: str, uid: str) -> str:
    """What a role on it is called by its model."""
    return view.policy.role(view.kind(view.resource(uid)), role).title


def value_of(value: str) -> str:
    """`on`, `off`, or the value as people say it."""
    return _ON_OFF.get(value) or humanize(value)


def fact(view: FactView, told: Fact, to: str = "") -> str:
    """`Editor on orders`, `a place in Engineers`. Whom it is told `to` is not named in it."""
    match told:
        case Grant(subject, role, resource):
            words = f"{role_of(view, role, resource)} on {name_of(view, resource)}"
            return words if subject == to else f"{words} for {name_of(view, subject)}"
        case Edge(name, source, target) if name == MEMBER_OF:
            place = f"a place in {name_of(view, target)}"
            return place if source == to else f"{place} for {name_of(view, source)}"
        case Edge(name, source, target):
            return f"{name_of(view, target)} among the {humanize(name)} of {name_of(view, source)}"
        case Attribute(resource, name, value, None):
            return f"{humanize(name)}: {value_of(value)} for {name_of(view, resource)}"
        case Attribute(resource, name, value, member):
            whose = "" if member == to else f" for {name_of(view, str(member))}"
            return f"{humanize(name)} {value_of(value)} in {name_of(view, resource)}{whose}"
