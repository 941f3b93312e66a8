"""Describes grants, edges and attributes as text for a reader, and the one reason why a member has a right."""

from dataclasses import dataclass
from functools import partial

from lakehold.access import Attribute, Edge, Grant
from lakehold.access.decisions.evaluator import Explanation
from lakehold.access.decisions.explanation import humanize
from lakehold.access.facts.records import Fact
from lakehold.access.facts.view import ALL_MEMBERS, FactView
from lakehold.access.model.policy import MEMBER_OF, TENANT
from lakehold.catalog import kinds
from lakehold.directory.request_context import RequestContext


def resource_name(ctx: RequestContext, uid: str) -> str:
    """Return the name of a resource; its id if it has none."""

    def name(view: FactView) -> str:
        number = view.ids.get(uid)
        return (view.names.get(number) if number is not None else None) or uid

    return ctx.session.read_view(name)


def capitalize(text: str) -> str:
    """Return the text with a capital first letter; the others stay as they are."""
    return text[:1].upper() + text[1:]


def role_title(ctx: RequestContext, role: str, uid: str) -> str:
    """Return the title of a role on a resource."""
    return ctx.session.read_view(lambda view: view.policy.role(view.kind(view.resource(uid)), role).title)


def value_label(value: str) -> str:
    """Return the label of an attribute's value: `on`, `off`, or the value in words."""
    return {"true": "on", "false": "off"}.get(value) or humanize(value)


def describe_fact(ctx: RequestContext, fact: Fact, to: str) -> str:
    """Describe a fact: `Editor on orders`, `a place in Engineers`. The reader `to` is not named in it."""
    name_of = partial(resource_name, ctx)
    match fact:
        case Grant(subject, role, resource):
            words = f"{role_title(ctx, role, resource)} on {name_of(resource)}"
            return words if subject == to else f"{words} for {name_of(subject)}"
        case Edge(name, source, target) if name == MEMBER_OF:
            place = f"a place in {name_of(target)}"
            return place if source == to else f"{place} for {name_of(source)}"
        case Edge(name, source, target):
            return f"{name_of(target)} among the {humanize(name)} of {name_of(source)}"
        case Attribute(resource, name, value, None):
            return f"{humanize(name)}: {value_label(value)} for {name_of(resource)}"
        case Attribute(resource, name, value, member):
            whose = "" if member == to else f" for {name_of(str(member))}"
            return f"{humanize(name)} {value_label(value)} in {name_of(resource)}{whose}"


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
    return min(ranked, key=lambda pair: pair[0], default=(0, AccessReason("open", "Open to everybody")))[1]


def _rank_grant(view: FactView, member: str, resource: str, grant: Grant) -> tuple[int, AccessReason]:
    place = view.resource(grant.resource)
    kind = view.kind(place)
    title = view.policy.role(kind, grant.role).title
    name = view.names.get(place) or ""
    by = _via_group(view, member, grant.subject)
    if grant.resource == resource:
        return (1, AccessReason("group", f"{title} {by}")) if by else (0, AccessReason("direct", f"Own grant: {title}"))
    suffix = by and f", {by}"
    if kind == TENANT:
        return 4, AccessReason("role", f"{title} of {name}{suffix}")
    if kinds.workspace_of(view, grant.resource) == grant.resource:
        return 3, AccessReason("role", f"{title} in {name}{suffix}")
    return 2, AccessReason("inherited", f"{title} on {name}{suffix}")


def _via_group(view: FactView, member: str, subject: str) -> str:
    """Name the group that the grant comes through; empty if it is the member's own."""
    if subject == member:
        return ""
    number = view.resource(subject)
    return "as everybody has" if view.kind(number) == ALL_MEMBERS else f"through {view.names.get(number)}"
