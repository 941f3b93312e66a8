"""A run reads what its starter and the author of its definition may both read: nobody reads with another's rights."""

from __future__ import annotations

from dataclasses import replace
from itertools import count

import pytest

from lakehold.access import Add, Attribute, Grant, Remove
from lakehold.catalog import credentials, resource_edit, resources
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.directory.errors import DeniedError
from lakehold.runs.runnable import RunOptions
from lakehold.runs.service import MANUAL_CAUSE, Run
from tests.lake.shop import ADA, ED, RITA, SECRET
from tests.workspaces.lakehouse.inline_runs import RUNS
from tests.workspaces.marts.project import LAKE, SALES, MartsProject

HIDDEN = "SELECT id, word FROM secret.hidden"


def scheduled(here: MartsProject, uid: str) -> Run:
    """A run of Ada's schedule."""
    with here.inline_runs.shop.platform.write(ADA) as ctx:
        run = RUNS.insert(ctx, uid, RunOptions(), cause=MANUAL_CAUSE)
    return here.inline_runs.execute(run)


def edit(here: MartsProject, uid: str, **changes: object) -> None:
    with here.inline_runs.shop.platform.write(ED) as ctx:
        resource_edit.apply_edit(ctx, uid, ResourceEdit(**changes))  # type: ignore[arg-type]


def test_an_editor_reads_nothing_by_the_schedule_of_an_admin(here: MartsProject) -> None:
    mart = here.create_refreshed_mart({"by": "sql", "sql": SALES})
    edit(here, mart, settings={"by": "sql", "sql": HIDDEN})
    run = scheduled(here, mart)
    assert (run.state, SECRET in run.error) == ("failed", False)
    assert "Ed, who last changed the definition of data mart" in run.error
    assert "cannot run its query" in run.error
    assert len(here.rows(mart)) == 100


def test_a_description_makes_nobody_the_author(here: MartsProject) -> None:
    mart = here.mart({"by": "sql", "sql": HIDDEN})
    platform = here.inline_runs.shop.platform
    with platform.write(ADA) as ctx:
        resource_edit.apply_edit(ctx, mart, ResourceEdit(description="corrected", name="Corrected"))
    assert "Ed, who last changed" in scheduled(here, mart).error
    with platform.write(ADA) as ctx:
        resource_edit.take_over(ctx, mart)
    assert scheduled(here, mart).state == "succeeded"


def test_a_check_tells_no_value_and_reads_nothing_that_its_author_may_not_read(here: MartsProject) -> None:
    mart = here.create_refreshed_mart({"by": "sql", "sql": SALES})
    oracle = "SELECT 1 FROM lake.Shop.secret.hidden WHERE CAST(word AS INT) = 1"
    checks = [{"check": "sql", "name": "oracle", "sql": oracle, "stops": True}]
    edit(here, mart, settings={"by": "sql", "sql": SALES, "checks": checks})
    run = scheduled(here, mart)
    lines = here.lines(run)
    assert "Ed, who last changed" in run.error
    with here.inline_runs.shop.platform.write(ADA) as ctx:
        resource_edit.take_over(ctx, mart)
    run = scheduled(here, mart)
    assert "CAST_INVALID_INPUT" in run.error
    assert SECRET not in lines + run.error + here.lines(run)


def test_a_storage_that_leads_elsewhere_is_not_read_with_the_rights_of_others(here: MartsProject) -> None:
    platform = here.inline_runs.shop.platform
    with platform.access.write("acme") as session:
        session.store.create("lakehouse.lakehouse", "HR", uid="hr", edges={"tenant": "acme"})
        session.store.create("lakehouse.layer", "raw", uid="hr_raw", edges={"lakehouse": "hr"})
        session.store.create("lakehouse.table", "orders", uid="hr_orders", edges={"layer": "hr_raw"})
    storage = here.storage("Redirected", {"kind": "lake", "lakehouse": "shop"})
    with platform.write(ADA) as ctx:
        edges = {"project": "sales", "storage": storage}
        mart = resources.create(
            ctx, "marts.data_mart", "m", edges=edges, settings={"by": "table", "table": "raw.orders"}
        )
    assert scheduled(here, mart).state == "succeeded"
    with platform.access.write("acme") as session:
        session.store.add(Grant("ed", "member", "hr"))
    edit(here, storage, settings={"kind": "lake", "lakehouse": "hr"})
    assert "Ed, who last changed a part of the definition of data mart" in scheduled(here, mart).error


