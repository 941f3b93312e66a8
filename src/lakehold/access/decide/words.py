"""Facts as a sentence part, in the words of their model."""

from __future__ import annotations

from lakehold.access.facts.records import Attribute, Edge, Fact, Grant
from lakehold.access.facts.view import View
from lakehold.access.model.policy import MEMBER_OF

_INSIDE = frozenset({"create", "invite", "add", "list", "execute", "save"})
"""What is done in something, and not to it."""


def named(view: View, uid: str) -> str:
    """`table orders`: what it is and what it is called."""
    number = view.ids.get(uid)
    if number is None:
        return uid
    kind = view.policy.kinds[view.kind(number)].schema.title.lower()
    return f"{kind} {view.names.get(number)}"


def spoken(name: str) -> str:
    """A name of a model as people say it."""
    return name.replace("_", " ")


def done_to(view: View, action: str, uid: str) -> str:
    """An action with what it is done to: `edit table orders`, `manage triggers of data mart Sales`."""
    said = spoken(action)
    first, _, more = said.partition(" ")
    joint = "" if not more else "in " if first in _INSIDE else "of "
    return f"{said} {joint}{named(view, uid)}"


def phrase(view: View, fact: Fact) -> str:
    """`Editor on table orders`."""
    match fact:
        case Grant(subject, role, resource):
            kind = view.kind(view.resource(resource))
            title = view.policy.role(kind, role).title
            return f"{title} on {named(view, resource)} for {named(view, subject)}"
        case Attribute(resource, name, value, None):
            on_off = {"true": "on", "false": "off"}.get(value, spoken(value))
            return f"{spoken(name)} {on_off} of {named(view, resource)}"
        case Attribute(resource, name, value, member):
            return f"{spoken(name)} {spoken(value)} of {named(view, str(member))} in {named(view, resource)}"
        case Edge(name, source, target):
            if name == MEMBER_OF:
                return f"{named(view, source)} in {named(view, target)}"
            return f"{spoken(name)} of {named(view, source)}: {named(view, target)}"
