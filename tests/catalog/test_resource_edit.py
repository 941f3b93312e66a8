"""One edit: checked as a whole, made as a whole, and never on top of what the editor has not read."""

from __future__ import annotations

from dataclasses import replace
from threading import Barrier, Thread

import pytest

from lakehold.access import Add, Attribute, Edge, Grant, TokenPrincipal
from lakehold.catalog import resources
from lakehold.catalog.resource_edit import ResourceEdit, apply_edit
from lakehold.catalog.resource_metadata import VersionConflictError
from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.kit.errors import ForbiddenError, InvalidInputError, NotFoundError
from lakehold.ledger.audit import AuditFilter
from tests.demo_company import TENANT, DemoPlatform, as_member

ENDS = {"tills", "web_orders"}


def ends(corner: DemoPlatform, uid: str, edge: str) -> set[str]:
    with corner.read(as_member("olga")) as ctx:
        return {end.uid for end in resources.get(ctx, uid).edges[edge]}


def test_a_new_name_keeps_id_and_rights(corner: DemoPlatform) -> None:
    with corner.write(as_member("erik")) as ctx:
        assert apply_edit(ctx, "orders", ResourceEdit(name="All orders", description="One line each.")) == 2
    with corner.read(as_member("ana")) as ctx:
        table = resources.get(ctx, "orders")
        assert (table.name, table.description, table.version) == ("All orders", "One line each.", 2)
        assert ctx.session.check("ana", "read", "orders")
        assert [item.uid for item in resources.find(ctx, among=["lakehouse.table"], search="all ord").items] == [
            "orders"
        ]
    assert [line.entry.action for line in corner.log()] == ["edit", "rename"]
    assert corner.log()[0].entry.before == {"description": ""}


def test_what_it_is_made_with_can_be_another_and_not_nothing(corner: DemoPlatform) -> None:
    with pytest.raises(InvalidInputError, match="needs a destination"), corner.write(as_member("bella")) as ctx:
        apply_edit(ctx, "morning_sales", ResourceEdit(edges={"destination": []}))
    with corner.write(as_member("bella")) as ctx:
        apply_edit(ctx, "morning_sales", ResourceEdit(edges={"destination": ["store_sheets"]}))
    assert ends(corner, "morning_sales", "destination") == {"store_sheets"}


def test_all_of_an_edit_is_made_at_once(corner: DemoPlatform) -> None:
    changes = ResourceEdit(
        name="Sales by day",
        settings={"by": "sql", "sql": "SELECT 5"},
        attributes={"shared_for_maintenance": True},
        edges={"contexts": ["emea"], "joins": ["returns"]},
    )
    with corner.write(as_member("tara")) as ctx:
        assert apply_edit(ctx, "daily_sales", changes, expect_version=1) == 2
        mart = resources.get(ctx, "daily_sales")
    assert (mart.name, mart.settings, mart.attributes["shared_for_maintenance"]) == (
        "Sales by day",
        {"by": "sql", "sql": "SELECT 5"},
        "true",
    )
    assert {name: [end.uid for end in found] for name, found in mart.edges.items()} == {
        "storage": ["lake"],
        "contexts": ["emea"],
        "joins": ["returns"],
    }
    assert mart.updated_by is not None
    assert mart.updated_by.uid == "tara"
    (entry,) = [line.entry for line in corner.log(AuditFilter(action="edit"))]
    assert entry.after == {"settings": ["by", "sql"]}, "which settings, not what they say"


def test_nothing_is_made_of_an_edit_that_may_not_be_made_as_a_whole(corner: DemoPlatform) -> None:
    # Tim maintains it: he edits, but shares nothing.
    changes = ResourceEdit(name="Mine", description="Mine.", attributes={"shared_for_reporting": False})
    with pytest.raises(DeniedError, match="shared for reporting"), corner.write(as_member("tim")) as ctx:
        apply_edit(ctx, "store_targets", changes)
    with corner.read(as_member("tim")) as ctx:
        mart = resources.get(ctx, "store_targets")
    assert (mart.name, mart.description, mart.version) == ("Store targets", "", 1)


def test_an_edit_gives_no_right_to_its_own_other_half(corner: DemoPlatform) -> None:
    """Boris may switch nothing on, and so not use what the switch would give him either."""
    changes = ResourceEdit(name="Mine", attributes={"shared_for_maintenance": True})
    with pytest.raises(DeniedError), corner.write(as_member("boris")) as ctx:
        apply_edit(ctx, "returns", changes)
    with pytest.raises(DeniedError, match="may not edit"), corner.write(as_member("boris")) as ctx:
        apply_edit(ctx, "returns", ResourceEdit(name="Mine"))


def test_what_is_so_already_needs_no_right_and_makes_no_version(corner: DemoPlatform) -> None:
    same = ResourceEdit(name="Daily sales", description="", attributes={"shared_for_reporting": True})
    with corner.write(as_member("bella")) as ctx:
        assert apply_edit(ctx, "daily_sales", same) == 1
    assert corner.log() == []