def test_an_owner_who_lost_the_mart_gets_no_rows_by_editing_the_report(here: MartsProject) -> None:
    mart = here.create_refreshed_mart({"by": "sql", "sql": SALES})
    report = here.report(mart, here.destination({"to": "files", "kind": "csv"}), {"columns": ["id"]})
    assert scheduled(here, report).state == "succeeded"
    platform = here.inline_runs.shop.platform
    with platform.write(ED) as ctx:
        ctx.make(Remove(Attribute(mart, "shared_for_reporting", "true")))
    with platform.write(RITA) as ctx:
        resource_edit.apply_edit(ctx, report, ResourceEdit(settings={"columns": ["id", "amount"]}))
    run = scheduled(here, report)
    assert "Rita, who last changed the definition of report" in run.error
    assert "may not use a data mart" in run.error


def test_a_destination_that_somebody_redirects_gets_only_what_they_may_read(here: MartsProject) -> None:
    mart = here.create_refreshed_mart({"by": "sql", "sql": SALES})
    destination = here.destination({"to": "files", "kind": "csv"})
    platform = here.inline_runs.shop.platform
    with platform.write(ED) as ctx:
        ctx.make(Remove(Attribute(mart, "shared_for_reporting", "true")))
    report = here.report(mart, destination, {"columns": ["id"]}, by=ADA)
    assert scheduled(here, report).state == "succeeded"
    with platform.write(RITA) as ctx:
        resource_edit.apply_edit(ctx, destination, ResourceEdit(settings={"to": "files", "kind": "parquet"}))
    assert "Rita, who last changed" in scheduled(here, report).error


def test_who_starts_it_by_hand_is_told_at_once(here: MartsProject) -> None:
    platform = here.inline_runs.shop.platform
    with platform.write(ADA) as ctx:
        settings = {"kind": "lake", "lakehouse": "shop"}
        storage = resources.create(ctx, "marts.storage", "Ada's", edges={"project": "sales"}, settings=settings)
        ctx.make(Add(Attribute(storage, "shared_for_use", "true")))
    mart = here.mart({"by": "sql", "sql": SALES}, storage=storage)
    with platform.write(ADA) as ctx:
        ctx.make(Add(Attribute(storage, "shared_for_use", "false")))
    with pytest.raises(DeniedError, match=r"Ed, who last changed .* may not use a storage"):
        here.run(mart, by=ADA)


def test_sharing_a_data_mart_makes_nobody_the_author(here: MartsProject) -> None:
    mart = here.mart({"by": "sql", "sql": HIDDEN})
    with here.inline_runs.shop.platform.write(ADA) as ctx:
        context = resources.create(ctx, "marts.context", "EU", edges={"project": "sales"})
        resource_edit.apply_edit(ctx, mart, ResourceEdit(edges={"contexts": [context]}))
    assert "Ed, who last changed" in scheduled(here, mart).error


def test_settings_that_mean_the_same_make_nobody_the_author(here: MartsProject) -> None:
    mart = here.mart({"by": "sql", "sql": HIDDEN, "keys": [], "mode": "full"})
    with here.inline_runs.shop.platform.write(ADA) as ctx:
        edit_settings = {"by": "sql", "sql": HIDDEN, "columns": []}
        resource_edit.apply_edit(ctx, mart, ResourceEdit(settings=edit_settings, description="corrected"))
    assert "Ed, who last changed" in scheduled(here, mart).error


