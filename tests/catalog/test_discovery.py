"""What its keepers have made discoverable can be found by name and asked for; nothing else of it shows."""

from __future__ import annotations

import pytest

from lakehold.access import Add, Attribute, TokenPrincipal
from lakehold.catalog import approvals, discovery, requests, resources
from lakehold.catalog.resource_edit import ResourceEdit, apply_edit
from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.kit.errors import InvalidInputError
from tests.demo_company import TENANT, DemoPlatform, as_member


@pytest.fixture
def found(corner: DemoPlatform) -> DemoPlatform:
    """Salaries can be found."""
    with corner.write(as_member("adam")) as ctx:
        apply_edit(
            ctx, "salaries", ResourceEdit(description="What everybody earns.", attributes={"discoverable": True})
        )
    return corner


def names(platform: DemoPlatform, who: str, search: str = "", kind: str | None = None) -> list[str]:
    with platform.read(as_member(who)) as ctx:
        return [item.uid for item in discovery.find(ctx, search, kind=kind).items]


def test_nothing_is_found_unless_its_keepers_want_it(corner: DemoPlatform) -> None:
    for who in ("bella", "nils", "tim"):
        assert names(corner, who) == []


def test_name_description_and_kind_are_found_and_nothing_more(found: DemoPlatform) -> None:
    with found.read(as_member("bella")) as ctx:
        (item,) = discovery.find(ctx, "SALAR").items
    assert (item.uid, item.kind, item.name, item.description) == (
        "salaries",
        "lakehouse.table",
        "salaries",
        "What everybody earns.",
    )
    assert item.workspace is not None  # Bella is in the lakehouse
    with found.read(as_member("nils")) as ctx:
        assert discovery.find(ctx).items[0].workspace is None
    with pytest.raises(HiddenError), found.read(as_member("bella")) as ctx:
        resources.get(ctx, "salaries")
    assert names(found, "bella", "orders") == []
    assert names(found, "bella", kind="lakehouse.layer") == []
    assert names(found, "bella", kind="lakehouse.table") == ["salaries"]


def test_what_one_may_see_is_not_found_here(found: DemoPlatform) -> None:
    for who in ("adam", "carla"):
        assert names(found, who) == []


def test_what_is_found_can_be_asked_for_by_name(found: DemoPlatform) -> None:
    with found.write(as_member("nils")) as ctx:
        access_request = requests.create(ctx, "read", "salaries")
        assert access_request.resource is not None
        assert access_request.resource.name == "salaries"
    with found.write(as_member("adam")) as ctx:
        approvals.approve(ctx, access_request.request.uid)
    with found.read(as_member("nils")) as ctx:
        assert resources.get(ctx, "salaries").name == "salaries"
        assert discovery.find(ctx).items == []


def test_who_may_make_it_discoverable(corner: DemoPlatform) -> None:
    for who, uid in (
        ("tara", "daily_sales"),
        ("tara", "lake"),
        ("boris", "chat"),
        ("mona", "clean"),
        ("mona", "orders"),
        ("mona", "clean_files"),
        ("petra", "landing"),
        ("petra", "land_tills"),
        ("bella", "sales_cockpit"),
        ("adam", "masters"),
        ("mona", "customer"),
    ):
        with corner.write(as_member(who)) as ctx:
            apply_edit(ctx, uid, ResourceEdit(attributes={"discoverable": True}))
    assert len(names(corner, "nils")) == 11 - 1  # the app is his to see
    for who, uid in (("tim", "store_targets"), ("erik", "items"), ("otto", "serving"), ("petra", "suppliers_360")):
        with pytest.raises(DeniedError, match="discoverable"), corner.write(as_member(who)) as ctx:
            apply_edit(ctx, uid, ResourceEdit(attributes={"discoverable": True}))


def test_a_personal_space_is_never_found(corner: DemoPlatform) -> None:
    with pytest.raises(DeniedError), corner.write(as_member("olga")) as ctx:
        apply_edit(ctx, "olgas", ResourceEdit(attributes={"discoverable": True}))


def test_what_is_deleted_is_not_found(corner: DemoPlatform) -> None:
    with corner.write(as_member("boris")) as ctx:
        apply_edit(ctx, "chat", ResourceEdit(attributes={"discoverable": True}))
    assert names(corner, "nils") == ["chat"]
    with corner.write(as_member("boris")) as ctx:
        resources.delete(ctx, "chat")
    assert names(corner, "nils") == []


def test_what_was_discoverable_for_a_time(corner: DemoPlatform) -> None:
    with corner.write(as_member("adam")) as ctx:
        ctx.make(Add(Attribute("salaries", "discoverable", "true")), until=ctx.at + 86_400_000_000)
    assert names(corner, "nils") == ["salaries"]
    corner.hand.advance_days(1)
    assert names(corner, "nils") == []


def test_pages_follow_each_other_in_the_order_of_names(corner: DemoPlatform, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discovery, "_AT_ONCE", 2)
    with corner.write(as_member("adam")) as ctx:
        for n, name in enumerate(("Äpfel", "apples", "Birnen", "Zebras", "quinces", "Quitten")):
            resources.create(
                ctx,
                "lakehouse.table",
                name,
                uid=f"fruit{n}",
                edges={"layer": "private"},
                attributes={"discoverable": True},
            )
    seen: list[str] = []
    after = None
    with corner.read(as_member("nils")) as ctx:
        while True:
            page = discovery.find(ctx, after=after, limit=2)
            seen += [item.name for item in page.items]
            after = page.after
            if after is None:
                break
    assert seen == ["apples", "Birnen", "quinces", "Quitten", "Zebras", "Äpfel"]


def test_a_narrowed_token_finds_in_its_own_resources_only(found: DemoPlatform) -> None:
    for place, seen in (("clean", []), ("private", ["salaries"])):
        narrowed = Caller(TENANT, "bella", narrowed=TokenPrincipal("bella", resources=frozenset({place})), token_id="t")
        with found.read(narrowed) as ctx:
            assert [item.uid for item in discovery.find(ctx).items] == seen


@pytest.mark.parametrize("given", [{"limit": 0}, {"limit": 201}, {"after": "x"}, {"after": "WyJmb3VuZCIsIDEsIDJd"}])
def test_bad_input(corner: DemoPlatform, given: dict[str, object]) -> None:
    with pytest.raises(InvalidInputError), corner.read(as_member("nils")) as ctx:
        discovery.find(ctx, **given)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError), corner.read(as_member("nils")) as ctx:
        discovery.find(ctx, kind="tenant.member")
