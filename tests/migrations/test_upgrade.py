"""A database with data in it comes to this version from every earlier one, and loses nothing."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.script import ScriptDirectory

import lakehold.migrations
from lakehold.access import AccessEngine, Attribute
from lakehold.access.facts.names import NameTakenError
from lakehold.demo import company
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.kit.database import Database
from lakehold.kit.settings import Settings
from lakehold.runs.cause import CauseKind, RunCause
from lakehold.runs.run_table import load_cause, run_table
from lakehold.workspaces import registry
from tests import postgres

REVISIONS = [step.revision for step in ScriptDirectory(str(Path(lakehold.migrations.__file__).parent)).walk_revisions()]
ASKED = [("tara", "edit", "daily_sales"), ("bella", "edit", "daily_sales"), ("erik", "edit", "orders")]


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database without tables."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'lakehold.sqlite'}"
    running: postgres.Server = request.getfixturevalue("server")
    return running.url(running.create())


SPAN = '{"reload": false, "parameters": {}, "span": ["2031-01-01", ""]}'
CAUSES = [
    ("by hand", "{}", RunCause(CauseKind.MANUAL)),
    ("by schedule 30 6 * * 1-5 Europe/Berlin", "{}", RunCause(CauseKind.SCHEDULE, "", "30 6 * * 1-5", "Europe/Berlin")),
    ("by schedule 0 * * * * UTC", "{}", RunCause(CauseKind.SCHEDULE, "", "0 * * * *", "UTC")),
    ("after run_1", "{}", RunCause(CauseKind.DEPENDENCY, "run_1")),
    ("again after run_2", SPAN, RunCause(CauseKind.RETRY, "run_2")),
    ("for upkeep", "{}", RunCause(CauseKind.MAINTENANCE)),
    ("by hand", SPAN, RunCause(CauseKind.BACKFILL)),
    ("by hand", '{"parameters": {"note": "a \\"span\\" and \'span\'", "span": 1}}', RunCause(CauseKind.MANUAL)),
]


@pytest.mark.parametrize("revision", REVISIONS)
def test_upgrade_with_data(url: str, revision: str, tmp_path: Path) -> None:
    old = Database(url)
    old.migrate(revision)
    access = AccessEngine(old)
    company.load(access)
    with access.read(company.TENANT) as session:
        said = session.check_many(ASKED)
    old.close()

    platform = Platform(Settings(data=tmp_path / "data", database=url))
    platform.database.migrate()
    with platform.write(Caller(company.TENANT, "olga")) as ctx:
        assert ctx.session.check_many(ASKED) == said
        ctx.note("upgrade", company.TENANT)
    with platform.read(Caller(company.TENANT, "olga")) as ctx:
        assert not ctx.audit.verify().fault
    platform.close()


@pytest.mark.flow
def test_causes_of_stored_runs(url: str) -> None:
    database = Database(url)
    database.migrate("0016")
    others = ("tenant_id", "resource_id", "workspace_id", "tries", "made_at")
    texts = ("tenant", "kind", "state", "started_by", "caller", "error")
    names = ("id", "cause", "options", *others, *texts)
    before = sa.table("run", *map(sa.column, names))
    with database.write() as transaction:
        for number, (cause, options, _) in enumerate(CAUSES):
            run = {"id": f"run_{number}", "cause": cause, "options": options}
            values = run | dict.fromkeys(others, 1) | dict.fromkeys(texts, "")
            transaction.connection.execute(before.insert().values(**values))
    database.migrate()
    with database.read() as transaction:
        rows = transaction.connection.execute(sa.select(run_table).order_by(run_table.c.n)).all()
    assert [load_cause(row) for row in rows] == [cause for _, _, cause in CAUSES]
    assert [load_cause(row).text for row in rows] == [text for text, _, _ in CAUSES]
    assert [row.options for row in rows] == [options for _, options, _ in CAUSES]
    database.close()


@pytest.mark.flow
def test_doubles_get_other_names(url: str, caplog: pytest.LogCaptureFixture) -> None:
    database = Database(url)
    database.migrate("0019")
    access = AccessEngine(database)
    company.load(access)
    with access.write(company.TENANT) as session:
        store = session.store
        for number in range(2):
            store.create("lakehouse.table", "Orders", uid=f"orders_{number}", edges={"layer": "clean"})
            store.create("spaces.connection", "Tills", uid=f"tills_{number}", edges={"space": "landing"})
        store.create("lakehouse.table", "orders", uid="elsewhere", edges={"layer": "raw"})
        store.create("lakehouse.table", "orders_2", uid="in_the_way", edges={"layer": "clean"})
        store.create("tenant.group", "All", uid="another_all", edges={"tenant": company.TENANT})
        store.create("spaces.space", "STORE LAKE", uid="alike", edges={"tenant": company.TENANT})
        report = {"data_mart": "suppliers", "destination": "finance_table"}
        name = session.current_view().names.get(session.current_view().resource("margin_book")) or ""
        store.create("marts.report", name, uid="of_another_mart", edges=report)
        store.create("marts.destination", "Finance table", uid="deleted_one", edges={"project": "sales"})
        store.add(Attribute("deleted_one", "deleted", "true"))
        number, tenant = session.current_view().resource("day_totals"), session.tenant
        settings = json.dumps({"sql": "SELECT * FROM clean.ORDERS JOIN clean.reorders"})
        detail = sa.table("detail", *map(sa.column, ("tenant_id", "resource_id", "settings", "description")))
        rest = {"version": 1, "created_by": "", "updated_by": ""}
        columns = sa.table("detail", *map(sa.column, (*detail.c.keys(), *rest)))
        session.transaction.connection.execute(
            columns.insert().values(tenant_id=tenant, resource_id=number, settings=settings, description="", **rest)
        )
    with caplog.at_level("WARNING", logger="lakehold.names"):
        database.migrate()
    renamed = {
        "orders": "orders",
        "orders_0": "Orders 2",
        "orders_1": "Orders 3",
        "elsewhere": "orders",
        "in_the_way": "orders_2",
        "another_all": "All 2",
        "alike": "STORE LAKE 2",
        "of_another_mart": f"{name} 2",
        "deleted_one": "Finance table",
        "tills_0": "Tills",
        "tills_1": "Tills 2",
    }
    fresh = AccessEngine(database, names=registry.unique_names())
    with fresh.read(company.TENANT) as session:
        view = session.current_view()
        assert {uid: view.names.get(view.resource(uid)) for uid in renamed} == renamed
    lines = [record.getMessage() for record in caplog.records if record.name == "lakehold.names"]
    assert "renamed the lakehouse.table orders_0 from 'Orders' to 'Orders 2': another one has its name" in lines
    assert "the settings of day_totals name 'Orders'; check which of them they mean" in lines
    # From now on the database keeps them apart.
    for kind, name, edges in (
        ("lakehouse.table", "ORDERS", {"layer": "clean"}),
        ("lakehouse.layer", "clean", {"lakehouse": "lake_house"}),
        ("marts.report", renamed["of_another_mart"], report),
        ("tenant.group", "all", {"tenant": company.TENANT}),
        ("products.project", "store lake", {"tenant": company.TENANT}),
        ("spaces.connection", "TILLS", {"space": "landing"}),
    ):
        with pytest.raises(NameTakenError), fresh.write(company.TENANT) as session:
            session.store.create(kind, name, edges=edges)
    database.close()
