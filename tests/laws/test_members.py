"""The set of all members for whom a relation holds is the filter of check."""

from __future__ import annotations

from hypothesis import given

from lakehold.access.decisions.check import CompiledChecks
from lakehold.access.decisions.member_sets import CompiledMemberSets, all_members
from lakehold.access.facts.view import FactView
from tests.laws.budget import examples
from tests.laws.facts import Case, shipped_cases
from tests.laws.models import random_cases


@examples(100)
@given(case=shipped_cases())
def test_shipped_models(case: Case) -> None:
    assert_same(case.world().view)


@examples(100)
@given(case=random_cases())
def test_random_models(case: Case) -> None:
    assert_same(case.world().view)


def assert_same(view: FactView) -> None:
    """Every relation: roles and definitions, actions, and what it takes to set something."""
    checks, sets = CompiledChecks(view.policy), CompiledMemberSets(view.policy)
    for kind, name in view.policy.relations:
        holds, set_of = checks.relation_test(kind, name), sets.relation_set(kind, name)
        for here in view.by_kind.get(kind) or ():
            found = set_of(view, here)
            assert 0 <= found <= all_members(view)
            by_set = {member for member, number in view.members.items() if found >> number & 1}
            by_check = {member for member in view.members if holds(view, view.subject(member), here)}
            assert by_set == by_check, (kind, name, view.uid(here))
