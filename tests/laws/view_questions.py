"""Enumerates every access check on a view, and every fact in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from lakehold.access.decisions.evaluator import DecisionEvaluator
from lakehold.access.facts.records import Attribute, Edge, Fact, Grant
from lakehold.access.facts.view import FactView, role_names
from lakehold.access.model.policy import MEMBER


class Question(NamedTuple):
    """An access check: may this member take this action on this resource?"""

    member: str
    action: str
    resource: str


def members(view: FactView) -> list[str]:
    """All members."""
    return resources_of_kind(view, MEMBER)


def resources_of_kind(view: FactView, kind: str) -> list[str]:
    """All resources of a kind."""
    return [view.uid(number) for number in view.by_kind.get(kind) or ()]


def resources(view: FactView) -> dict[str, str]:
    """All resources, each with its kind."""
    return {uid: kind for kind in view.policy.kinds for uid in resources_of_kind(view, kind)}


def questions(view: FactView) -> list[Question]:
    """Every member, action and resource."""
    return [
        Question(member, action, resource)
        for resource, kind in resources(view).items()
        for action in view.policy.kinds[kind].schema.actions
        for member in members(view)
    ]


def workspace_questions(view: FactView) -> list[Question]:
    """Return the checks on resources in workspaces, or those on the tenant if there are no others."""
    kinds = resources(view)
    found = [question for question in questions(view) if not kinds[question.resource].startswith("tenant.")]
    return found or questions(view)


def allowed(view: FactView) -> set[Question]:
    """Return every check that is allowed."""
    decisions = DecisionEvaluator(view)
    return {question for question in questions(view) if decisions.check(*question)}


def may_see(view: FactView, member: str, resource: str) -> bool:
    """Whether the member may know that the resource is there."""
    schema = view.policy.kinds[resources(view)[resource]].schema
    return not schema.actions or DecisionEvaluator(view).check(member, schema.visible, resource)


def ancestors(view: FactView, resource: str) -> list[str]:
    """Return the ancestors of a resource, the nearest first."""
    here = view.resource(resource)
    parent = view.policy.kinds[view.kind(here)].parent
    targets = (view.edges_out[parent.edge].get(here) or ()) if parent else ()
    return [uid for target in targets for uid in (view.uid(target), *ancestors(view, view.uid(target)))]


def facts(view: FactView) -> set[Fact]:
    """Return every fact of the view."""
    return {fact for uid in resources(view) for fact in _facts_of(view, uid)}


def _facts_of(view: FactView, uid: str) -> Iterator[Fact]:
    here = view.resource(uid)
    for subject, roles in (view.grants.get(here) or {}).items():
        yield from (Grant(view.uid(subject), role, uid) for role in role_names(roles))
    schema = view.policy.kinds[view.kind(here)].schema
    for name in schema.attributes:
        value = view.attributes[name].get(here)
        if value is not None:
            yield Attribute(uid, name, value)
    for name in schema.membership:
        for member, held in (view.memberships[name].get(here) or {}).items():
            yield Attribute(uid, name, held, view.uid(member))
    for name in schema.edges:
        yield from (Edge(name, uid, view.uid(target)) for target in view.edges_out[name].get(here) or ())
