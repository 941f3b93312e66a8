"""Seeing with another member's eyes: read only, and written down."""

from __future__ import annotations

import pytest

from lakehold.access import Grant, TokenPrincipal
from lakehold.catalog import credentials, grants, impersonation, resources
from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.kit.errors import ConflictError, ForbiddenError, NotFoundError
from tests.demo_company import TENANT, DemoPlatform, as_member


def test_an_admin_sees_what_the_member_sees_and_changes_nothing(corner: DemoPlatform) -> None:
    with corner.write(as_member("adam")) as ctx:
        seen = impersonation.start(ctx, "bella")
    assert (seen.member, seen.impersonator) == ("bella", "adam")
    with corner.read(seen) as ctx:
        assert resources.get(ctx, "daily_sales").actions == ["see", "use"]
    with pytest.raises(HiddenError), corner.read(seen) as ctx:
        resources.get(ctx, "salaries")
    with pytest.raises(ForbiddenError, match="only reads"), corner.write(seen) as ctx:
        resources.create(ctx, "marts.destination", "Fax", edges={"project": "sales"})
    with corner.write(seen) as ctx:
        impersonation.stop(ctx)
    entries = [
        (line.entry.member, line.entry.action, line.entry.resource, line.entry.viewing_as) for line in corner.log()
    ]
    assert entries == [
        ("adam", "stop viewing as", "bella", "bella"),
        ("adam", "see", "salaries", "bella"),
        ("adam", "view as", "bella", ""),
    ]


def test_no_door_of_the_catalog_lets_a_viewer_write(corner: DemoPlatform) -> None:
    with corner.write(as_member("adam")) as ctx:
        seen = impersonation.start(ctx, "tara")
    for change in (
        lambda ctx: grants.give(ctx, Grant("tim", "owner", "lake")),
        lambda ctx: resources.delete(ctx, "lake"),
        lambda ctx: credentials.save(ctx, "lake", {"password": "x"}),
        lambda ctx: credentials.copy(ctx, "lake"),
    ):
        with pytest.raises(ForbiddenError, match="only reads"), corner.write(seen) as ctx:
            change(ctx)


def test_only_admins_view_as_others(corner: DemoPlatform) -> None:
    for who in ("bella", "edith", "dana", "mona"):
        with pytest.raises(DeniedError), corner.write(as_member(who)) as ctx:
            impersonation.start(ctx, "nils")


def test_an_admin_does_not_view_as_an_owner(corner: DemoPlatform) -> None:
    with pytest.raises(DeniedError), corner.write(as_member("adam")) as ctx:
        impersonation.start(ctx, "olga")
    with corner.write(as_member("adam")) as ctx:
        ctx.session.store.add(Grant("nils", "owner", TENANT))
    with pytest.raises(DeniedError), corner.write(as_member("adam")) as ctx:
        impersonation.start(ctx, "nils")
    with corner.write(as_member("olga")) as ctx:
        assert impersonation.start(ctx, "nils").impersonator == "olga"
        assert impersonation.start(ctx, "adam").member == "adam"


def test_one_at_a_time(corner: DemoPlatform) -> None:
    with corner.write(as_member("olga")) as ctx:
        seen = impersonation.start(ctx, "adam")
        with pytest.raises(ConflictError, match="view as yourself"):
            impersonation.start(ctx, "olga")
        with pytest.raises(ConflictError, match="not viewing as another"):
            impersonation.stop(ctx)
    with pytest.raises(ConflictError, match="already viewing as"), corner.write(seen) as ctx:
        impersonation.start(ctx, "bella")


def test_it_is_never_begun_without_a_line_in_the_log(corner: DemoPlatform) -> None:
    with pytest.raises(ForbiddenError, match="read-only"), corner.read(as_member("adam")) as ctx:
        impersonation.start(ctx, "bella")
    with corner.write(as_member("adam")) as ctx:
        seen = impersonation.start(ctx, "bella")
    with pytest.raises(ForbiddenError, match="read-only"), corner.read(seen) as ctx:
        impersonation.stop(ctx)


def test_what_cannot_be(corner: DemoPlatform) -> None:
    with pytest.raises(NotFoundError), corner.write(as_member("olga")) as ctx:
        impersonation.start(ctx, "nobody")
    with pytest.raises(NotFoundError), corner.write(as_member("olga")) as ctx:
        impersonation.start(ctx, "analysts")
    narrowed = Caller(
        TENANT, "olga", narrowed=TokenPrincipal("olga", actions=frozenset({"see", "view_as"})), token_id="t"
    )
    with pytest.raises(ForbiddenError, match="narrowed"), corner.write(narrowed) as ctx:
        impersonation.start(ctx, "bella")
