"""Resources of every kind: make, get, list, search, delete, restore."""

from __future__ import annotations

import json

import pytest

from lakehold.access import Add, Adopt, Attribute, Grant, TokenPrincipal
from lakehold.catalog import credentials, resource_metadata, resources, workspaces
from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.kit.errors import ConflictError, ForbiddenError, InvalidInputError, NotFoundError
from tests.demo_company import TENANT, DemoPlatform, as_member


def test_a_resource_is_made_from_a_draft_and_read_back(corner: DemoPlatform) -> None:
    with corner.write(as_member("tara")) as ctx:
        made = resources.create(
            ctx,
            "marts.data_mart",
            "Footfall",
            edges={"project": "sales", "storage": "lake", "contexts": ["emea"]},
            attributes={"shared_for_reporting": True},
            description="How many people come in.",
            settings={"by": "sql", "sql": "SELECT 6"},
        )
    with corner.read(as_member("tara")) as ctx:
        mart = resources.get(ctx, made)
    assert (mart.kind, mart.name, mart.description) == ("marts.data_mart", "Footfall", "How many people come in.")
    assert mart.parent == mart.workspace
    assert mart.parent is not None
    assert (mart.parent.uid, mart.parent.name) == ("sales", "Sales marts")
    assert mart.attributes == {
        "shared_for_reporting": "true",
        "shared_for_maintenance": "false",
        "discoverable": "false",
    }
    assert {name: [end.uid for end in ends] for name, ends in mart.edges.items()} == {
        "storage": ["lake"],
        "contexts": ["emea"],
        "joins": [],
    }
    assert {role: [who.name for who in held] for role, held in mart.owners.items()} == {
        "technical_owner": ["Tara, Technical User"],
        "business_owner": [],
    }
    assert "configure_sharing" in mart.actions
    assert (mart.may_edit, mart.may_delete, mart.settings) == (True, True, {"by": "sql", "sql": "SELECT 6"})
    assert (mart.version, mart.created_at, mart.updated_at) == (1, mart.updated_at, mart.created_at)
    assert mart.created_by is not None
    assert mart.created_by.uid == "tara"


def test_whoever_may_not_edit_it_sees_no_settings(corner: DemoPlatform) -> None:
    with corner.read(as_member("bella")) as ctx:
        mart = resources.get(ctx, "daily_sales")
    assert (mart.settings, mart.may_edit, mart.may_delete) == (None, False, False)
    assert mart.actions == ["see", "use"]


def test_what_was_made_by_other_means_has_a_version_too(corner: DemoPlatform) -> None:
    with corner.read(as_member("tara")) as ctx:
        mart = resources.get(ctx, "daily_sales")
    assert (mart.version, mart.description, mart.created_at, mart.created_by) == (1, "", None, None)


def test_ends_that_may_not_be_seen_are_left_out_and_not_counted(corner: DemoPlatform) -> None:
    with corner.read(as_member("dana")) as ctx:
        task = resources.get(ctx, "land_tills")
        assert [end.uid for end in task.edges["sources"]] == ["till_link"]
    with corner.read(as_member("ana")) as ctx:
        task = resources.get(ctx, "land_tills")
        assert task.edges["sources"] == []
        assert [end.uid for end in task.edges["targets"]] == ["lake_link"]
        assert "till_link" not in repr(task)


def test_the_parent_is_named_only_to_those_who_may_see_it(corner: DemoPlatform) -> None:
    with corner.read(as_member("nils")) as ctx:
        app = resources.get(ctx, "sales_cockpit")
    assert (app.parent, app.workspace, app.edges["uses"]) == (None, None, [])


def test_what_may_not_be_seen_is_not_found(corner: DemoPlatform) -> None:
    with pytest.raises(HiddenError) as hidden, corner.read(as_member("bella")) as ctx:
        resources.get(ctx, "salaries")
    with pytest.raises(NotFoundError) as missing, corner.read(as_member("bella")) as ctx:
        resources.get(ctx, "nothing")
    assert str(hidden.value).replace("salaries", "nothing") == str(missing.value)