def test_who_may_not_edit_settings_does_not_learn_that_they_are_the_same(corner: DemoPlatform) -> None:
    with pytest.raises(DeniedError, match="may not edit"), corner.write(as_member("bella")) as ctx:
        apply_edit(ctx, "daily_sales", ResourceEdit(settings={}))
    # Nor are they tried before the right.
    with pytest.raises(DeniedError, match="may not edit"), corner.write(as_member("bella")) as ctx:
        apply_edit(ctx, "daily_sales", ResourceEdit(settings={"by": "nothing"}))


def test_edges_need_their_right_before_and_after(corner: DemoPlatform) -> None:
    with corner.write(as_member("erik")) as ctx:
        apply_edit(ctx, "make_orders", ResourceEdit(edges={"reads": ["tills", "web_orders", "payments"]}))
    assert ends(corner, "make_orders", "reads") == {"tills", "web_orders", "payments"}
    with pytest.raises(HiddenError), corner.write(as_member("erik")) as ctx:
        apply_edit(ctx, "make_orders", ResourceEdit(edges={"reads": ["tills", "salaries"]}))
    # He sees it, and is no Editor of it.
    with pytest.raises(DeniedError), corner.write(as_member("erik")) as ctx:
        apply_edit(ctx, "make_orders", ResourceEdit(edges={"writes": ["orders", "sales_by_day"]}))
    with corner.write(as_member("erik")) as ctx:
        apply_edit(ctx, "make_orders", ResourceEdit(edges={"reads": "tills"}))
    assert ends(corner, "make_orders", "reads") == {"tills"}


def test_several_edges_are_judged_by_what_they_are_together(corner: DemoPlatform) -> None:
    """Without an output the output layer counts: that of afterwards, not the one that is given up in the same edit."""
    with corner.write(as_member("olga")) as ctx:
        ctx.make(Add(Edge("into", "make_orders", "shaped")))
    with pytest.raises(DeniedError), corner.write(as_member("erik")) as ctx:
        apply_edit(ctx, "make_orders", ResourceEdit(edges={"writes": []}))
    with corner.write(as_member("erik")) as ctx:
        apply_edit(ctx, "make_orders", ResourceEdit(edges={"writes": [], "into": "clean"}))
    assert (ends(corner, "make_orders", "writes"), ends(corner, "make_orders", "into")) == (set(), {"clean"})


def test_ends_that_the_editor_may_not_see_stay(corner: DemoPlatform) -> None:
    with corner.write(as_member("erik")) as ctx:
        assert resources.get(ctx, "land_web").edges["sources"] != []
    with corner.write(as_member("olga")) as ctx:
        ctx.make(Add(Grant("ana", "can_edit", "landing")))
    with corner.write(as_member("ana")) as ctx:
        assert resources.get(ctx, "land_tills").edges["sources"] == []
        apply_edit(ctx, "land_tills", ResourceEdit(settings={"type": "landing", "connection": "lake_link"}))
    assert ends(corner, "land_tills", "sources") == {"till_link", "lake_link"}


def test_an_edge_of_which_there_is_one_is_replaced_or_taken_away(corner: DemoPlatform) -> None:
    with corner.write(as_member("tara")) as ctx:
        apply_edit(ctx, "daily_sales", ResourceEdit(edges={"storage": "webshop_db"}))
    assert ends(corner, "daily_sales", "storage") == {"webshop_db"}
    with corner.write(as_member("erik")) as ctx:
        apply_edit(ctx, "web_link", ResourceEdit(edges={"gateway": []}))
    assert ends(corner, "web_link", "gateway") == set()


def test_who_has_read_an_older_version_changes_nothing(corner: DemoPlatform) -> None:
    with corner.write(as_member("erik")) as ctx:
        apply_edit(ctx, "orders", ResourceEdit(description="First."), expect_version=1)
    with pytest.raises(VersionConflictError, match="version 2") as late, corner.write(as_member("erik")) as ctx:
        apply_edit(ctx, "orders", ResourceEdit(description="Second."), expect_version=1)
    assert (late.value.status, late.value.code) == (412, "changed_meanwhile")
    with corner.read(as_member("erik")) as ctx:
        assert resources.get(ctx, "orders").description == "First."


