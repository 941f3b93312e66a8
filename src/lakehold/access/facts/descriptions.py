"""Facts, resources and actions in words: the only place that phrases a grant, an attribute or an edge for a reader."""

from lakehold.access.facts.records import Attribute, Edge, Fact, Grant
from lakehold.access.facts.view import FactView
from lakehold.access.model.policy import MEMBER_OF

_ACTIONS_INSIDE = frozenset({"create", "invite", "add", "list", "execute", "save"})
"""What is done in something, and not to it."""


def humanize(name: str) -> str:
    """Turn a name of a model into readable words."""
    return name.replace("_", " ")


def describe_value(value: str) -> str:
    """Describe the value of an attribute: `on`, `off`, or the value in words."""
    return {"true": "on", "false": "off"}.get(value) or humanize(value)


def role_title(view: FactView, role: str, uid: str) -> str:
    """Return the title of a role on a resource."""
    return view.policy.role(view.kind(view.resource(uid)), role).title


def resource_name(view: FactView, uid: str) -> str:
    """Return the name of a resource; its id if it has none."""
    number = view.ids.get(uid)
    return (view.names.get(number) if number is not None else None) or uid


def describe_resource(view: FactView, uid: str) -> str:
    """Describe a resource by kind and name: `table orders`."""
    number = view.ids.get(uid)
    if number is None:
        return uid
    kind = view.policy.kinds[view.kind(number)].schema.title.lower()
    return f"{kind} {view.names.get(number)}"


def describe_action(view: FactView, action: str, uid: str) -> str:
    """Describe an action with its resource: `edit table orders`, `manage triggers of data mart Sales`."""
    verb = humanize(action)
    first, _, more = verb.partition(" ")
    preposition = "" if not more else "in " if first in _ACTIONS_INSIDE else "of "
    return f"{verb} {preposition}{describe_resource(view, uid)}"


def describe_attribute(attribute: Attribute) -> str:
    """Describe an attribute and its value, without its resource: `scope: selected contexts`."""
    return f"{humanize(attribute.name)}: {describe_value(attribute.value)}"


def describe_fact(view: FactView, fact: Fact, reader: str = "") -> str:
    """Describe a fact: `Editor on table orders for member Ann`.

    For a reader, who looks at the resource and knows its kind, it is `Editor on orders`. They are not named in it.
    """
    describe = resource_name if reader else describe_resource

    def for_whom(uid: str | None) -> str:
        return f" for {describe(view, uid)}" if uid and uid != reader else ""

    match fact:
        case Grant(subject, role, resource):
            return f"{role_title(view, role, resource)} on {describe(view, resource)}{for_whom(subject)}"
        case Edge(name, source, target) if name == MEMBER_OF:
            return f"membership in {describe(view, target)}{for_whom(source)}"
        case Edge(name, source, target):
            return f"{humanize(name)} of {describe(view, source)}: {describe(view, target)}"
        case Attribute(resource, _, _, None):
            return f"{describe_attribute(fact)}{for_whom(resource)}"
        case Attribute(resource, _, _, member):
            return f"{describe_attribute(fact)} in {describe(view, resource)}{for_whom(member)}"


def describe_in_entry(fact: Fact) -> str:
    """Describe a fact by ids, below the resource that it is about: `editor ann`, `layer clean`."""
    match fact:
        case Grant(subject, role, _):
            return f"{role} {subject}"
        case Edge(name, source, target):
            return f"member {source}" if name == MEMBER_OF else f"{name} {target}"
        case Attribute(_, name, value, member):
            return f"{name} {value}" + (f" of {member}" if member else "")
