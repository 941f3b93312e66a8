"""Every change is checked, made and written down; every refusal says what was missing, and is written down too."""

from __future__ import annotations

import pytest

from lakehold.access import Add, Attribute, Edge, Grant, Remove, TokenPrincipal
from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.directory.platform import Platform
from lakehold.kit.errors import ForbiddenError, NotFoundError
from lakehold.ledger.audit import DENIED, AuditFilter, NumberedEntry
from tests.access.company import TENANT
from tests.directory.acme import AcmePlatform
from tests.platform import ADA, BOB


def log(platform: Platform, entry_filter: AuditFilter | None = None) -> list[NumberedEntry]:
    with platform.read(ADA) as ctx:
        assert not ctx.audit.verify().fault
        return ctx.audit.page(entry_filter or AuditFilter())


def test_a_resource_is_made_renamed_moved_and_deleted(platform: Platform) -> None:
    with platform.write(ADA) as ctx:
        ctx.create("lakehouse.layer", "Silver", uid="silver", edges={"lakehouse": "lh"})
        ctx.create("lakehouse.table", "Customers", uid="customers", edges={"layer": "silver"})
        ctx.rename("customers", "Clients")
        ctx.make(Add(Edge("layer", "customers", "bronze")))
        ctx.make(Add(Grant("bob", "viewer", "customers")))
    with platform.read(BOB) as ctx:
        ctx.need("read", "customers")
        assert [item.name for item in ctx.session.list("bob", "see", "lakehouse.table", search="clien").items] == [
            "Clients"
        ]
    with platform.write(ADA) as ctx:
        ctx.delete("customers")
    deeds = [(line.entry.action, line.entry.resource_name) for line in reversed(log(platform))]
    assert deeds == [
        ("create", "Silver"),
        ("create", "Customers"),
        ("rename", "Clients"),
        ("link", "Clients"),
        ("grant", "Clients"),
        ("delete", "Clients"),
    ]


def test_what_may_not_be_seen_reads_like_what_is_not_there(platform: Platform) -> None:
    with platform.write(ADA) as ctx:
        ctx.create("lakehouse.layer", "Secret", uid="secret", edges={"lakehouse": "lh"})
    with pytest.raises(HiddenError) as hidden, platform.read(BOB) as ctx:
        ctx.need("edit", "secret")
    with pytest.raises(NotFoundError) as missing, platform.read(BOB) as ctx:
        ctx.need("edit", "nothing")
    assert str(hidden.value).replace("secret", "nothing") == str(missing.value)
    (line,) = log(platform, AuditFilter(outcome=DENIED))
    assert (line.entry.member, line.entry.action, line.entry.resource) == ("bob", "edit", "secret")


def test_a_denial_names_the_missing_right_and_who_could_give_it(platform: Platform) -> None:
    with platform.write(ADA) as ctx:
        ctx.make(Add(Grant("bob", "viewer", "bronze")))
    with pytest.raises(DeniedError) as denied, platform.write(BOB) as ctx:
        ctx.make(Add(Grant("bob", "editor", "bronze")))
    assert "Manager on layer" in denied.value.hint
    assert "ada" in denied.value.givers
    with platform.read(ADA) as ctx:
        assert not ctx.session.check("bob", "edit", "bronze")
    (line,) = log(platform, AuditFilter(outcome=DENIED))
    assert line.entry.action == "grant"


def test_before_and_after(platform: Platform) -> None:
    with platform.write(ADA) as ctx:
        ctx.make(Add(Attribute(TENANT, "plan", "growth")))
        ctx.make(Add(Attribute(TENANT, "plan", "starter")))
        ctx.make(Add(Grant("bob", "viewer", "bronze")))
        ctx.make(Remove(Grant("bob", "viewer", "bronze")))
    lines = [line.entry for line in reversed(log(platform))]
    assert (lines[1].before, lines[1].after["plan"]) == ({"plan": "growth"}, "starter")
    assert lines[3].before["role"] == "viewer"
    assert lines[3].after == {}


def test_a_narrowed_token_and_a_view_as_change_nothing_more(platform: Platform) -> None:
    narrowed = Caller(TENANT, "ada", narrowed=TokenPrincipal("ada", actions=frozenset({"see"})), token_id="t1")
    with pytest.raises(DeniedError), platform.write(narrowed) as ctx:
        ctx.create("lakehouse.layer", "Silver", edges={"lakehouse": "lh"})
    with pytest.raises(ForbiddenError), platform.write(Caller(TENANT, "ada", impersonator="bob")) as ctx:
        ctx.rename("bronze", "Bronze again")
    assert {line.entry.token for line in log(platform)} == {"t1"}


@pytest.mark.parametrize("value", [True, "true"])
def test_a_flag_is_set_by_a_value_of_python_too(acme: AcmePlatform, value: str) -> None:
    acme.create_resource("spaces.space", "lab", tenant="acme")
    change = Add(Attribute("lab", "discoverable", value))
    assert change == Add(Attribute("lab", "discoverable", "true"))
    with acme.platform.write(acme.olga) as ctx:
        assert ctx.session.check_change(ctx.principal, change)
        ctx.make(change)
        assert ctx.view.attributes["discoverable"].get(ctx.view.resource("lab")) == "true"
    assert "on" in str(acme.log()[-1].after["fact"])
