"""What would have to be given so that somebody may do something: the ways of `explain`, as requests keep them."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict

from lakehold.access import Attribute, Edge, Grant
from lakehold.access.decisions.evaluator import compiled_checks
from lakehold.access.decisions.ways import MOST_WAYS, Way, WayFinder
from lakehold.access.decisions.what_if import compiled_member_sets
from lakehold.access.facts.changes import fact_holds, resolve_fact
from lakehold.access.facts.records import Fact
from lakehold.access.facts.view import FactView
from lakehold.kit.errors import LakeholdError

_TYPES: dict[str, type[Grant | Attribute | Edge]] = {"grant": Grant, "attribute": Attribute, "edge": Edge}


def ways(view: FactView, member: str, action: str, uid: str) -> list[Way]:
    """All the nearest ways, those too that name what the member may not see: for those who can give, not for them."""
    here, subject = view.resource(uid), view.subject(view.member(member))
    expression = view.policy.action(view.kind(here), action)
    finder = WayFinder(view, compiled_checks(view.policy), compiled_member_sets(view.policy))
    found: list[Way] = []
    for facts in finder.find(expression, view.kind(here), subject, here):
        found.append(Way(finder.missing_facts(facts)))
        if len(found) == MOST_WAYS:
            break
    return found


def facts_of(way: Way) -> list[Fact]:
    """What a way asks for."""
    return [needed.fact for needed in way.needed]


def givers(view: FactView, facts: Iterable[Fact]) -> list[str]:
    """The members nearest to giving one of these facts, the askers of it left to themselves."""
    finder = WayFinder(view, compiled_checks(view.policy), compiled_member_sets(view.policy))
    found = dict.fromkeys(giver for needed in finder.missing_facts(frozenset(facts)) for giver in needed.givers)
    return list(found)


def kept(facts: Collection[Fact]) -> str:
    """Facts as they lie in a table, always in the same order."""
    rows = [{"fact": type(fact).__name__.lower(), **asdict(fact)} for fact in facts]
    return json.dumps(sorted(rows, key=lambda row: json.dumps(row, sort_keys=True)), sort_keys=True)


def read(text: str) -> list[Fact]:
    """The facts that were kept."""
    return [_TYPES[row.pop("fact")](**row) for row in json.loads(text)]


def missing(view: FactView, facts: Sequence[Fact]) -> list[Fact] | None:
    """Those that do not hold yet; None if one of them can never hold again, as when its resource is gone."""
    left = []
    for fact in facts:
        try:
            row = resolve_fact(view, fact)
        except LakeholdError:
            return None
        if not fact_holds(view, row):
            left.append(fact)
    return left


def named_in(fact: Fact) -> list[str]:
    """The resources, members and groups that a fact names."""
    match fact:
        case Grant(subject, _, resource):
            return [subject, resource]
        case Edge(_, source, target):
            return [source, target]
        case Attribute(resource, _, _, member):
            return [resource] if member is None else [resource, member]
