"""A data folder that an earlier release has filled is opened by this one, and everything in it is found."""

from __future__ import annotations

import fcntl
import shutil
import sqlite3
import tarfile
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from lakehold import workspaces
from lakehold.catalog import approvals, requests
from lakehold.demo import company
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.kit.settings import Settings
from lakehold.lake import previews, readable_tables
from lakehold.lake.iceberg_catalog import IcebergCatalog, refuse_foreign_warehouse
from lakehold.lake.installation import MARKER
from lakehold.lake.previews import PreviewOptions
from lakehold.runs.scheduler.service import Triggers
from lakehold.runs.service import Runs
from tests.api.client import Api, json_body, serve_api

ARCHIVE = Path(__file__).parent / "archive" / "6be130b.tar.xz"
PLACE = Path(tempfile.gettempdir()) / "lakehold-6be130b"
"""Where it was made: Iceberg's metadata holds absolute paths."""
OLGA, ERIK = (Caller(company.TENANT, member) for member in ("olga", "erik"))

ROWS = {
    "shop_raw_customers": 240,
    "shop_raw_events": 1500,
    "shop_raw_orders": 2400,
    "shop_service_customer_value": 240,
    "shop_service_sales_by_day": 359,
    "shop_trusted_customer_history": 240,
    "shop_trusted_orders": 2400,
    "shop_trusted_visits": 300,
    "web_customers": 240,
    "web_orders_mart": 2400,
    "web_sales": 359,
}

SECRET = "Corner&Main 2031"
ENCRYPTED = (
    "gAAAAABq_WBZp8v1-iLg68Nt2069UB3DFWLgBJGibRd5ZM6FMpXTycLQfAyYu36iLrm5LZyQROklEYRp2tcJbryRAAa3uxGzlTwBXZ_y"
    "Uxc7KBOOKJS1Qoc="
)
"""The secret as that commit encrypted it with the key in the archive, whose company has none of its own."""


def _store_credential(file: Path) -> None:
    with closing(sqlite3.connect(file)) as database, database:
        database.execute(
            "INSERT INTO credential SELECT tenant_id, id, 'password', ?, since, 'tara' FROM resource WHERE uid = ?",
            (ENCRYPTED, "webshop_db"),
        )


@pytest.fixture(scope="module")
def platform() -> Iterator[Platform]:
    with Path(f"{PLACE}.lock").open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # Another checkout on this machine may run its tests too.
        shutil.rmtree(PLACE, ignore_errors=True)
        with tarfile.open(ARCHIVE) as archive:
            archive.extractall(PLACE, filter="data")
        _store_credential(PLACE / "lakehold.sqlite")
        found = Platform(Settings(data=PLACE))
        found.database.migrate()
        refuse_foreign_warehouse(found.settings)
        yield found
        found.close()
        shutil.rmtree(PLACE)


@pytest.fixture(scope="module")
def api(platform: Platform) -> Iterator[Api]:
    with serve_api(platform, company.TENANT) as found:
        yield found


def test_members_and_groups_are_answered(api: Api) -> None:
    members = json_body(api.get("/api/v1/members?limit=100", "olga"))["items"]
    assert {member["id"] for member in members} == {*company.PEOPLE, "nightly"}
    assert all(member["name"] for member in members)
    for uid, (name, inside) in company.GROUPS.items():
        group = json_body(api.get(f"/api/v1/groups/{uid}", "olga"))
        assert (group["name"], {*group["member_ids"]}) == (name, {*inside})
    held = json_body(api.get("/api/v1/grants?subject=engineers", "olga"))["items"]
    assert {("member", "lake_house"), ("editor", "clean")} <= {(each["role"], each["resource"]["id"]) for each in held}


def test_credentials_are_decrypted(api: Api) -> None:
    path = "/api/v1/resources/webshop_db/credentials"
    assert json_body(api.get(path, "olga"))["names"] == ["password"]
    assert json_body(api.post(f"{path}/copy", "olga"))["credentials"] == {"password": SECRET}