@pytest.mark.parametrize("uid", ["corner", "olga", "analysts", "corner/all"])
def test_the_directory_is_not_the_catalog(corner: DemoPlatform, uid: str) -> None:
    with pytest.raises(InvalidInputError, match="have endpoints of their own"), corner.read(as_member("olga")) as ctx:
        resources.get(ctx, uid)
    with pytest.raises(InvalidInputError, match="have endpoints of their own"), corner.read(as_member("olga")) as ctx:
        resources.find(ctx, among=["tenant.member"])


def test_a_list_is_searched_sorted_and_paged(corner: DemoPlatform) -> None:
    with corner.read(as_member("ana")) as ctx:
        first = resources.find(ctx, among=["lakehouse.table"], limit=3)
        assert [item.name for item in first.items] == ["basket_pairs", "customer_value", "customers"]
        following = resources.find(ctx, among=["lakehouse.table"], limit=3, after=first.after)
        assert [item.name for item in following.items] == ["employees", "invoices", "items"]
        found = resources.find(ctx, among=["lakehouse.table"], within="shaped", search="SALES", sort="-name")
        assert [item.uid for item in found.items] == ["sales_by_store", "sales_by_day"]
        assert [item.parent.uid for item in found.items if item.parent] == ["shaped", "shaped"]
        assert found.items[0].actions == ["see", "read", "see_runs"]
        writable = resources.find(ctx, among=["lakehouse.table"], action="write")
        assert [item.uid for item in writable.items] == ["customer_value"]


def test_a_list_within_what_may_not_be_seen_is_not_found(corner: DemoPlatform) -> None:
    with pytest.raises(HiddenError), corner.read(as_member("bella")) as ctx:
        resources.find(ctx, among=["lakehouse.table"], within="private")


def test_all_kinds_are_searched_in_one_order(corner: DemoPlatform) -> None:
    seen: list[str] = []
    with corner.read(as_member("olga")) as ctx:
        everything = resources.find(ctx, "sales", limit=200)
        assert everything.after is None
        after = None
        while True:
            page = resources.find(ctx, "sales", limit=2, after=after)
            seen.extend(item.uid for item in page.items)
            after = page.after
            if after is None:
                break
        assert {item.kind for item in everything.items} >= {"marts.data_mart", "lakehouse.table", "spaces.task"}
    assert seen == [item.uid for item in everything.items]
    assert [item.name.casefold() for item in everything.items] == sorted(
        item.name.casefold() for item in everything.items
    )


@pytest.mark.parametrize("sort", ["created", "-created", "-name"])
def test_the_other_orders_hold_over_pages(corner: DemoPlatform, sort: str) -> None:
    seen: list[tuple[str, int]] = []
    with corner.read(as_member("olga")) as ctx:
        after = None
        while True:
            page = resources.find(ctx, within="sales", sort=sort, limit=7, after=after)
            seen.extend((item.name.casefold(), item.since) for item in page.items)
            after = page.after
            if after is None:
                break
    column = 0 if "name" in sort else 1
    values = [item[column] for item in seen]
    assert values == sorted(values, reverse=sort.startswith("-"))
    assert len(seen) > 40


def test_deleting_ends_it_and_all_that_is_told_of_it(corner: DemoPlatform) -> None:
    with corner.write(as_member("tara")) as ctx:
        made = resources.create(
            ctx, "marts.storage", "Old disk", edges={"project": "sales"}, description="Nobody knows."
        )
        credentials.save(ctx, made, {"password": "hush"})
    with corner.write(as_member("tara")) as ctx:
        assert resources.delete(ctx, made)
    with pytest.raises(NotFoundError), corner.read(as_member("olga")) as ctx:
        resources.get(ctx, made)
    with corner.read(as_member("olga")) as ctx:
        metadata, kept = (
            ctx.session.transaction.connection.execute(table.select()).all()
            for table in (resource_metadata.detail_table, credentials.credential_table)
        )
    # What it was said to be stays, for who brings its rows back.
    assert [(row.description, row.settings) for row in metadata] == [("Nobody knows.", "{}")]
    assert kept == []
    assert [line.entry.action for line in corner.log()] == ["delete", "set credentials", "create"]


