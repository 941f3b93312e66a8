"""Whoever comes first becomes the Owner; nobody does so a second time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from lakehold import workspaces
from lakehold.directory import tenants
from lakehold.directory.authentication import PasswordMethod, sign_in
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.directory.tenants import CreatedTenant, TenantSetup
from lakehold.kit.errors import ConflictError, InvalidInputError, LakeholdError
from tests.directory.acme import HOME, SECRET

OLGA = TenantSetup("Corner & Main", "Olga", "olga@example.org", SECRET)


def begin(platform: Platform, tenant_setup: TenantSetup = OLGA) -> CreatedTenant:
    return tenants.create_tenant(platform, workspaces.models(), tenant_setup, first=True, client=HOME)


def test_the_first_one_becomes_the_owner_and_signs_in(empty_platform: Platform) -> None:
    assert tenants.is_setup_open(empty_platform)
    founded = begin(empty_platform)
    assert not tenants.is_setup_open(empty_platform)
    assert founded.tenant == "corner-main"
    assert sign_in(empty_platform, PasswordMethod("olga@example.org", SECRET), HOME).member == founded.owner
    with empty_platform.read(Caller(founded.tenant, founded.owner)) as ctx:
        ctx.need("manage_owners", founded.tenant)
        assert not ctx.audit.verify().fault
        assert {kind.split(".")[0] for kind in ctx.view.policy.kinds} >= {"marts", "lakehouse", "spaces", "products"}


def test_a_second_one_is_refused(empty_platform: Platform) -> None:
    begin(empty_platform)
    with pytest.raises(ConflictError, match="set up already"):
        begin(empty_platform, TenantSetup("Another", "Eve", "eve@example.org", SECRET))
    assert [tenant.name for tenant in tenants.list_all(empty_platform)] == ["Corner & Main"]


def test_of_two_at_the_same_moment_one_is_refused(empty_platform: Platform) -> None:
    def open_page(n: int) -> str:
        try:
            return begin(empty_platform, TenantSetup(f"Tenant {n}", "Olga", "olga@example.org", SECRET)).tenant
        except LakeholdError as error:
            return error.code

    with ThreadPoolExecutor(4) as pool:
        outcomes = sorted(pool.map(open_page, range(4)))
    assert outcomes[:3] == ["conflict"] * 3
    assert [tenant.uid for tenant in tenants.list_all(empty_platform)] == outcomes[3:]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (TenantSetup("", "Olga", "olga@example.org", SECRET), "name must not be empty"),
        (TenantSetup("Acme", " ", "olga@example.org", SECRET), "owner must not be empty"),
        (TenantSetup("Acme", "Olga", "olga", SECRET), "not an e-mail address"),
        (TenantSetup("Acme", "Olga", "olga@example.org", "short"), "10 to 1,000"),
        (TenantSetup("Acme", "Olga", "olga@example.org", "Olga@Example.org"), "your name or e-mail"),
        (TenantSetup("Acme", "Olga", "olga@example.org", SECRET, "a\0b"), "control character"),
    ],
)
def test_what_cannot_be_leaves_nothing_behind(empty_platform: Platform, wrong: TenantSetup, says: str) -> None:
    with pytest.raises(InvalidInputError, match=says):
        begin(empty_platform, wrong)
    assert tenants.is_setup_open(empty_platform)


def test_a_name_without_latin_letters_gets_an_id_too(empty_platform: Platform) -> None:
    assert begin(empty_platform, TenantSetup("日本", "Olga", "olga@example.org", SECRET)).tenant == "tenant"
