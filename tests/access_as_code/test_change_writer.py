"""With the hands that ask for every right and write everything down."""

from __future__ import annotations

import pytest

from lakehold.access.facts.records import Grant
from lakehold.access_as_code import export_tenant, make_plan, parse_files
from lakehold.access_as_code.tenant_writer import apply_as_caller
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.kit.errors import ForbiddenError
from lakehold.ledger.audit import AuditFilter
from tests.platform import ADA, ANN, BOB

LAKE = "workspaces/lake.yaml"


def edited(platform: Platform) -> dict[str, str]:
    with platform.read(ADA) as ctx:
        files = export_tenant(ctx.session)
    files[LAKE] = files[LAKE].replace(
        "orders: {name: Orders}", "orders: {name: All orders, viewer: bob}\n              items: {}"
    )
    files["people.yaml"] += "\ngroups:\n  makers: {members: [bob]}\n"
    return files


def made(platform: Platform, caller: Caller, files: dict[str, str]) -> None:
    declared = parse_files(files)
    with platform.read(caller) as ctx:
        found = make_plan(ctx.session, declared)
    with platform.write(caller) as ctx:
        apply_as_caller(ctx, found, declared)


def test_an_owner_applies(platform: Platform) -> None:
    files = edited(platform)
    made(platform, ADA, files)
    with platform.read(ANN) as ctx:
        assert make_plan(ctx.session, parse_files(files)).is_empty
        assert ctx.session.check("bob", "read", "orders")
        assert ctx.view.grants_on(ctx.view.resource("items")) == []
        assert Grant("bob", "viewer", "orders") in ctx.grants("orders")
        noted = [numbered.entry.action for numbered in ctx.audit.page(AuditFilter())]
        assert ctx.audit.verify().fault == ""
    assert {"create", "grant", "rename"} <= set(noted)


def test_who_may_not_change_it_may_not_apply_it(platform: Platform) -> None:
    files = edited(platform)
    with platform.read(ADA) as ctx:
        before = export_tenant(ctx.session)
    with pytest.raises(ForbiddenError):
        made(platform, BOB, files)
    with platform.read(ADA) as ctx:
        assert export_tenant(ctx.session) == before
