"""What an explanation says is so, what it proposes works, and it names nothing that its reader may not see."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from lakehold.access.decisions.evaluator import DecisionEvaluator, Explanation
from lakehold.access.decisions.explanation import Reason
from lakehold.access.decisions.ways import MOST_GIVERS, MOST_WAYS, Way
from lakehold.access.facts.changes import fact_holds, resolve_fact, with_changes
from lakehold.access.facts.records import Add, Fact
from lakehold.access.facts.view import FactView
from lakehold.kit.errors import NotFoundError
from tests.laws.budget import examples
from tests.laws.facts import ACME, Case, random_policy, shipped_cases
from tests.laws.models import random_cases
from tests.laws.view_questions import Question, may_see, members, resources, workspace_questions
from tests.world import World

BOTH = pytest.mark.parametrize("kind_of_case", [shipped_cases(), random_cases()], ids=["shipped", "random"])
SOME = 12


@BOTH
@examples(60)
@given(data=st.data())
def test_explanations(kind_of_case: st.SearchStrategy[Case], data: st.DataObject) -> None:
    view = data.draw(kind_of_case).world().view
    asked = st.lists(st.sampled_from(workspace_questions(view)), min_size=1, max_size=SOME, unique=True)
    for question in data.draw(asked):
        note(repr(question))
        assert_explained(view, question)


def test_who_would_lose_the_right_by_giving_is_no_giver() -> None:
    world = World(
        random_policy("""
model: little
extends: [tenant]
kinds:
  t1:
    in: tenant
    roles: {r1: {}, r2: {}}
    edges: {e1: {to: t1, many: true, set_with: a1, also_after: true}}
    actions: [a1, a2]
    visible: a1
    allow:
      - {who: r1, when: no(e1), may: a1}
      - {who: any(e1).r2, may: a2}
""")
    )
    world.add("little.t1", "t1_1", tenant=ACME)
    world.add("little.t1", "t1_2", tenant=ACME)
    world.member("ann")
    world.grant("ann", "r1", "t1_1")
    world.grant("ann", "r2", "t1_2")
    assert_explained(world.view, Question("ann", "a2", "t1_1"))


def assert_explained(view: FactView, question: Question) -> None:
    decisions = DecisionEvaluator(view)
    viewers = [viewer for viewer in (question.member, *members(view)) if may_see(view, viewer, question.resource)]
    if question.member not in viewers:
        with pytest.raises(NotFoundError):
            decisions.explain(*question)
    if not viewers:
        return
    explained = decisions.explain(*question, viewer=viewers[0])
    assert explained.allowed == decisions.check(*question)
    if explained.allowed:
        assert_reasons(explained)
    else:
        assert_misses(view, explained)
    assert all(fact_holds(view, resolve_fact(view, fact)) for fact in explained_facts(explained))
    assert_keeps_secrets(view, explained, viewers[0])


def assert_reasons(explained: Explanation) -> None:
    """An allow: every path told has held, and no way is needed."""
    assert explained.paths
    assert all(path.held for path in (*explained.paths, *explained.gates))
    assert not explained.ways
    assert not explained.hidden_ways


def assert_misses(view: FactView, explained: Explanation) -> None:
    """A denial: no path with all gates has held, and every way leads to an allow."""
    assert not (any(path.held for path in explained.paths) and all(gate.held for gate in explained.gates))
    sizes = [len(way.needed) for way in explained.ways]
    assert sizes == sorted(sizes)
    assert 0 not in sizes
    assert len(sizes) <= MOST_WAYS
    sets = [frozenset(needed.fact for needed in way.needed) for way in explained.ways]
    assert not any(one <= other for one in sets for other in sets if one is not other)
    for way in explained.ways:
        assert_works(view, way, explained)
        assert_given(view, way)


def assert_works(view: FactView, way: Way, explained: Explanation) -> None:
    facts = [needed.fact for needed in way.needed]
    assert not any(fact_holds(view, resolve_fact(view, fact)) for fact in facts)
    for order in (facts, facts[::-1]):
        after = DecisionEvaluator(with_changes(view, map(Add, order)))
        assert after.check(explained.member, explained.action, explained.resource), way


def assert_given(view: FactView, way: Way) -> None:
    """Whoever is named may add the fact, and the others are counted."""
    decisions = DecisionEvaluator(view)
    for needed in way.needed:
        may = {member for member in members(view) if decisions.check_change(member, Add(needed.fact))}
        assert len(set(needed.givers)) == len(needed.givers) <= MOST_GIVERS
        assert set(needed.givers) <= may, needed
        assert len(needed.givers) + needed.more_givers == len(may), needed


def assert_keeps_secrets(view: FactView, explained: Explanation, viewer: str) -> None:
    said = "\n".join(texts(explained))
    for resource in resources(view):
        if not may_see(view, viewer, resource):
            assert not re.search(rf"(?<!\w){re.escape(resource)}(?!\w)", said), resource


def explained_facts(explained: Explanation) -> Iterator[Fact]:
    """All facts that an explanation names as being so."""
    for path in (*explained.paths, *explained.gates):
        yield from path.reason.all_facts()


def texts(explained: Explanation) -> Iterator[str]:
    """Everything that an explanation says."""
    for path in (*explained.paths, *explained.gates):
        yield from (path.rule, path.place)
        yield from _said(path.reason)
    for way in explained.ways:
        yield from (repr(needed) for needed in way.needed)


def _said(reason: Reason) -> Iterator[str]:
    yield reason.text
    yield from map(repr, reason.facts)
    for part in reason.parts:
        yield from _said(part)
