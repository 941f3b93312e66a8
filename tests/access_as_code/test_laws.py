"""Export, apply into an empty tenant, export: nothing is lost, byte for byte. And any tenant can be brought to any
other's files.
"""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, note
from hypothesis import strategies as st

from lakehold import workspaces
from lakehold.access.engine import AccessEngine
from lakehold.access.facts.records import Add, Grant
from lakehold.access_as_code import EntryMetadata, plan, plan_text
from lakehold.demo import company
from lakehold.kit.clock import SECOND
from lakehold.kit.database import Database
from lakehold.workspaces import policy as shipped_policy
from tests.access_as_code.direct_writer import apply_files, export_as_owner, plan_files
from tests.clock import StoppedClock
from tests.laws.budget import examples
from tests.laws.databases import StoredCase, create_tenant, store_case
from tests.laws.facts import ACME, Case, PossibleFacts, cases, random_policy, shipped_cases
from tests.laws.models import NAME, random_cases, sketches, texts
from tests.laws.view_questions import facts as facts_in

BOTH = pytest.mark.parametrize("kind_of_case", [shipped_cases(), random_cases()], ids=["shipped", "random"])
OWNED = Add(Grant("ann", "owner", ACME))
METADATA = {
    "olga": EntryMetadata(email="olga@corner.example"),
    "otto": EntryMetadata(service=True, description="Runs what runs at night."),
    "orders": EntryMetadata(
        description="Every order.\n\nOne line for each, # too.",
        settings={"retries": 3, "when": "0 5 * * *", "as": ["1e5", 1e-7, None, True], "in": {"1": {}, "": "no"}},
    ),
}


def test_the_demo_company(database: Database) -> None:
    access = AccessEngine(database)
    company.load(access)
    files = export_as_owner(access, company.TENANT, METADATA)
    access.create_tenant("elsewhere", "Another", workspaces.models())
    made = apply_files(access, "elsewhere", files)
    assert made.metadata == METADATA
    assert export_as_owner(access, "elsewhere", METADATA) == files
    assert plan_files(access, "elsewhere", files).steps == ()
    with access.read(company.TENANT) as one, access.read("elsewhere") as other:
        assert len(facts_in(other.current_view())) <= len(facts_in(one.current_view()))  # without what is so anyway
        for member in company.PEOPLE:
            for resource in ("orders", "daily_sales", "land_tills", "customer", "make_orders"):
                assert one.actions(member, resource) == other.actions(member, resource)


@BOTH
@examples(12)
@given(data=st.data())
def test_export_apply_export(shared: Database, kind_of_case: st.SearchStrategy[Case], data: st.DataObject) -> None:
    case = data.draw(kind_of_case)
    clock = StoppedClock()
    first, second = store_case(shared, case, clock), create_tenant(shared, case, clock)
    _schedule(first, case, data)
    files = export_as_owner(first.access, first.tenant)
    note("\n".join(text for name, text in files.items() if name.endswith(".yaml")))
    apply_files(second.access, second.tenant, files)
    assert export_as_owner(second.access, second.tenant) == files
    clock.advance(data.draw(st.integers(0, 90)))
    assert export_as_owner(second.access, second.tenant) == export_as_owner(first.access, first.tenant)


def _schedule(company: StoredCase, case: Case, data: st.DataObject) -> None:
    """Some facts that begin or end later."""
    possible = PossibleFacts(case.policy, case.things)
    facts = [
        *possible.grants(lambda _kind: True),
        *possible.attributes(),
        # A parent, and what nothing can be created without, change at once and without an end.
        *possible.edges(lambda edge: edge not in _always_there(case)),
    ]
    spans = st.tuples(st.sampled_from(facts), st.integers(0, 40), st.none() | st.integers(1, 40))
    with company.access.write(company.tenant) as session:
        for fact, begins, lasts in data.draw(st.lists(spans, max_size=6)):
            since = session.at + begins * SECOND
            until = None if lasts is None else since + lasts * SECOND
            session.store.apply(company.with_stored_ids(Add(fact)), since=since, until=until)


def _always_there(case: Case) -> set[str]:
    schemas = [kind.schema for kind in case.policy.kinds.values()]
    return {name for schema in schemas for name in (schema.parent, *schema.required_edges) if name}


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Case, Case]:
    """Two companies under the same models, each with an Owner."""
    name = draw(st.sampled_from([name for name in shipped_policy().models if name != "tenant"]))
    return _owned(draw(cases(shipped_policy(), [name]))), _owned(draw(cases(shipped_policy(), [name])))


@st.composite
def random_pairs(draw: st.DrawFn) -> tuple[Case, Case]:
    """Two companies under one random model."""
    model = draw(texts(draw(sketches(plain=False)), gathered=False))
    policy = random_policy(model)
    return _owned(draw(cases(policy, [NAME], model))), _owned(draw(cases(policy, [NAME], model)))


def _owned(case: Case) -> Case:
    return replace(case, changes=(OWNED, *case.changes))


@pytest.mark.parametrize("kind_of_pair", [pairs(), random_pairs()], ids=["shipped", "random"])
@examples(12)
@given(data=st.data())
def test_any_tenant_becomes_any_other(
    shared: Database, kind_of_pair: st.SearchStrategy[tuple[Case, Case]], data: st.DataObject
) -> None:
    one, other = data.draw(kind_of_pair)
    clock = StoppedClock()
    first, second = store_case(shared, one, clock), store_case(shared, other, clock)
    _schedule(first, one, data)
    _schedule(second, other, data)
    files = export_as_owner(first.access, first.tenant)
    made = apply_files(second.access, second.tenant, files)
    note(plan_text.render_plan(made, rows=True))
    assert plan.load_plan(plan.dump_plan(made)).steps == made.steps
    assert export_as_owner(second.access, second.tenant) == files