def test_of_two_edits_at_once_one_wins(corner: DemoPlatform) -> None:
    together, outcomes = Barrier(2), []

    def change(words: str) -> None:
        together.wait()
        try:
            with corner.write(as_member("erik")) as ctx:
                apply_edit(ctx, "orders", ResourceEdit(description=words), expect_version=1)
            outcomes.append(words)
        except VersionConflictError:
            outcomes.append("late")

    threads = [Thread(target=change, args=(words,)) for words in ("one", "two")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert min(outcomes) == "late"
    assert len(set(outcomes)) == 2
    with corner.read(as_member("erik")) as ctx:
        table = resources.get(ctx, "orders")
        assert (table.description, table.version) == (max(outcomes, key=lambda word: word != "late"), 2)


def test_each_kind_is_edited_with_the_action_that_its_model_names(corner: DemoPlatform) -> None:
    edits = {
        "sales": ("adam", "tara"),  # manage_settings
        "lake_house": ("adam", "mona"),  # tenant.create_workspace
        "landing": ("petra", "erik"),  # rename
        "ingest": ("erik", "otto"),  # update
        "land_tills": ("erik", "otto"),  # update
        "refresh": ("tara", "bella"),  # manage
        "masters": ("mona", "ana"),  # edit_metadata
        "customer": ("mona", "carla"),  # edit_metadata
        "masters_workflow": ("mona", "edith"),  # manage
    }
    with corner.write(as_member("tara")) as ctx:
        ctx.create("marts.data_mart_trigger", "Refresh", uid="refresh", edges={"data_mart": "daily_sales"})
    for uid, (may, may_not) in edits.items():
        with corner.write(as_member(may)) as ctx:
            apply_edit(ctx, uid, ResourceEdit(description="New."))
        with pytest.raises((DeniedError, HiddenError)), corner.write(as_member(may_not)) as ctx:
            apply_edit(ctx, uid, ResourceEdit(description="Newer."))


def test_a_narrowed_token_that_does_not_reach_the_right_is_denied(corner: DemoPlatform) -> None:
    narrowed = Caller(
        TENANT, "adam", narrowed=TokenPrincipal("adam", resources=frozenset({"lake_house"})), token_id="t"
    )
    with corner.read(narrowed) as ctx:
        assert not resources.get(ctx, "lake_house").may_edit
        assert resources.get(ctx, "orders").may_edit
    with pytest.raises(DeniedError, match="may not edit lakehouse Store lake"), corner.write(narrowed) as ctx:
        apply_edit(ctx, "lake_house", ResourceEdit(name="Mine"))


def test_nobody_edits_a_run(corner: DemoPlatform) -> None:
    with pytest.raises(ForbiddenError, match="Nobody may edit a run"), corner.write(as_member("olga")) as ctx:
        apply_edit(ctx, "month_end_run", ResourceEdit(name="My run"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (ResourceEdit(name=""), "must not be empty"),
        (ResourceEdit(name="x" * 201), "201 characters"),
        (ResourceEdit(description="x" * 10_001), "10,001 characters"),
        (ResourceEdit(attributes={"shared": True}), "no attribute 'shared'"),
        (ResourceEdit(attributes={"discoverable": "perhaps"}), "not a valid value"),
        (ResourceEdit(edges={"contexts": ["lake"]}), "cannot point at"),
        (ResourceEdit(edges={"storage": ["lake", "webshop_db"]}), "points at one"),
        (ResourceEdit(edges={"project": "sales"}), "Move it"),
        (ResourceEdit(edges={"moon": []}), "no edge 'moon'"),
        (ResourceEdit(settings={"a": float("nan")}), "JSON"),
    ],
)
def test_bad_input_changes_nothing(corner: DemoPlatform, changes: ResourceEdit, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message), corner.write(as_member("tara")) as ctx:
        apply_edit(ctx, "daily_sales", changes)
    with corner.read(as_member("tara")) as ctx:
        assert resources.get(ctx, "daily_sales").version == 1


def test_what_is_not_there_cannot_be_pointed_at(corner: DemoPlatform) -> None:
    with pytest.raises(NotFoundError), corner.write(as_member("tara")) as ctx:
        apply_edit(ctx, "daily_sales", ResourceEdit(edges={"joins": ["nothing"]}))


def test_who_views_as_somebody_changes_nothing(corner: DemoPlatform) -> None:
    with (
        pytest.raises(ForbiddenError, match="only reads"),
        corner.write(replace(as_member("tara"), impersonator="adam")) as ctx,
    ):
        apply_edit(ctx, "daily_sales", ResourceEdit(attributes={"discoverable": True}))
    with (
        pytest.raises(ForbiddenError, match="only reads"),
        corner.write(replace(as_member("tara"), impersonator="adam")) as ctx,
    ):
        apply_edit(ctx, "daily_sales", ResourceEdit(description="Seen."))


def test_an_attribute_goes_back_to_what_it_was(corner: DemoPlatform) -> None:
    with corner.write(as_member("tara")) as ctx:
        apply_edit(ctx, "daily_sales", ResourceEdit(attributes={"shared_for_reporting": "false"}))
        assert not ctx.session.check("tim", "see", "daily_sales")
        apply_edit(ctx, "daily_sales", ResourceEdit(attributes={"shared_for_reporting": "true"}))
        assert ctx.session.check("tim", "see", "daily_sales")
        ctx.make(Add(Attribute("daily_sales", "shared_for_reporting", "true")))


def test_a_draft_keeps_the_edges_that_it_is_given(corner: DemoPlatform) -> None:
    """Those of apps from before they had settings among them."""
    with corner.write(as_member("bella")) as ctx:
        apply_edit(ctx, "sales_cockpit", ResourceEdit(description="Today.", edges={"uses": "serve_sales"}))
        assert resources.get(ctx, "sales_cockpit").description == "Today."
    with corner.read(as_member("olga")) as ctx:
        assert [end.uid for end in resources.get(ctx, "sales_cockpit").edges["uses"]] == ["serve_sales"]