def test_runs_are_answered_with_their_steps_and_logs(api: Api) -> None:
    runs = json_body(api.get("/api/v1/runs?limit=100", "olga"))["items"]
    found = [json_body(api.get(f"/api/v1/runs/{run['id']}", "olga")) for run in runs]
    steps = [step for run in found for step in run["steps"]]
    assert (len(found), len(steps)) == (14, 17)
    assert {step["state"] for step in steps} == {"succeeded"}
    assert {(step["name"], step["rows"]) for step in steps} >= {("orders", 2400), ("customers", 240), ("events", 1500)}
    logs = [json_body(api.get(f"/api/v1/runs/{run['id']}/log", "olga")) for run in runs]
    assert sum(len(log["items"]) for log in logs) == 21


def test_triggers_are_answered(api: Api) -> None:
    runs = json_body(api.get("/api/v1/runs?limit=100", "olga"))["items"]
    lists = [api.get(f"/api/v1/triggers?resource={uid}", "olga") for uid in {run["resource"] for run in runs}]
    found = [trigger for each in lists for trigger in json_body(each)["items"]]
    assert len(found) == 14
    assert Counter(trigger["saved_by"] for trigger in found) == {"erik": 9, "tara": 3, "bella": 2}
    assert all(trigger["active"] for trigger in found)


def test_the_audit_log_is_answered_and_verified(api: Api) -> None:
    verified = json_body(api.get("/api/v1/access/audit/verify", "olga"))
    assert (verified["whole"], verified["fault"]) == (True, "")
    assert json_body(api.get("/api/v1/access/audit?member=erik&limit=10", "olga"))["items"]


def test_rows_are_answered(api: Api) -> None:
    rows = json_body(api.get("/api/v1/tables/shop_raw_orders/rows?limit=5", "olga"))
    assert len(rows["rows"]) == 5


def test_members_grants_and_decisions_are_there(platform: Platform) -> None:
    with platform.read(OLGA) as ctx:
        members = ctx.session.list("olga", "see", "tenant.member", limit=100).items
        assert len(members) == 18
        asked = [("tara", "edit", "daily_sales"), ("bella", "edit", "daily_sales"), ("erik", "edit", "orders")]
        assert ctx.session.check_many([*asked, ("nils", "read", "salaries")]) == [True, False, True, False]


def test_requests_wait_for_who_answers_them(platform: Platform) -> None:
    with platform.read(Caller(company.TENANT, "ana")) as ctx:
        assert requests.list_own(ctx, limit=50)
    with platform.read(OLGA) as ctx:
        assert isinstance(approvals.list_answerable(ctx, limit=50), list)


def test_the_audit_log_is_whole(platform: Platform) -> None:
    with platform.read(OLGA) as ctx:
        verified = ctx.audit.verify()
        assert not verified.fault
        assert verified.entries >= 214


def test_runs_and_triggers_are_there(platform: Platform) -> None:
    runs = Runs(workspaces.runnables())
    with platform.read(OLGA) as ctx:
        found = runs.page(ctx, limit=100)
        assert len(found) == 14
        assert {run.state for run in found} == {"succeeded"}
        assert Counter(run.cause.kind for run in found) == {"manual": 3, "dependency": 11}
        assert {run.cause.run for run in found} <= {"", *(run.id for run in found)}
    with platform.read(ERIK) as ctx:
        (trigger,) = Triggers(runs).for_resource(ctx, "orders_source")
        assert trigger.when.cron == "0 4 * * *"


def test_tables_have_their_rows(platform: Platform) -> None:
    lake = IcebergCatalog(platform.settings)
    with platform.read(OLGA) as ctx:
        places = {uid: readable_tables.identifier_of(ctx, uid) for uid in ROWS}
    found = {uid: lake.current_metadata(place) for uid, place in places.items()}
    counts = {uid: now.current.count("total-records") if now and now.current else 0 for uid, now in found.items()}
    assert counts == ROWS
    orders = previews.read_preview(lake, places["shop_raw_orders"], PreviewOptions(rows=100)).rows
    assert orders.num_rows == 100
    assert "order_id" in orders.column_names
    lake.close()


def test_its_places_are_marked_by_the_first_start(platform: Platform) -> None:
    assert {file.parent.name for file in PLACE.glob(f"*/{MARKER}")} == {"warehouse", "volumes"}
    refuse_foreign_warehouse(platform.settings)


def test_a_delivered_file_is_there(platform: Platform) -> None:
    files = {file.name: file for file in platform.settings.volumes_folder.rglob("*.csv")}
    assert files["sales by day.csv"].read_text(encoding="utf-8").count("\n") > 10