def test_an_error_tells_the_author_nothing_that_only_the_starter_knows(here: MartsProject) -> None:
    mart = here.mart({"by": "sql", "sql": "SELECT zzz FROM secret.hidden"})
    run = scheduled(here, mart)
    assert "word" not in (run.error + here.lines(run)).replace("password", "")


def test_whoever_redirects_a_chat_by_its_credential_is_an_author(here: MartsProject) -> None:
    mart = here.create_refreshed_mart({"by": "sql", "sql": SALES})
    address = {"address": "https://127.0.0.1/first"}
    destination = here.destination({"to": "chat"}, secrets=address)
    platform = here.inline_runs.shop.platform
    with platform.write(ED) as ctx:
        ctx.make(Remove(Attribute(mart, "shared_for_reporting", "true")))
    report = here.report(mart, destination, {"columns": ["id"]}, by=ADA)
    with platform.write(RITA) as ctx:
        credentials.save(ctx, destination, {"address": "https://127.0.0.1/second"})
    with platform.write(ADA) as ctx, pytest.raises(DeniedError, match="Rita, who last changed"):
        RUNS.start(ctx, report)


def test_a_join_is_read_with_the_rights_of_who_made_it(here: MartsProject) -> None:
    other = here.create_refreshed_mart({"by": "sql", "sql": "SELECT id, name FROM raw.customers"})
    mart = here.create_refreshed_mart({"by": "sql", "sql": SALES})
    platform = here.inline_runs.shop.platform
    report = here.report(mart, here.destination({"to": "files", "kind": "csv"}), {}, by=ADA)
    joins = [{"mart": other, "name": "customer", "on": {"customer": "id"}}]
    edit(here, mart, settings={"by": "sql", "sql": SALES, "joins": joins}, edges={"joins": [other]})
    assert scheduled(here, report).state == "succeeded"
    owners = Grant("ed", "technical_owner", other)
    with platform.access.write("acme") as session:
        session.store.add(Grant("ada", "technical_owner", other))
        session.store.remove(owners)
        session.store.add(Attribute(other, "shared_for_reporting", "false"))
    assert "Ed, who last changed" in scheduled(here, report).error


_numbers = count(1)


def owned_by_ada(here: MartsProject, settings: dict[str, object]) -> str:
    """A data mart of Ada's that Ed may edit."""
    with here.inline_runs.shop.platform.write(ADA) as ctx:
        edges = {"project": "sales", "storage": LAKE}
        attributes = {"shared_for_maintenance": "true", "shared_for_reporting": "true"}
        name = f"Ada's {next(_numbers)}"
        return resources.create(ctx, "marts.data_mart", name, edges=edges, attributes=attributes, settings=settings)


def test_an_admin_who_changes_a_check_does_not_answer_for_the_query(here: MartsProject) -> None:
    mart = here.mart({"by": "sql", "sql": HIDDEN})
    checks = [{"check": "not null", "fields": ["id"]}]
    with here.inline_runs.shop.platform.write(ADA) as ctx:
        changed = {"by": "sql", "sql": HIDDEN, "checks": checks, "columns": [{"name": "id", "type": "string"}]}
        resource_edit.apply_edit(ctx, mart, ResourceEdit(settings=changed))
    assert "Ed, who last changed" in scheduled(here, mart).error


def test_an_editor_who_changes_a_check_stops_no_query_that_they_cannot_read(here: MartsProject) -> None:
    mart = owned_by_ada(here, {"by": "sql", "sql": HIDDEN})
    checks = [{"check": "not null", "fields": ["id"]}]
    edit(here, mart, settings={"by": "sql", "sql": HIDDEN, "checks": checks})
    assert scheduled(here, mart).error == ""