def test_what_still_holds_others_is_not_deleted(corner: DemoPlatform) -> None:
    with pytest.raises(ConflictError, match="among them") as seen, corner.write(as_member("olga")) as ctx:
        resources.delete(ctx, "lake_house")
    assert "must be deleted or moved" in seen.value.hint
    with corner.write(as_member("olga")) as ctx:
        workspaces.create(ctx, "spaces", "Workshop", uid="workshop")
        ctx.make(Add(Grant("bella", "can_consume_data", "serving")))
        ctx.make(Add(Grant("mona", "can_manage", "workshop")))
        ctx.make(Add(Grant("bella", "can_view", "workshop")))
    with corner.write(as_member("bella")) as ctx:
        resources.create(ctx, "spaces.app", "Secret app", uid="app", edges={"space": "workshop", "uses": "serve_sales"})
    with pytest.raises(ConflictError) as unseen, corner.write(as_member("mona")) as ctx:
        resources.delete(ctx, "workshop")
    assert "none of which you may see" in unseen.value.message
    assert "app" not in unseen.value.message


def test_a_destination_in_use_is_deleted_softly_and_restored(corner: DemoPlatform) -> None:
    with corner.write(as_member("boris")) as ctx:
        assert not resources.delete(ctx, "chat")
    with corner.read(as_member("boris")) as ctx:
        chat = resources.get(ctx, "chat")
        assert (chat.attributes["deleted"], chat.actions, chat.version) == ("true", ["see", "restore"], 2)
        report = resources.get(ctx, "stock_alert")
        assert (report.actions, report.may_edit, report.may_delete) == (["see"], False, False)
        assert [end.uid for end in report.edges["destination"]] == ["chat"]
    with pytest.raises(DeniedError), corner.write(as_member("boris")) as ctx:
        resources.delete(ctx, "chat")
    with corner.write(as_member("tim")) as ctx:  # a Technical User who sees a report that uses it
        assert resources.restore(ctx, "chat") == 3
    with corner.read(as_member("boris")) as ctx:
        assert resources.get(ctx, "stock_alert").may_edit
        assert "use" in resources.get(ctx, "chat").actions


def test_a_destination_that_nothing_uses_is_gone(corner: DemoPlatform) -> None:
    with corner.write(as_member("boris")) as ctx:
        made = resources.create(ctx, "marts.destination", "Pigeon", edges={"project": "sales"})
        assert resources.delete(ctx, made)
    with pytest.raises(NotFoundError), corner.write(as_member("boris")) as ctx:
        resources.restore(ctx, made)


def test_only_what_was_deleted_is_restored(corner: DemoPlatform) -> None:
    for uid in ("chat", "stock_alert"):
        with pytest.raises(ConflictError, match="is not deleted"), corner.write(as_member("boris")) as ctx:
            resources.restore(ctx, uid)


def test_kinds_that_nobody_edits_or_deletes(corner: DemoPlatform) -> None:
    with corner.write(as_member("olga")) as ctx:
        ctx.session.store.apply(Adopt(NOTES))
        ctx.session.store.create("notes.pad", "Pad", uid="pad", edges={"tenant": TENANT})
    with pytest.raises(ForbiddenError, match="Nobody may delete a pad"), corner.write(as_member("olga")) as ctx:
        resources.delete(ctx, "pad")
    with corner.read(as_member("olga")) as ctx:
        assert not resources.get(ctx, "pad").may_edit
        assert "pad" in [item.uid for item in resources.find(ctx, "pad").items]


