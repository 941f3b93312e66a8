"""Seeing with another member's eyes: read only, and written down."""

from __future__ import annotations

import pytest

from lakehold.access import Grant, Token
from lakehold.catalog import credentials, grants, resources, viewing
from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.kit.errors import ConflictError, ForbiddenError, NotFoundError
from tests.corner import TENANT, Corner, by


def test_an_admin_sees_what_the_member_sees_and_changes_nothing(corner: Corner) -> None:
    with corner.write(by("adam")) as work:
        seen = viewing.begin(work, "bella")
    assert (seen.member, seen.behind) == ("bella", "adam")
    with corner.read(seen) as work:
        assert resources.get(work, "daily_sales").actions == ["see", "use"]
    with pytest.raises(HiddenError), corner.read(seen) as work:
        resources.get(work, "salaries")
    with pytest.raises(ForbiddenError, match="only reads"), corner.write(seen) as work:
        resources.create(work, "marts.destination", "Fax", edges={"project": "sales"})
    with corner.write(seen) as work:
        viewing.end(work)
    told = [(line.entry.member, line.entry.action, line.entry.resource, line.entry.viewing_as) for line in corner.log()]
    assert told == [
        ("adam", "stop viewing as", "bella", "bella"),
        ("adam", "see", "salaries", "bella"),
        ("adam", "view as", "bella", ""),
    ]


def test_no_door_of_the_catalog_lets_a_viewer_write(corner: Corner) -> None:
    with corner.write(by("adam")) as work:
        seen = viewing.begin(work, "tara")
    for change in (
        lambda work: grants.give(work, Grant("tim", "owner", "lake")),
        lambda work: resources.delete(work, "lake"),
        lambda work: credentials.put(work, "lake", {"password": "x"}),
        lambda work: credentials.copy(work, "lake"),
    ):
        with pytest.raises(ForbiddenError, match="only reads"), corner.write(seen) as work:
            change(work)


def test_only_admins_view_as_others(corner: Corner) -> None:
    for who in ("bella", "edith", "dana", "mona"):
        with pytest.raises(DeniedError), corner.write(by(who)) as work:
            viewing.begin(work, "nils")


def test_an_admin_does_not_view_as_an_owner(corner: Corner) -> None:
    with pytest.raises(DeniedError), corner.write(by("adam")) as work:
        viewing.begin(work, "olga")
    with corner.write(by("adam")) as work:
        work.session.store.add(Grant("nils", "owner", TENANT))
    with pytest.raises(DeniedError), corner.write(by("adam")) as work:
        viewing.begin(work, "nils")
    with corner.write(by("olga")) as work:
        assert viewing.begin(work, "nils").behind == "olga"
        assert viewing.begin(work, "adam").member == "adam"


def test_one_at_a_time(corner: Corner) -> None:
    with corner.write(by("olga")) as work:
        seen = viewing.begin(work, "adam")
        with pytest.raises(ConflictError, match="your own eyes"):
            viewing.begin(work, "olga")
        with pytest.raises(ConflictError, match="nobody else"):
            viewing.end(work)
    with pytest.raises(ConflictError, match="already view as"), corner.write(seen) as work:
        viewing.begin(work, "bella")


def test_it_is_never_begun_without_a_line_in_the_log(corner: Corner) -> None:
    with pytest.raises(ForbiddenError, match="only reads"), corner.read(by("adam")) as work:
        viewing.begin(work, "bella")
    with corner.write(by("adam")) as work:
        seen = viewing.begin(work, "bella")
    with pytest.raises(ForbiddenError, match="only reads"), corner.read(seen) as work:
        viewing.end(work)


def test_what_cannot_be(corner: Corner) -> None:
    with pytest.raises(NotFoundError), corner.write(by("olga")) as work:
        viewing.begin(work, "nobody")
    with pytest.raises(NotFoundError), corner.write(by("olga")) as work:
        viewing.begin(work, "analysts")
    narrowed = Caller(TENANT, "olga", narrowed=Token("olga", actions=frozenset({"see", "view_as"})), token_id="t")
    with pytest.raises(ForbiddenError, match="narrowed"), corner.write(narrowed) as work:
        viewing.begin(work, "bella")
