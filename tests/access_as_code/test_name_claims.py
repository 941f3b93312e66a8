"""A plan takes a name after the step that frees it, and says when it never is free."""

from __future__ import annotations

import pytest

from lakehold.access.engine import AccessEngine
from lakehold.access.facts.names import NameTakenError
from lakehold.demo import company
from tests.access_as_code.direct_writer import apply_files, plan_files

LAKE = "workspaces/store-lake.yaml"
TABLES = "              orders: {}\n              shipments: {}\n"


def with_tables(files: dict[str, str], text: str) -> dict[str, str]:
    assert files[LAKE].count(TABLES) == 1
    return {**files, LAKE: files[LAKE].replace(TABLES, text)}


def test_names_go_on_in_the_order_in_which_they_are_freed(access: AccessEngine, files: dict[str, str]) -> None:
    after = with_tables(
        files,
        "              booked: {name: Shipments}\n              orders: {}\n              shipments: {name: sent}\n",
    )
    apply_files(access, company.TENANT, after)
    with access.read(company.TENANT) as session:
        view = session.current_view()
        assert [view.names.get(view.resource(uid)) for uid in ("booked", "shipments")] == ["Shipments", "sent"]


@pytest.mark.parametrize(
    "tables",
    [
        "              orders: {}\n              more_orders: {name: Orders}\n              shipments: {}\n",
        "              orders: {}\n              shipments: {name: orders}\n",
        "              orders: {name: shipments}\n              shipments: {name: orders}\n",
    ],
    ids=["a new one", "a renamed one", "two that swap"],
)
def test_a_name_that_is_never_free_is_refused(access: AccessEngine, files: dict[str, str], tables: str) -> None:
    with pytest.raises(NameTakenError) as refused:
        plan_files(access, company.TENANT, with_tables(files, tables))
    assert refused.value.field == "name"
    assert "cannot be called" in refused.value.message
