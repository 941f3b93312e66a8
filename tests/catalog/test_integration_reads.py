"""The token of an integration reads what its member may read, and the author of what it reads too."""

from __future__ import annotations

import pytest

from lakehold.access import Grant
from lakehold.catalog import integration_reads, resource_edit, resource_metadata, resources
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.directory import member_removal, tokens
from lakehold.directory.platform import Platform
from lakehold.workspaces.lakehouse import integrations
from tests.platform import ADA, ANN, BOB

TENANT = ADA.tenant


@pytest.fixture
def secret(platform: Platform) -> str:
    """The secret of Ann's token for an integration of hers, which Bob lets read stores too."""
    with platform.access.write(TENANT) as session:
        session.store.create("lakehouse.table", "Stores", uid="stores", edges={"layer": "bronze"})
        session.store.add(Grant("bob", "member", "lh"))
        for table in ("orders", "stores"):
            session.store.add(Grant("bob", "editor", table))
    with platform.write(ANN) as ctx:
        resources.create(ctx, "lakehouse.integration", "BI", uid="bi", edges={"lakehouse": "lh", "reads": ["orders"]})
        secret = integrations.create_token(ctx, "bi").secret
    with platform.write(BOB) as ctx:
        resource_edit.apply_edit(ctx, "bi", ResourceEdit(edges={"reads": ["orders", "stores"]}))
        resource_edit.apply_edit(ctx, "bi", ResourceEdit(description="For the dashboards"))
    return secret


def reads(platform: Platform, secret: str) -> set[str]:
    with platform.database.read() as transaction:
        found = tokens.find_caller(platform, transaction, secret, integration_reads.find_token_scope)
        assert found is not None
        session = platform.access.session(transaction, TENANT)
        return {table for table in ("orders", "stores") if session.check(found.principal, "read", table)}


def revoke(platform: Platform, table: str) -> None:
    with platform.access.write(TENANT) as session:
        session.store.remove(Grant("bob", "editor", table))


def test_its_author_opens_no_table_that_they_have_lost(platform: Platform, secret: str) -> None:
    with platform.read(ANN) as ctx:
        author = resource_metadata.load_author(ctx, "bi")
        assert author is not None
        assert author.caller.member == "bob"
    assert reads(platform, secret) == {"orders", "stores"}
    revoke(platform, "stores")
    assert reads(platform, secret) == {"orders"}
    with platform.write(ADA) as ctx:
        resource_edit.take_over(ctx, "bi")
    assert reads(platform, secret) == {"orders", "stores"}


def test_it_reads_nothing_when_its_author_has_left(platform: Platform, secret: str) -> None:
    with platform.write(ADA) as ctx:
        member_removal.remove(ctx, "bob")
    assert reads(platform, secret) == set()


def test_a_door_that_does_not_know_its_tables_refuses_its_token(platform: Platform, secret: str) -> None:
    with platform.database.read() as transaction:
        assert tokens.find_caller(platform, transaction, secret) is None


def test_edges_of_a_kind_without_settings_have_an_author_and_switches_none(platform: Platform, secret: str) -> None:
    with platform.write(ADA) as ctx:
        integrations.set_active(ctx, "bi", active=False)
    with platform.read(ANN) as ctx:
        assert not integration_reads.is_active(ctx, "bi")
        assert [each.caller.member for each in resource_metadata.load_authors(ctx, "bi").values()] == ["bob"]
    del secret