NOTES = """
model: notes
extends: [tenant]
kinds:
  pad:
    in: tenant
    actions: [see]
    allow:
      - {who: everyone, may: see}
"""


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"kind": "marts.martian"}, "no kind"),
        ({"kind": "tenant.member"}, "have endpoints of their own"),
        ({"name": " "}, "must not be empty"),
        ({"name": "a\x00b"}, "control character"),
        ({"edges": {}}, "lies in a project"),
        ({"edges": {"project": "sales", "moon": "lake"}}, "no edge 'moon'"),
        ({"edges": {"project": "sales", "contexts": ["lake"]}}, "cannot point at"),
        ({"attributes": {"shared": True}}, "no attribute 'shared'"),
        ({"attributes": {"discoverable": "perhaps"}}, "is not a valid value of discoverable"),
        ({"description": "x" * 10_001}, "10,001 characters"),
        ({"description": "bell\x07"}, "control character"),
        ({"description": 7}, "A description is a text"),
        ({"settings": [1]}, "Settings are a mapping"),
        ({"settings": {"a": {1, 2}}}, "cannot be written as JSON"),
        ({"settings": {"a": "x" * 100_001}}, "characters as JSON"),
        ({"settings": {"a": ["half \ud800"]}}, "incomplete character"),
        ({"settings": {"a": json.loads("[" * 60 + "]" * 60)}}, "more than 50 levels deep"),
    ],
)
def test_bad_input_makes_nothing(corner: DemoPlatform, given: dict[str, object], message: str) -> None:
    good: dict[str, object] = {"kind": "marts.storage", "name": "Disk", "edges": {"project": "sales"}}
    with pytest.raises(InvalidInputError, match=message), corner.write(as_member("tara")) as ctx:
        resources.create(ctx, **{**good, **given})  # type: ignore[arg-type]
    with corner.read(as_member("tara")) as ctx:
        assert [item.uid for item in resources.find(ctx, among=["marts.storage"]).items] == ["lake", "webshop_db"]


def test_what_others_are_made_with_stays_as_long_as_they_do(corner: DemoPlatform) -> None:
    with (
        pytest.raises(
            ConflictError, match=r"The storage Lake is still needed by others, data mart [A-Z][\w ]+ among them"
        ),
        corner.write(as_member("tara")) as ctx,
    ):
        resources.delete(ctx, "lake")
    with corner.write(as_member("tara")) as ctx:
        free = resources.create(ctx, "marts.storage", "Disk", edges={"project": "sales"})
        assert resources.delete(ctx, free)
        shared = {"edges": {"project": "sales", "contexts": ["emea"]}, "attributes": {"shared_for_maintenance": True}}
        disk = resources.create(ctx, "marts.storage", "Disk", **shared)  # type: ignore[arg-type]
        resources.create(ctx, "marts.data_mart", "Mine", edges={"project": "sales", "storage": disk})
    with pytest.raises(ConflictError, match="none of which you may see"), corner.write(as_member("tim")) as ctx:
        resources.delete(ctx, disk)


def test_a_resource_is_made_only_where_one_may(corner: DemoPlatform) -> None:
    with (
        pytest.raises(DeniedError, match="may not create a storage") as refused,
        corner.write(as_member("bella")) as ctx,
    ):
        resources.create(ctx, "marts.storage", "Disk", edges={"project": "sales"})
    assert refused.value.hint.startswith("Missing: Technical User on project Sales")
    assert "create_storage" not in refused.value.hint
    with pytest.raises(HiddenError), corner.write(as_member("nils")) as ctx:
        resources.create(ctx, "marts.storage", "Disk", edges={"project": "sales"})


def test_a_narrowed_token_sees_no_more_than_it_may(corner: DemoPlatform) -> None:
    narrowed = Caller(TENANT, "mona", narrowed=TokenPrincipal("mona", resources=frozenset({"clean"})), token_id="t")
    with corner.read(narrowed) as ctx:
        assert {item.parent.uid for item in resources.find(ctx, among=["lakehouse.table"]).items if item.parent} == {
            "clean"
        }
        assert resources.get(ctx, "orders").workspace is None
    with pytest.raises(HiddenError), corner.read(narrowed) as ctx:
        resources.get(ctx, "tills")


def test_an_attribute_that_was_set_elsewhere_shows_at_once(corner: DemoPlatform) -> None:
    with corner.write(as_member("tara")) as ctx:
        ctx.make(Add(Attribute("daily_sales", "discoverable", "true")))
        assert resources.get(ctx, "daily_sales").attributes["discoverable"] == "true"
