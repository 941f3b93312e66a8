"""Every change is checked, made and written down; every refusal says what was missing, and is written down too."""

from __future__ import annotations

import pytest

from lakehold.access import Add, Attribute, Edge, Grant, Remove, Token
from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.directory.installation import Installation
from lakehold.kit.errors import ForbiddenError, NotFoundError
from lakehold.ledger.audit import DENIED, Filter, Numbered
from tests.access.company import TENANT
from tests.house import ADA, BOB


def log(house: Installation, wanted: Filter | None = None) -> list[Numbered]:
    with house.read(ADA) as work:
        assert not work.audit.verify().fault
        return work.audit.page(wanted or Filter())


def test_a_resource_is_made_renamed_moved_and_deleted(house: Installation) -> None:
    with house.write(ADA) as work:
        work.create("lakehouse.layer", "Silver", uid="silver", edges={"lakehouse": "lh"})
        work.create("lakehouse.table", "Customers", uid="customers", edges={"layer": "silver"})
        work.rename("customers", "Clients")
        work.make(Add(Edge("layer", "customers", "bronze")))
        work.make(Add(Grant("bob", "viewer", "customers")))
    with house.read(BOB) as work:
        work.need("read", "customers")
        assert [item.name for item in work.session.list("bob", "see", "lakehouse.table", search="clien").items] == [
            "Clients"
        ]
    with house.write(ADA) as work:
        work.delete("customers")
    deeds = [(line.entry.action, line.entry.resource_name) for line in reversed(log(house))]
    assert deeds == [
        ("create", "Silver"),
        ("create", "Customers"),
        ("rename", "Clients"),
        ("link", "Clients"),
        ("grant", "Clients"),
        ("delete", "Clients"),
    ]


def test_what_may_not_be_seen_reads_like_what_is_not_there(house: Installation) -> None:
    with house.write(ADA) as work:
        work.create("lakehouse.layer", "Secret", uid="secret", edges={"lakehouse": "lh"})
    with pytest.raises(HiddenError) as hidden, house.read(BOB) as work:
        work.need("edit", "secret")
    with pytest.raises(NotFoundError) as missing, house.read(BOB) as work:
        work.need("edit", "nothing")
    assert str(hidden.value).replace("secret", "nothing") == str(missing.value)
    (line,) = log(house, Filter(outcome=DENIED))
    assert (line.entry.member, line.entry.action, line.entry.resource) == ("bob", "edit", "secret")


def test_a_denial_names_the_missing_right_and_who_could_give_it(house: Installation) -> None:
    with house.write(ADA) as work:
        work.make(Add(Grant("bob", "viewer", "bronze")))
    with pytest.raises(DeniedError) as denied, house.write(BOB) as work:
        work.make(Add(Grant("bob", "editor", "bronze")))
    assert "Manager on layer" in denied.value.hint
    assert "ada" in denied.value.givers
    with house.read(ADA) as work:
        assert not work.session.check("bob", "edit", "bronze")
    (line,) = log(house, Filter(outcome=DENIED))
    assert line.entry.action == "grant"


def test_before_and_after(house: Installation) -> None:
    with house.write(ADA) as work:
        work.make(Add(Attribute(TENANT, "plan", "growth")))
        work.make(Add(Attribute(TENANT, "plan", "starter")))
        work.make(Add(Grant("bob", "viewer", "bronze")))
        work.make(Remove(Grant("bob", "viewer", "bronze")))
    lines = [line.entry for line in reversed(log(house))]
    assert (lines[1].before, lines[1].after["plan"]) == ({"plan": "growth"}, "starter")
    assert lines[3].before["role"] == "viewer"
    assert lines[3].after == {}


def test_a_narrowed_token_and_a_view_as_change_nothing_more(house: Installation) -> None:
    narrowed = Caller(TENANT, "ada", narrowed=Token("ada", actions=frozenset({"see"})), token_id="t1")
    with pytest.raises(DeniedError), house.write(narrowed) as work:
        work.create("lakehouse.layer", "Silver", edges={"lakehouse": "lh"})
    with pytest.raises(ForbiddenError), house.write(Caller(TENANT, "ada", behind="bob")) as work:
        work.rename("bronze", "Bronze again")
    assert {line.entry.token for line in log(house)} == {"t1"}
