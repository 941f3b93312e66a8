"""Reports: what they ask of a data mart arrives at their destination."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path

import pytest

from lakehold.access import Add, Attribute, Grant, Remove
from lakehold.catalog import resource_edit
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.directory.errors import DeniedError
from lakehold.kit.errors import ConflictError, InvalidInputError
from lakehold.runs.scheduler.schedule import TriggerSchedule
from lakehold.runs.scheduler.service import Triggers
from lakehold.workspaces.marts import reports
from tests.lake.shop import ADA, ED, RITA, TENANT
from tests.workspaces.lakehouse.inline_runs import RUNS
from tests.workspaces.marts.project import ALIASED, SALES, MartsProject

pytestmark = pytest.mark.slow
FILE = {"to": "files", "kind": "csv"}


@pytest.fixture(scope="package")
def mart(here: MartsProject) -> str:
    return here.create_refreshed_mart({"by": "sql", "sql": SALES})


def sent(here: MartsProject, destination: str) -> str:
    """The text of the only file that has arrived."""
    volume = here.files(destination)
    (file,) = [each for each in volume.list_folder() if not each.is_folder]
    return volume.path_on_disk(file.path).read_text()


def asked(here: MartsProject, mart: str, settings: Mapping[str, object]) -> list[str]:
    """What a report delivers, line by line."""
    destination = here.destination(FILE)
    run = here.run(here.report(mart, destination, settings), by=RITA)
    assert run.state == "succeeded", run.error
    return sent(here, destination).splitlines()


def test_a_business_user_reports_on_a_mart_that_is_shared(here: MartsProject, mart: str) -> None:
    settings = {
        "columns": ["customer"],
        "sums": [{"how": "count", "name": "orders"}, {"how": "sum", "column": "amount", "name": "amount"}],
        "where": [{"column": "id", "is": "<", "value": "10"}],
        "sort": [{"column": "customer", "descending": True}],
        "limit": 2,
    }
    assert asked(here, mart, settings) == ["customer,orders,amount", "4,2,19.50", "3,2,16.50"]


@pytest.mark.parametrize(
    ("where", "count"),
    [
        ({"column": "day", "is": ">=", "value": "2026-04-01"}, 10),
        ({"column": "day", "is": "<", "value": "year - 100"}, 0),
        ({"column": "customer", "is": "in", "values": ["1", "2"]}, 40),
        ({"column": "customer", "is": "is empty"}, 0),
        ({"column": "amount", "is": ">", "value": ":least"}, 2),
    ],
)
def test_conditions_are_of_their_columns_types(
    here: MartsProject, mart: str, where: dict[str, object], count: int
) -> None:
    settings = {"sums": [{"how": "count", "name": "n"}], "where": [where], "parameters": {"least": "145.5"}}
    assert asked(here, mart, settings) == ["n", str(count)]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"columns": ["nothing"]}, "no column 'nothing'"),
        ({"where": [{"column": "id", "is": "=", "value": "1 OR 1=1"}]}, "is not a number"),
        ({"where": [{"column": "day", "is": "=", "value": "soon"}]}, "is not a date"),
        ({"where": [{"column": "id", "value": ":unknown"}]}, "parameter 'unknown'"),
        ({"columns": ["id"], "sort": [{"column": "day"}]}, "does not show"),
        ({"sums": [{"how": "average", "column": "day"}]}, "it is not numeric"),
        ({"columns": ["id"], "sums": [{"how": "count", "name": "id"}]}, "Two columns of the report are called 'id'"),
    ],
)
def test_what_cannot_be_asked_is_told_by_name(
    here: MartsProject, mart: str, settings: dict[str, object], said: str
) -> None:
    destination = here.destination(FILE)
    run = here.run(here.report(mart, destination, settings), by=RITA)
    assert run.state == "failed"
    assert said in run.error
    assert here.files(destination).list_folder() == []


@pytest.mark.parametrize(
    ("settings", "said", "field"),
    [
        ({"where": [{"column": "id", "is": "like", "value": "1"}]}, "cannot be 'like'", "where.0.is"),
        ({"where": [{"column": "id", "value": 1}]}, "must be a text", "where.0.value"),
        ({"sums": [{"how": "sum"}]}, "needs a column", "sums.0.column"),
        ({"delivery": {"address": "http://127.0.0.1"}}, "no setting 'address'", "delivery.address"),
        ({"zone": "Mars/Base"}, "no time zone 'Mars/Base'", "zone"),
        ({"colums": ["id"]}, "no setting 'colums'", "colums"),
    ],
)
def test_settings_that_cannot_be_used_are_not_saved(
    here: MartsProject, mart: str, settings: dict[str, object], said: str, field: str
) -> None:
    with pytest.raises(InvalidInputError, match=said) as caught:
        here.report(mart, here.destination(FILE), settings)
    assert caught.value.field == field


def test_a_joined_mart_is_asked_too_and_must_be_usable(here: MartsProject) -> None:
    customers = here.create_refreshed_mart({"by": "table", "table": "raw.customers"})
    joins = [{"mart": customers, "name": "who", "on": {"customer": "id"}}]
    orders = here.create_refreshed_mart({"by": "sql", "sql": SALES, "joins": joins}, joins=(customers,))
    settings = {
        "columns": ["id", "who.name"],
        "where": [{"column": "who.name", "is": "=", "value": "customer 3"}],
        "limit": 1,
    }
    assert asked(here, orders, settings) == ["id,who.name", "3,customer 3"]
    destination = here.destination(FILE)
    report = here.report(orders, destination, settings)
    with here.inline_runs.shop.platform.write(ED) as ctx:
        ctx.make(Remove(Attribute(customers, "shared_for_reporting", "true")))
    with pytest.raises(DeniedError):
        here.run(report, by=RITA)
    assert here.files(destination).list_folder() == []


def test_it_is_sent_only_if_there_are_rows(here: MartsProject, mart: str) -> None:
    destination = here.destination(FILE)
    settings = {"send": "rows", "where": [{"column": "id", "is": "<", "value": "0"}]}
    run = here.run(here.report(mart, destination, settings), by=RITA)
    assert run.state == "succeeded"
    assert "no rows" in here.lines(run)
    assert here.files(destination).list_folder() == []


def test_it_is_sent_only_if_something_has_changed(here: MartsProject) -> None:
    mart = here.create_refreshed_mart({"by": "sql", "sql": "SELECT id, amount FROM raw.orders WHERE id < 3"})
    report = here.report(mart, here.destination(FILE), {"send": "changed"})
    assert "delivered" in here.lines(here.run(report, by=RITA))
    assert "nothing has changed" in here.lines(here.run(report, by=RITA))
    with here.inline_runs.shop.platform.write(ED) as ctx:
        resource_edit.apply_edit(
            ctx,
            mart,
            ResourceEdit(settings={"by": "sql", "sql": "SELECT id, amount FROM raw.orders WHERE id < 4"}),
        )
    assert here.run(mart, by=ED).state == "succeeded"
    assert "delivered" in here.lines(here.run(report, by=RITA))


def test_a_draft_is_not_reported_on(here: MartsProject) -> None:
    draft = here.mart({}, name="Unsaid", published=False)
    report = here.report(draft, here.destination(FILE), {})
    with pytest.raises(ConflictError, match="The data mart Unsaid is a draft"):
        here.run(report, by=RITA)


def test_without_its_destination_it_cannot_run_until_that_is_back(here: MartsProject, mart: str) -> None:
    destination = here.destination(FILE)
    report = here.report(mart, destination, {"limit": 1})
    platform = here.inline_runs.shop.platform
    with platform.write(RITA) as ctx:
        ctx.make(Add(Attribute(destination, "deleted", "true")))
    with pytest.raises(DeniedError):
        here.run(report, by=RITA)
    with pytest.raises(ConflictError, match="gone"):
        here.run(report, by=ADA)
    with platform.write(ADA) as ctx:
        ctx.make(Remove(Attribute(destination, "deleted", "true")))
    assert here.run(report, by=RITA).state == "succeeded"


def test_who_has_lost_the_mart_sends_nothing(here: MartsProject) -> None:
    mart = here.create_refreshed_mart({"by": "sql", "sql": SALES})
    destination = here.destination(FILE)
    report = here.report(mart, destination, {})
    with here.inline_runs.shop.platform.access.write(TENANT) as session:
        session.store.remove(Grant("rita", "business_user", "sales"))
    try:
        with pytest.raises(Exception, match="report"):
            here.run(report, by=RITA)
    finally:
        with here.inline_runs.shop.platform.access.write(TENANT) as session:
            session.store.add(Grant("rita", "business_user", "sales"))
    assert here.files(destination).list_folder() == []


def test_a_schedule_is_saved_by_who_edits_and_runs_as_them(here: MartsProject, mart: str) -> None:
    triggers = Triggers(RUNS)
    report = here.report(mart, here.destination(FILE), {"limit": 1})
    platform = here.inline_runs.shop.platform
    with platform.write(RITA) as ctx:
        saved = triggers.save(ctx, report, TriggerSchedule("0 6 * * 1", "Europe/Berlin"))
        assert (saved.saved_by, saved.active) == ("rita", True)
        assert not any(each.active for each in triggers.set_all_active(ctx, report, active=False))
    # Who uses the mart alone says nothing of when it is refreshed; who keeps it does.
    with pytest.raises(DeniedError, match="may not manage triggers of data mart"), platform.write(RITA) as ctx:
        triggers.save(ctx, mart, TriggerSchedule("0 5 * * *"))
    with platform.write(ED) as ctx:
        assert triggers.save(ctx, mart, TriggerSchedule("0 5 * * *")).saved_by == "ed"


def test_people_read_the_aliases_of_columns(here: MartsProject) -> None:
    mart = here.create_refreshed_mart(ALIASED)
    settings = {"sort": [{"column": "id"}], "limit": 1}
    assert asked(here, mart, settings) == ['Order,customer,"Amount, €",day', "0,0,0.00,2026-01-01"]
    totals = {
        "columns": ["customer"],
        "sums": [{"how": "sum", "column": "amount"}, {"how": "count"}, {"how": "most", "column": "id", "name": "id"}],
        "sort": [{"column": "sum of amount", "descending": True}],
        "limit": 1,
    }
    assert asked(here, mart, totals) == ['day,"sum of Amount, €",count,id', "4,1545.00,20,99"]


def test_of_joined_marts_an_alias_that_both_have_says_nothing(here: MartsProject) -> None:
    named = [{"name": "name", "alias": "Name"}, {"name": "id", "alias": "Number"}]
    customers = here.create_refreshed_mart({"by": "table", "table": "raw.customers", "columns": named})
    joins = [{"mart": customers, "name": "who", "on": {"customer": "id"}}]
    columns = [{"name": "id", "alias": "number"}]
    orders = here.create_refreshed_mart(
        {"by": "sql", "sql": SALES, "joins": joins, "columns": columns}, joins=(customers,)
    )
    settings = {"columns": ["id", "who.id", "who.name"], "sort": [{"column": "who.name"}, {"column": "id"}], "limit": 1}
    assert asked(here, orders, settings) == ["id,who.id,Name", "0,0,customer 0"]


def test_a_message_names_columns_by_name_and_shows_their_aliases(here: MartsProject) -> None:
    mart = here.create_refreshed_mart(ALIASED)
    settings = {"columns": ["id", "amount"], "limit": 1, "message": "{{ amount }}\n\n{{ table }}"}
    platform = here.inline_runs.shop.platform
    with platform.read(RITA) as ctx:
        prepared = reports.prepare_preview(ctx, here.inline_runs.shop.tables.lake, settings, mart)
        reports.check_message(ctx, here.inline_runs.shop.tables.lake, settings, mart)
    with prepared.run_query(platform) as found:
        assert found.batches.schema.names == ["Order", "Amount, €"]
    message = reports.render_preview(platform, prepared, "Orders").text
    assert "Order  Amount, €" in message
    assert message.startswith("0.00") or message[0].isdigit()


def test_programs_get_columns_by_their_names(here: MartsProject, tmp_path: Path) -> None:
    mart = here.create_refreshed_mart(ALIASED)
    file = tmp_path / "shop.sqlite"
    with sqlite3.connect(file):
        pass
    to = {"to": "database", "address": f"jdbc:sqlite:{file}", "table": "orders", "mode": "overwrite"}
    run = here.run(here.report(mart, here.destination(to), {"columns": ["id", "amount"], "limit": 1}), by=RITA)
    assert run.state == "succeeded", run.error
    with sqlite3.connect(file) as opened:
        assert [row[1] for row in opened.execute("PRAGMA table_info(orders)")] == ["id", "amount"]
