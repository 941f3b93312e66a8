"""Describes grants, edges and attributes as text for a reader, and the one reason why a member has a right."""

from __future__ import annotations

from dataclasses import dataclass

from lakehold.access import Attribute, Edge, Grant
from lakehold.access.decisions.evaluator import Explanation
from lakehold.access.decisions.explanation import humanize
from lakehold.access.facts.records import Fact
from lakehold.access.facts.view import ALL_MEMBERS, FactView
from lakehold.access.model.policy import MEMBER_OF, TENANT
from lakehold.catalog import kinds
from lakehold.directory.request_context import RequestContext

_ON_OFF = {"true": "on", "false": "off"}


def name_of(view: FactView, uid: str) -> str:
    """Return the name of a resource; its id if it has none."""
    number = view.ids.get(uid)
    return (view.names.get(number) if number is not None else None) or uid


def resource_name(ctx: RequestContext, uid: str) -> str:
    """Return the name of a resource in the current facts."""
    return ctx.session.read_view(lambda view: name_of(view, uid))


def capitalize(text: str) -> str:
    """Return the text with a capital first letter; the others stay as they are."""
    return text[:1].upper() + text[1:]


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


OPEN = "open"


@dataclass(frozen=True, slots=True)
class AccessReason:
    """How a right is held: a key of `ACCESS_ORIGINS`, or `open` for what everybody may do, with its label."""

    key: str
    words: str


def find_reason(ctx: RequestContext, member: str, explanation: Explanation) -> AccessReason:
    """Return how the member holds the right that was explained.

    The nearest grant is preferred: the member's own grant on the resource, then a group's, then one on an ancestor,
    then a role in the workspace or the tenant.
    """
    facts = (fact for path in explanation.paths for fact in path.reason.all_facts())
    given = [fact for fact in facts if isinstance(fact, Grant)]
    ranked = ctx.session.read_view(
        lambda view: [_rank_grant(view, member, explanation.resource, grant) for grant in given]
    )
    return min(ranked, key=lambda pair: pair[0], default=(0, AccessReason(OPEN, "Open to everybody")))[1]


def _rank_grant(view: FactView, member: str, resource: str, grant: Grant) -> tuple[int, AccessReason]:
    place = view.resource(grant.resource)
    kind = view.kind(place)
    title = view.policy.role(kind, grant.role).title
    name = view.names.get(place) or ""
    by = _via_group(view, member, grant.subject)
    if grant.resource == resource:
        return (1, AccessReason("group", f"{title} {by}")) if by else (0, AccessReason("direct", f"Own grant: {title}"))
    if kind == TENANT:
        return 4, AccessReason("role", f"{title} of {name}{by and f', {by}'}")
    if kinds.workspace_of(view, grant.resource) == grant.resource:
        return 3, AccessReason("role", f"{title} in {name}{by and f', {by}'}")
    return 2, AccessReason("inherited", f"{title} on {name}{by and f', {by}'}")


def _via_group(view: FactView, member: str, subject: str) -> str:
    """Name the group that the grant comes through; empty if it is the member's own."""
    if subject == member:
        return ""
    number = view.resource(subject)
    return "as everybody has" if view.kind(number) == ALL_MEMBERS else f"through {view.names.get(number)}"
