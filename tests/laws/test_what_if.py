"""What-if is the difference between all decisions before and after, and its groups count its rows."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from lakehold.access.decisions.what_if import AccessEffect, AccessEffectGroup, AccessEffects, what_if
from lakehold.access.facts.records import Add, Adopt, Change, Remove
from lakehold.access.facts.view import FactView
from lakehold.access.model.policy import MEMBER_OF
from tests.laws.budget import examples
from tests.laws.facts import Case, PossibleFacts, shipped_cases
from tests.laws.models import random_cases, revisions
from tests.laws.view_questions import Question, allowed, facts, resources

BOTH = pytest.mark.parametrize("kind_of_case", [shipped_cases(), random_cases()], ids=["shipped", "random"])


@st.composite
def changes(draw: st.DrawFn, case: Case, view: FactView) -> list[Add | Remove]:
    """Some facts that begin, and some that end."""
    possible = PossibleFacts(case.policy, case.things)
    groups = [
        possible.grants(lambda _kind: True),
        possible.attributes(),
        possible.edges(MEMBER_OF.__eq__),
        possible.edges(lambda edge: edge not in {MEMBER_OF, "tenant"}),
    ]
    added = st.one_of(*(st.sampled_from(group).map(Add) for group in groups if group))
    ending = sorted((fact for fact in facts(view) if not possible.is_permanent(fact)), key=repr)
    removed = st.sampled_from(ending).map(Remove) if ending else st.nothing()
    return draw(st.lists(st.one_of(added, removed), min_size=1, max_size=4))


@BOTH
@examples(100)
@given(data=st.data())
def test_facts(kind_of_case: st.SearchStrategy[Case], data: st.DataObject) -> None:
    case = data.draw(kind_of_case)
    world = case.world()
    made = data.draw(changes(case, world.view))
    before = allowed(world.view)
    effects = what_if(world.view, made)
    assert allowed(world.view) == before
    for change in made:
        world.change(change)
    assert_difference(effects, before, allowed(world.view), resources(world.view))


@examples(60)
@given(revision=revisions())
def test_models(revision: tuple[Case, str]) -> None:
    case, other = revision
    note(other)
    world = case.world()
    after = Case(case.things, case.changes, other).world()
    adopted: Sequence[Change] = [Adopt(other)]
    effects = what_if(world.view, adopted)
    assert_difference(effects, allowed(world.view), allowed(after.view), resources(world.view))


def assert_difference(
    effects: AccessEffects, before: set[Question], after: set[Question], kinds: dict[str, str]
) -> None:
    rows = list(effects.rows())
    assert len(rows) == len(set(rows))
    expected = {AccessEffect(*won, gained=True) for won in after - before}
    expected |= {AccessEffect(*lost, gained=False) for lost in before - after}
    assert set(rows) == expected
    assert len(set(effects.groups)) == len(effects.groups)
    assert set(effects.groups) == grouped(rows, kinds)


def grouped(rows: Sequence[AccessEffect], kinds: dict[str, str]) -> set[AccessEffectGroup]:
    """The rows, counted by kind, action and direction."""
    by_group: dict[tuple[str, str, bool], list[AccessEffect]] = {}
    for row in rows:
        by_group.setdefault((kinds[row.resource], row.action, row.gained), []).append(row)
    return {
        AccessEffectGroup(*key, len({row.member for row in found}), len({row.resource for row in found}), len(found))
        for key, found in by_group.items()
    }
