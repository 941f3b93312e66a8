"""Names of resources, and the one reason why a member has a right."""

from dataclasses import dataclass

from lakehold.access import Grant
from lakehold.access.decisions.evaluator import Explanation
from lakehold.access.facts import descriptions
from lakehold.access.facts.view import ALL_MEMBERS, FactView
from lakehold.access.model.policy import TENANT
from lakehold.catalog import kinds
from lakehold.directory.request_context import RequestContext


def resource_name(ctx: RequestContext, uid: str) -> str:
    """Return the name of a resource; its id if it has none."""
    return ctx.session.read_view(lambda view: descriptions.resource_name(view, uid))


@dataclass(frozen=True, slots=True)
class AccessReason:
    """The way a right is held: a key of `ACCESS_ORIGINS`, or `open` for what everybody may do, with its label."""

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
    kind, title = view.kind(place), descriptions.role_title(view, grant.role, grant.resource)
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
