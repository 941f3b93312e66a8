"""What files bring in and do not say everything of: seed 000, existing resources were migrated to both toggles on."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from lakehold import workspaces
from lakehold.access.engine import AccessEngine
from lakehold.access.facts.records import Attribute
from lakehold.access_as_code import parse_files, run_files
from lakehold.access_as_code.plan_text import render_plan
from lakehold.kit.database import Database
from tests.access_as_code.direct_writer import apply_files, export_as_owner, plan_files

TENANT = "acme"
COMPANY = """\
tenant: {name: Acme, owner: ann}
members: {ann: {}, bob: {}, tom: {}}
workspaces:
  sales:
    kind: marts.project
    business_user: bob
    technical_user: tom
    holds:
      storage: {lake: {owner: ann}}
      data_mart: {orders: {technical_owner: ann, storage: lake}}
      destination: {sheet: {owner: ann}}
tests:
  - {who: tom, can: [see, use, edit, delete], on: [lake, orders, sheet]}
  - {who: tom, cannot: [configure_sharing, manage_owners], on: [lake, orders, sheet]}
  - {who: bob, can: [see, use], on: [orders, sheet]}
"""
TOGGLES = {
    "lake": ("shared_for_use", "shared_for_maintenance"),
    "orders": ("shared_for_reporting", "shared_for_maintenance"),
    "sheet": ("shared_for_use", "shared_for_maintenance"),
}
SAID = {
    "lake": "lake: {owner: ann",
    "orders": "orders: {technical_owner: ann, storage: lake",
    "sheet": "sheet: {owner: ann",
}


@pytest.fixture
def acme(database: Database) -> AccessEngine:
    access = AccessEngine(database)
    access.create_tenant(TENANT, "Acme", workspaces.models())
    return access


def files(company: str = COMPANY) -> dict[str, str]:
    return {"acme.yaml": company}


def saying(uid: str, words: str) -> dict[str, str]:
    """The same company, with something more said of one thing."""
    return files(COMPANY.replace(SAID[uid], f"{SAID[uid]}, {words}"))


def toggles(access: AccessEngine) -> Mapping[str, tuple[str, ...]]:
    with access.read(TENANT) as session:
        return session.read_view(
            lambda view: {
                uid: tuple(view.attributes[name].get(view.resource(uid)) or "false" for name in names)
                for uid, names in TOGGLES.items()
            }
        )


def test_what_files_bring_in_begins_with_both_toggles_on(acme: AccessEngine) -> None:
    made = apply_files(acme, TENANT, files())
    plan_text = render_plan(made)
    for names in TOGGLES.values():
        for name in names:
            assert f"+ {name} true\n" in plan_text, name
    assert set(toggles(acme).values()) == {("true", "true")}


def test_to_apply_it_again_changes_nothing(acme: AccessEngine) -> None:
    apply_files(acme, TENANT, files())
    assert not plan_files(acme, TENANT, files()).steps


def test_the_assertions_of_files_know_it_too() -> None:
    assert run_files(parse_files(files())).exit_code == 0


@pytest.mark.parametrize("uid", TOGGLES)
@pytest.mark.parametrize("place", [0, 1])
def test_what_a_file_says_is_obeyed(acme: AccessEngine, uid: str, place: int) -> None:
    said = saying(uid, f"{TOGGLES[uid][place]}: false")
    apply_files(acme, TENANT, said)
    assert toggles(acme)[uid] == tuple("false" if n == place else "true" for n in range(2))
    assert not plan_files(acme, TENANT, said).steps


def test_a_toggle_for_a_time_is_not_on_before(acme: AccessEngine) -> None:
    said = saying("orders", "shared_for_reporting: {is: true, from: 2999-01-01}")
    apply_files(acme, TENANT, said)
    assert toggles(acme)["orders"] == ("false", "true")
    assert not plan_files(acme, TENANT, said).steps


def test_an_export_says_both_and_applied_again_changes_nothing(acme: AccessEngine) -> None:
    apply_files(acme, TENANT, saying("sheet", "shared_for_maintenance: false"))
    with acme.write(TENANT) as session:
        # As people make them, without files: both are off.
        session.store.create("marts.storage", "Cellar", uid="cellar", edges={"project": "sales"})
        session.store.add(Attribute("lake", "shared_for_use", "false"))
    text = export_as_owner(acme, TENANT)
    everything = "\n".join(text.values())
    assert "cellar: {name: Cellar, shared_for_use: false, shared_for_maintenance: false}" in everything
    assert "lake: {owner: ann, shared_for_use: false, shared_for_maintenance: true}" in everything
    assert "sheet: {owner: ann, shared_for_use: true, shared_for_maintenance: false}" in everything
    assert not plan_files(acme, TENANT, text).steps
    acme.create_tenant("other", "Other", workspaces.models())
    apply_files(acme, "other", text)
    assert export_as_owner(acme, "other") == text


def test_nothing_is_opened_by_a_file_for_who_may_not_be_let_in(acme: AccessEngine) -> None:
    """A Business User gets nothing from a Storage, and nothing but use from a Data Mart, however it came here."""
    apply_files(acme, TENANT, files())
    with acme.read(TENANT) as session:
        assert session.actions("bob", "lake") == []
        assert session.actions("bob", "orders") == ["see", "use"]
