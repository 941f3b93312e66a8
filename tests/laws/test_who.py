"""Who is the filter of check, and what the database holds is what was written into it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakehold.kit.database import Database
from lakehold.kit.ids import fold_name
from tests.laws.budget import examples
from tests.laws.databases import store_case
from tests.laws.facts import Case, rename_fact, shipped_cases, some
from tests.laws.models import random_cases
from tests.laws.view_questions import allowed, facts, members, resources

BOTH = pytest.mark.parametrize("kind_of_case", [shipped_cases(), random_cases()], ids=["shipped", "random"])
MOST = 40


@BOTH
@examples(30)
@given(data=st.data())
def test_who_is_the_filter_of_check(
    shared: Database, kind_of_case: st.SearchStrategy[Case], data: st.DataObject
) -> None:
    company = store_case(shared, data.draw(kind_of_case))
    with company.access.read(company.tenant) as session:
        view = session.current_view()
        asked = [
            (action, resource)
            for resource, kind in resources(view).items()
            for action in view.policy.kinds[kind].schema.actions
        ]
        by_name = sorted(members(view), key=lambda uid: (fold_name(str(view.names.get(view.resource(uid)))), uid))
        for action, resource in data.draw(some(asked[::-1], MOST)):
            may = [member for member in by_name if session.check(member, action, resource)]
            assert list(session.who(action, resource)) == may, (action, resource)


@BOTH
@examples(20)
@given(data=st.data())
def test_the_database_holds_what_was_written(
    shared: Database, kind_of_case: st.SearchStrategy[Case], data: st.DataObject
) -> None:
    case = data.draw(kind_of_case)
    company = store_case(shared, case)
    names = company.names
    world = case.world().view
    expected = {rename_fact(fact, names) for fact in facts(world)}
    may = {question._replace(resource=names.get(question.resource, question.resource)) for question in allowed(world)}
    for access in (company.access, company.reopen()):
        with access.read(company.tenant) as session:
            assert facts(session.current_view()) == expected
            assert allowed(session.current_view()) == may
            assert allowed(session.as_of(session.at).current_view()) == may
