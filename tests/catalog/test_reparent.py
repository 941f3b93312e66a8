"""A move keeps direct grants, needs rights on both sides, and tells before what it would do."""

from __future__ import annotations

import pytest

from lakehold.access import Add, Grant
from lakehold.catalog import resource_edit, resources
from lakehold.catalog.resource_metadata import VersionConflictError
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.kit.errors import ConflictError, InvalidInputError
from tests.demo_company import DemoPlatform, as_member


def test_a_move_keeps_what_was_granted_on_the_thing_itself(corner: DemoPlatform) -> None:
    with corner.write(as_member("mona")) as ctx:
        ctx.make(Add(Grant("nils", "viewer", "orders")))
        assert resource_edit.reparent(ctx, "orders", "shaped", expect_version=1) == 2
        table = resources.get(ctx, "orders")
    assert table.parent is not None
    assert (table.parent.uid, table.version) == ("shaped", 2)
    with corner.read(as_member("nils")) as ctx:
        assert ctx.session.check("nils", "read", "orders")
        assert not ctx.session.check("erik", "edit", "orders"), "what came from the layer stays there"


def test_a_preview_is_what_the_move_then_does(corner: DemoPlatform) -> None:
    with corner.read(as_member("mona")) as ctx:
        effects = resource_edit.preview_reparent(ctx, "orders", "shaped")
        foretold = {(row.member, row.action, row.gained) for row in effects.rows() if row.resource == "orders"}
        before = {who: set(ctx.session.actions(who, "orders")) for who in ("erik", "ana", "bella", "mona")}
        assert foretold
    with corner.write(as_member("mona")) as ctx:
        resource_edit.reparent(ctx, "orders", "shaped")
        after = {who: set(ctx.session.actions(who, "orders")) for who in before}
    for who, had in before.items():
        won = {action for member, action, gained in foretold if member == who and gained}
        lost = {action for member, action, gained in foretold if member == who and not gained}
        assert (after[who] - had, had - after[who]) == (won, lost)


def test_rights_are_needed_on_both_sides(corner: DemoPlatform) -> None:
    with pytest.raises(DeniedError), corner.write(as_member("erik")) as ctx:
        resource_edit.reparent(ctx, "orders", "raw")
    with pytest.raises(DeniedError), corner.read(as_member("erik")) as ctx:
        resource_edit.preview_reparent(ctx, "orders", "raw")
    with pytest.raises(HiddenError), corner.write(as_member("mona")) as ctx:
        resource_edit.reparent(ctx, "orders", "private")
    with corner.write(as_member("olga")) as ctx:
        ctx.make(Add(Grant("mona", "viewer", "private")))
    with pytest.raises(DeniedError), corner.write(as_member("mona")) as ctx:
        resource_edit.reparent(ctx, "orders", "private")


def test_a_report_goes_to_another_mart(corner: DemoPlatform) -> None:
    with corner.write(as_member("boris")) as ctx:
        resource_edit.reparent(ctx, "returns_watch", "baskets")
        report = resources.get(ctx, "returns_watch")
        assert report.parent is not None
        assert report.parent.uid == "baskets"


def test_a_move_to_where_it_is_changes_nothing(corner: DemoPlatform) -> None:
    with corner.write(as_member("mona")) as ctx:
        assert resource_edit.reparent(ctx, "orders", "clean") == 1
    assert corner.log() == []


def test_what_cannot_be(corner: DemoPlatform) -> None:
    with corner.write(as_member("olga")) as ctx:
        with pytest.raises(ConflictError, match="cannot be moved"):
            resource_edit.reparent(ctx, "clean", "lake_house")
        with pytest.raises(InvalidInputError, match="cannot point at"):
            resource_edit.reparent(ctx, "orders", "sales")
        with pytest.raises(VersionConflictError):
            resource_edit.reparent(ctx, "orders", "raw", expect_version=7)
