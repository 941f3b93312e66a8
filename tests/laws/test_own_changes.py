"""What a transaction writes is seen inside it by check, list and who alike, and is gone when it is rolled back."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakehold.kit.database import Database
from tests.laws.agreement import assert_agree
from tests.laws.budget import examples
from tests.laws.databases import create_tenant, store_case, write_case
from tests.laws.facts import Case, shipped_cases
from tests.laws.models import random_cases
from tests.laws.view_questions import allowed, facts

BOTH = pytest.mark.parametrize("kind_of_case", [shipped_cases(), random_cases()], ids=["shipped", "random"])


class RollbackError(Exception):
    """Ends a transaction that shall leave nothing behind."""


@BOTH
@examples(12)
@given(data=st.data())
def test_changes_are_seen_inside_and_gone_after_a_rollback(
    shared: Database, kind_of_case: st.SearchStrategy[Case], data: st.DataObject
) -> None:
    case = data.draw(kind_of_case)
    cut = data.draw(st.integers(0, len(case.changes)))
    company = store_case(shared, Case(case.things, case.changes[:cut], case.model))
    with company.access.read(company.tenant) as session:
        before = facts(session.current_view()), allowed(session.current_view())
    with suppress(RollbackError), company.access.write(company.tenant) as session:
        for change in case.changes[cut:]:
            session.store.apply(company.with_stored_ids(change))
            session.check("ann", "see", "bob")
        assert len(allowed(session.current_view())) == len(allowed(case.world().view))
        assert_agree(session, most_actions=2)
        with company.access.read(company.tenant) as other:
            assert (facts(other.current_view()), allowed(other.current_view())) == before
            assert_agree(other)
        raise RollbackError
    for access in (company.access, company.reopen()):
        with access.read(company.tenant) as session:
            assert (facts(session.current_view()), allowed(session.current_view())) == before
            assert_agree(session)


@BOTH
@examples(8)
@given(data=st.data())
def test_what_is_made_and_unmade_in_one_transaction(
    shared: Database, kind_of_case: st.SearchStrategy[Case], data: st.DataObject
) -> None:
    case = data.draw(kind_of_case)
    company = create_tenant(shared, case)
    with company.access.write(company.tenant) as session:
        write_case(session.store, company, case)
        inside = facts(session.current_view()), allowed(session.current_view())
        assert_agree(session, most_actions=2)
    for access in (company.access, company.reopen()):
        with access.read(company.tenant) as session:
            assert (facts(session.current_view()), allowed(session.current_view())) == inside
