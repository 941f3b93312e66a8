"""The set of all members for whom a relation holds is the filter of check."""

from __future__ import annotations

from hypothesis import given

from lakehold.access.decide.check import Checks
from lakehold.access.decide.members import MemberSets, everybody
from lakehold.access.facts.view import View
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


def assert_same(view: View) -> None:
    """Every relation: roles and definitions, actions, and what it takes to set something."""
    checks, sets = Checks(view.policy), MemberSets(view.policy)
    for kind, name in view.policy.relations:
        holds, set_of = checks.test(kind, name), sets.set_of(kind, name)
        for here in view.of_kind.get(kind) or ():
            found = set_of(view, here)
            assert 0 <= found <= everybody(view)
            by_set = {member for member, number in view.members.items() if found >> number & 1}
            by_check = {member for member in view.members if holds(view, view.subject(member), here)}
            assert by_set == by_check, (kind, name, view.uid(here))
