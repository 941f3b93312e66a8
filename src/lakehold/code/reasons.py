"""Why an answer is what it is, in a few lines: for a yes what made it so, for a no what would."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from lakehold.access.decisions.evaluator import compiled_checks
from lakehold.access.decisions.explanation import Explainer, RulePath, describe_fact, describe_resource
from lakehold.access.decisions.ways import WayFinder
from lakehold.access.decisions.what_if import compiled_member_sets
from lakehold.access.facts.view import FactView
from lakehold.access.model.expressions import give_relation, invite_relation
from lakehold.code.cases import Expected

_MOST_WAYS = 3
_CARRYING = {"give": give_relation, "invite": invite_relation}


def why(view: FactView, member: str, asked: Expected, resource: str, *, allowed: bool) -> tuple[str, ...]:
    """The lines. They are for whoever may read all of the company: nothing is hidden."""
    return tuple(_held(view, member, asked, resource) if allowed else _missed(view, member, asked, resource))


def relation(asked: Expected) -> str:
    """What the models call it."""
    return _CARRYING[asked.action](asked.role) if asked.role else asked.action


def _held(view: FactView, member: str, asked: Expected, resource: str) -> Iterator[str]:
    subject, here = view.subject(view.member(member)), view.resource(resource)
    explainer = Explainer(view, compiled_checks(view.policy), lambda _: True)
    if asked.role:
        expression = view.policy.relations[view.kind(here), relation(asked)]
        reason = explainer.reason(expression, view.kind(here), subject, here, held_only=True)
        title = view.policy.role(view.kind(here), asked.role).title
        yield from _told(view, RulePath(f"who may {asked.action} {title}", "", reason))
        return
    for path in explainer.paths(subject, asked.action, here, held_only=True):
        yield from _told(view, path)


def _told(view: FactView, path: RulePath) -> Iterator[str]:
    yield f"by: {path.rule}" + (f"  ({path.place})" if path.place else "")
    for fact in dict.fromkeys(path.reason.all_facts()):
        yield f"    {describe_fact(view, fact)}"


def _missed(view: FactView, member: str, asked: Expected, resource: str) -> Iterator[str]:
    subject, here = view.subject(view.member(member)), view.resource(resource)
    kind = view.kind(here)
    expression = view.policy.relations.get((kind, relation(asked)))
    if expression is None:
        yield "no line of the model allows it to anybody"
        return
    checks = compiled_checks(view.policy)
    if not asked.role:
        for gate in Explainer(view, checks, lambda _: True).gates(subject, asked.action, here):
            if not gate.held:
                yield f"stopped by: {gate.rule}  ({gate.place})"
    finder = WayFinder(view, checks, compiled_member_sets(view.policy))
    for facts in islice(finder.find(expression, kind, subject, here), _MOST_WAYS):
        needed = finder.missing_facts(facts)
        givers = dict.fromkeys(giver for need in needed for giver in need.givers[:2])
        by = f" (by {', '.join(describe_resource(view, giver) for giver in givers)})" if givers else ""
        yield f"would do: {' and '.join(describe_fact(view, need.fact) for need in needed)}{by}"
