"""By what somebody may do something, in a word: the path of an explanation that says the most."""

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
class Through:
    """How a right is held: a key of `matrix.THROUGH`, or `open` for what everybody may; and in words."""

    key: str
    words: str


def through(ctx: RequestContext, member: str, found: Explanation) -> Through:
    """How the member holds the right that was explained. The nearest grant says the most: their own on the thing
    itself, then a group's, then one further up, then the role in the workspace or the tenant.
    """

    def sort(view: FactView) -> Through:
        told = [_told(view, member, found.resource, grant) for grant in _grants(found)]
        return min(told, key=lambda pair: pair[0], default=(0, Through(OPEN, "Open to everybody")))[1]

    return ctx.session.read_view(sort)


def _grants(found: Explanation) -> Iterator[Grant]:
    for path in found.paths:
        yield from (fact for fact in path.reason.all_facts() if isinstance(fact, Grant))


def _told(view: FactView, member: str, resource: str, grant: Grant) -> tuple[int, Through]:
    place = view.resource(grant.resource)
    kind = view.kind(place)
    title = view.policy.role(kind, grant.role).title
    name = view.names.get(place) or ""
    by = _by(view, member, grant.subject)
    if grant.resource == resource:
        return (0, Through("direct", f"Own grant: {title}")) if not by else (1, Through("group", f"{title} {by}"))
    if kind == TENANT:
        return 4, Through("role", f"{title} of {name}{by and f', {by}'}")
    if kinds.workspace_of(view, grant.resource) == grant.resource:
        return 3, Through("role", f"{title} in {name}{by and f', {by}'}")
    return 2, Through("inherited", f"{title} on {name}{by and f', {by}'}")


def _by(view: FactView, member: str, subject: str) -> str:
    """Through which group; empty if it is their own."""
    if subject == member:
        return ""
    number = view.resource(subject)
    return "as everybody has" if view.kind(number) == ALL_MEMBERS else f"through {view.names.get(number)}"