def test_a_check_keeps_its_author_when_the_query_is_changed(here: MartsProject) -> None:
    mart = here.create_refreshed_mart({"by": "sql", "sql": SALES})
    checks = [{"check": "sql", "name": "oracle", "sql": "SELECT 1 FROM lake.Shop.secret.hidden", "stops": True}]
    edit(here, mart, settings={"by": "sql", "sql": SALES, "checks": checks})
    with here.inline_runs.shop.platform.write(ADA) as ctx:
        changed = {"by": "sql", "sql": f"{SALES} WHERE id > 0", "checks": checks}
        resource_edit.apply_edit(ctx, mart, ResourceEdit(settings=changed))
    assert "Ed, who last changed" in scheduled(here, mart).error


def test_who_shows_a_hidden_column_needs_the_right_to_what_is_in_it(here: MartsProject) -> None:
    settings: dict[str, object] = {"by": "sql", "sql": HIDDEN}
    mart = owned_by_ada(here, {**settings, "columns": [{"name": "word", "hidden": True}]})
    described = [{"name": "word", "hidden": True, "description": "Not for everybody"}]
    edit(here, mart, settings={**settings, "columns": described})
    assert scheduled(here, mart).error == ""
    edit(here, mart, settings=settings)
    assert "Ed, who last changed" in scheduled(here, mart).error


def test_a_storage_that_was_redirected_is_not_taken_over_with_a_check(here: MartsProject) -> None:
    platform = here.inline_runs.shop.platform
    with platform.access.write("acme") as session:
        session.store.create("lakehouse.lakehouse", "Vault", uid="vault_lake", edges={"tenant": "acme"})
        session.store.create("lakehouse.layer", "raw", uid="vault_raw", edges={"lakehouse": "vault_lake"})
        session.store.create("lakehouse.table", "orders", uid="vault_orders", edges={"layer": "vault_raw"})
        session.store.add(Grant("ed", "member", "vault_lake"))
    storage = here.storage("Led astray", {"kind": "lake", "lakehouse": "shop"})
    settings = {"by": "table", "table": "raw.orders"}
    with platform.write(ADA) as ctx:
        edges = {"project": "sales", "storage": storage}
        mart = resources.create(ctx, "marts.data_mart", "m2", edges=edges, settings=settings)
    edit(here, storage, settings={"kind": "lake", "lakehouse": "vault_lake"})
    with platform.write(ADA) as ctx:
        checks = [{"check": "not null", "fields": ["id"]}]
        resource_edit.apply_edit(ctx, mart, ResourceEdit(settings={**settings, "checks": checks}))
    assert "Ed, who last changed" in scheduled(here, mart).error


def test_a_pattern_names_no_table_that_its_author_cannot_read(here: MartsProject) -> None:
    mart = here.mart({"by": "pattern", "pattern": "secret.*"})
    run = scheduled(here, mart)
    assert "hidden" not in run.error + here.lines(run)
    assert "Nothing matches" in run.error


def test_a_report_does_not_need_the_author_of_a_check_of_its_data_mart(here: MartsProject) -> None:
    mart = here.create_refreshed_mart({"by": "sql", "sql": SALES})
    platform = here.inline_runs.shop.platform
    with platform.access.write("acme") as session:
        session.store.create("tenant.member", "Tom", uid=f"tom_{mart}", edges={"tenant": "acme"})
        session.store.add(Grant(f"tom_{mart}", "technical_user", "sales"))
        session.store.add(Grant(f"tom_{mart}", "technical_owner", mart))
    report = here.report(mart, here.destination({"to": "files", "kind": "csv"}), {"columns": ["id"]})
    with platform.write(replace(ED, member=f"tom_{mart}")) as ctx:
        settings = {"by": "sql", "sql": SALES, "checks": [{"check": "not null", "fields": ["id"]}]}
        resource_edit.apply_edit(ctx, mart, ResourceEdit(settings=settings))
    with platform.access.write("acme") as session:
        session.store.delete(f"tom_{mart}")
    assert scheduled(here, report).error == ""
