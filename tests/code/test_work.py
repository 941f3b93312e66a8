"""With the hands that ask for every right and write everything down."""

from __future__ import annotations

import pytest

from lakehold.access.facts.records import Grant
from lakehold.code import apply, export, loads, plan
from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError
from lakehold.directory.installation import Installation
from lakehold.ledger.audit import Filter
from tests.house import ADA, ANN, BOB

LAKE = "workspaces/lake.yaml"


def edited(house: Installation) -> dict[str, str]:
    with house.read(ADA) as work:
        files = export(work.session)
    files[LAKE] = files[LAKE].replace(
        "orders: {name: Orders}", "orders: {name: All orders, viewer: bob}\n              items: {}"
    )
    files["people.yaml"] += "\ngroups:\n  makers: {members: [bob]}\n"
    return files


def made(house: Installation, caller: Caller, files: dict[str, str]) -> None:
    declared = loads(files)
    with house.read(caller) as work:
        found = plan(work.session, declared)
    with house.write(caller) as work:
        apply(work, found, declared)


def test_an_owner_applies(house: Installation) -> None:
    files = edited(house)
    made(house, ADA, files)
    with house.read(ANN) as work:
        assert plan(work.session, loads(files)).is_empty
        assert work.session.check("bob", "read", "orders")
        assert work.view.granted(work.view.resource("items")) == []
        assert Grant("bob", "viewer", "orders") in work.grants("orders")
        noted = [numbered.entry.action for numbered in work.audit.page(Filter())]
        assert work.audit.verify().fault == ""
    assert {"create", "grant", "rename"} <= set(noted)


def test_who_may_not_change_it_may_not_apply_it(house: Installation) -> None:
    files = edited(house)
    with house.read(ADA) as work:
        before = export(work.session)
    with pytest.raises(DeniedError):
        made(house, BOB, files)
    with house.read(ADA) as work:
        assert export(work.session) == before
