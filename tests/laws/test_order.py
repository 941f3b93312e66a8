"""The order in which facts were written does not matter."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakehold.access.facts.records import Add
from lakehold.access.model.policy import TENANT
from tests.laws.budget import examples
from tests.laws.facts import ACME, ALL, Case, CaseResource, shipped_cases
from tests.laws.models import random_cases
from tests.laws.view_questions import allowed, facts, resources

BOTH = pytest.mark.parametrize("kind_of_case", [shipped_cases(), random_cases()], ids=["shipped", "random"])


@BOTH
@examples(100)
@given(data=st.data())
def test_order_of_facts(kind_of_case: st.SearchStrategy[Case], data: st.DataObject) -> None:
    case = data.draw(kind_of_case)
    world = case.world()
    known = resources(world.view)
    there = [CaseResource(kind, uid) for uid, kind in known.items() if uid not in {ACME, ALL}]
    so = sorted(facts(world.view), key=repr)
    assert known[ACME] == TENANT
    shuffled = Case(
        tuple(data.draw(st.permutations(there))), tuple(map(Add, data.draw(st.permutations(so)))), case.model
    ).world()
    assert facts(shuffled.view) == facts(world.view)
    assert allowed(shuffled.view) == allowed(world.view)
