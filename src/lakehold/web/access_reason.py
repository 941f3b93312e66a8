"""Summarizes an explanation as the one reason why a member has a right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from lakehold.access import Grant
from lakehold.access.decisions.evaluator import Explanation
from lakehold.access.facts.view import ALL_MEMBERS, FactView
from lakehold.access.model.policy import TENANT
from lakehold.catalog import kinds
from lakehold.directory.request_context import RequestContext

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

    def sort(view: FactView) -> AccessReason:
        ranked = [_rank_grant(view, member, explanation.resource, grant) for grant in _granting_facts(explanation)]
        return min(ranked, key=lambda pair: pair[0], default=(0, AccessReason(OPEN, "Open to everybody")))[1]

    return ctx.session.read_view(sort)


def _granting_facts(found: Explanation) -> Iterator[Grant]:
    for path in found.paths:
        yield from (fact for fact in path.reason.all_facts() if isinstance(fact, Grant))


def _rank_grant(view: FactView, member: str, resource: str, grant: Grant) -> tuple[int, AccessReason]:
    place = view.resource(grant.resource)
    kind = view.kind(place)
    title = view.policy.role(kind, grant.role).title
    name = view.names.get(place) or ""
    by = _via_group(view, member, grant.subject)
    if grant.resource == resource:
        return (
            (0, AccessReason("direct", f"Own grant: {title}"))
            if not by
            else (1, AccessReason("group", f"{title} {by}"))
        )
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
