"""The web shop of Corner & Main: orders as files, customers in a database, events behind a paged API.

They are loaded into the layer raw, cleaned in trusted and aggregated in service; customers have a history, and daily
sales are delivered as a file. Adam creates the lakehouse, and Erik its pipelines, through the services. Tara and Bella
create data marts and reports, which are refreshed after runs of the lakehouse and sent after that.
"""

from collections.abc import Iterable
from pathlib import Path

from lakehold import workspaces
from lakehold.access import Add, Grant
from lakehold.catalog import resource_edit, resource_metadata, resources
from lakehold.demo import company, web_shop_data
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.lake import readable_tables
from lakehold.lake.volumes import Volume
from lakehold.runs.scheduler.schedule import TriggerSchedule
from lakehold.runs.scheduler.service import Triggers
from lakehold.runs.service import Runs

LAKEHOUSE = "web_shop"
EVENTS_SOURCE = "events_source"
"""The source that asks the API."""
DATABASE_FILE = "customers.sqlite"
_LAYERS = ("raw", "trusted", "service")

STORAGE, FILE_DESTINATION, LIVE_DESTINATION = "shop_lake", "report_files", "bi_tools"
_CONTENT = company.read_yaml("web_shop.yaml")


def create_web_shop(platform: Platform, folder: Path) -> None:
    """Create everything and start the first runs. `folder` is where the installation will be."""
    with platform.write(company.caller("adam")) as ctx:
        _create_lakehouse(ctx)
    web_shop_data.write_customers(platform.settings.data / DATABASE_FILE)
    with platform.write(company.caller("erik")) as ctx:
        volume = Volume(platform.settings, readable_tables.identifier_of(ctx, "shop_files"))
        for name, text in web_shop_data.generate_orders():
            with volume.open_partial() as rough:
                rough.write(text.encode())
                volume.publish(rough, name, replace=True)
        sources = _create_sources(ctx, folder)
        _create_pipelines(ctx, sources)


def set_events_address(platform: Platform, address: str) -> None:
    """Set the address of the events API."""
    with platform.write(company.caller("erik")) as ctx:
        settings = {**resource_metadata.load(ctx, EVENTS_SOURCE).settings, "address": address}
        resource_edit.apply_edit(ctx, EVENTS_SOURCE, resource_edit.ResourceEdit(settings=settings))


def _create_lakehouse(ctx: RequestContext) -> None:
    resources.create(ctx, "lakehouse.lakehouse", "Web shop", uid=LAKEHOUSE, edges={"tenant": company.TENANT})
    for layer in _LAYERS:
        resources.create(ctx, "lakehouse.layer", layer, uid=f"shop_{layer}", edges={"lakehouse": LAKEHOUSE})
    resources.create(ctx, "lakehouse.volume", "files", uid="shop_files", edges={"layer": "shop_raw"})
    resources.create(ctx, "lakehouse.volume", "exports", uid="shop_exports", edges={"layer": "shop_service"})
    given = [("engineers", "member", LAKEHOUSE), ("analysts", "member", LAKEHOUSE)]
    given += [("engineers", "editor", f"shop_{layer}") for layer in _LAYERS]
    given += [("analysts", "viewer", "shop_service"), ("mona", "manager", "shop_trusted")]
    for subject, role, uid in given:
        ctx.make(Add(Grant(subject, role, uid)))


def customers_address(folder: Path) -> str:
    """Return the address of the customer database."""
    return f"jdbc:sqlite:{folder.absolute() / DATABASE_FILE}"


def _create_sources(ctx: RequestContext, folder: Path) -> list[str]:
    endpoint = {"name": "events", "path": "events", "records": "events", "paging": {"by": "page"}}
    sources: dict[str, tuple[str, dict[str, object]]] = {
        "orders_source": ("Order files", {"connector": "files", "volume": "shop_files"}),
        "customers_source": ("Customer database", {"connector": "database", "address": customers_address(folder)}),
        EVENTS_SOURCE: ("Web events", {"connector": "api", "address": "http://127.0.0.1", "endpoints": [endpoint]}),
    }
    streams: dict[str, tuple[str, dict[str, object]]] = {
        "orders_source": ("orders", {"stream": "orders-*.csv", "mode": "merge", "keys": ["order_id"]}),
        "customers_source": ("customers", {"stream": "customers", "mode": "full"}),
        EVENTS_SOURCE: ("events", {"stream": "events", "mode": "merge", "keys": ["id"]}),
    }
    for uid, (name, settings) in sources.items():
        edges = {"lakehouse": LAKEHOUSE, "into": "shop_raw"}
        resources.create(ctx, "lakehouse.source", name, uid=uid, edges=edges, settings=settings)
        table, how = streams[uid]
        raw = f"shop_raw_{table}"
        resources.create(ctx, "lakehouse.table", table, uid=raw, edges={"layer": "shop_raw"})
        edges = {"source": uid, "writes": raw}
        resources.create(ctx, "lakehouse.stream", table, uid=f"{uid}_{table}", edges=edges, settings=how)
    return list(sources)


def _create_pipelines(ctx: RequestContext, sources: list[str]) -> None:
    runs = Runs(workspaces.runnables())
    triggers = Triggers(runs)
    for uid in sources:
        triggers.save(ctx, uid, TriggerSchedule("0 4 * * *", "Europe/Berlin"))
    pipelines: dict[str, list[str]] = {"trusted": [], "service": []}
    for table, query in _CONTENT["queries"].items():
        layer = query["layer"]
        uid = _create_pipeline(ctx, "query", table, layer, query["reads"], sql=query["sql"])
        triggers.save(
            ctx, uid, TriggerSchedule(after=tuple(sources if layer == "trusted" else pipelines["trusted"]), every=True)
        )
        pipelines[layer].append(uid)
    history = _create_pipeline(
        ctx, "history", "customer_history", "trusted", ("shop_raw_customers",), keys=["customer_id"]
    )
    triggers.save(ctx, history, TriggerSchedule(after=("customers_source",)))
    edges = {"lakehouse": LAKEHOUSE, "reads": ["shop_service_sales_by_day"], "writes": ["shop_exports"]}
    settings = {"to": "files", "name": "sales by day", "kind": "csv"}
    file = resources.create(
        ctx, "lakehouse.destination", "Sales as a file", uid="sales_file", edges=edges, settings=settings
    )
    triggers.save(ctx, file, TriggerSchedule(after=("make_sales_by_day",)))
    for uid in sources:
        runs.start(ctx, uid)


def _create_pipeline(
    ctx: RequestContext, kind: str, table: str, layer: str, reads: Iterable[str], **settings: object
) -> str:
    target = f"shop_{layer}_{table}"
    resources.create(ctx, "lakehouse.table", table, uid=target, edges={"layer": f"shop_{layer}"})
    edges = {"lakehouse": LAKEHOUSE, "reads": list(reads), "writes": [target], "into": f"shop_{layer}"}
    name = f"Make {table.replace('_', ' ')}"
    uid = f"make_{table}" if table != "orders" else "make_shop_orders"
    return resources.create(ctx, f"lakehouse.{kind}", name, uid=uid, edges=edges, settings=settings)


def create_web_shop_marts(platform: Platform) -> None:
    """Create the data marts and reports, which wait for runs of the web shop."""
    with platform.write(company.caller("tara")) as ctx:
        _create_marts(ctx)
    with platform.write(company.caller("bella")) as ctx:
        _create_reports(ctx)


def _create_marts(ctx: RequestContext) -> None:
    triggers = Triggers(Runs(workspaces.runnables()))
    here = {"project": company.MARTS_PROJECT, "contexts": ["emea"]}
    for kind, name, uid, settings in (
        ("storage", "Web shop lake", STORAGE, {"kind": "lake", "lakehouse": LAKEHOUSE}),
        ("destination", "BI tools", LIVE_DESTINATION, {"to": "live"}),
    ):
        attributes = {"shared_for_use": True}
        resources.create(ctx, f"marts.{kind}", name, uid=uid, edges=here, settings=settings, attributes=attributes)
    for uid, mart in _CONTENT["data_marts"].items():
        joins = [{"mart": other, "name": "customer", "on": {key: key}} for other, key in mart["joins"].items()]
        resources.create(
            ctx,
            "marts.data_mart",
            mart["name"],
            uid=uid,
            edges={**here, "storage": STORAGE, "joins": list(mart["joins"])},
            settings={**mart["settings"], "joins": joins},
            managed={"published": True},
            attributes={"shared_for_reporting": True},
            description=mart["description"],
        )
        triggers.save(ctx, uid, TriggerSchedule(after=(mart["after"],)))


def _create_reports(ctx: RequestContext) -> None:
    triggers = Triggers(Runs(workspaces.runnables()))
    edges, settings = {"project": company.MARTS_PROJECT}, {"to": "files", "kind": "csv"}
    resources.create(ctx, "marts.destination", "Report files", uid=FILE_DESTINATION, edges=edges, settings=settings)
    for uid, report in _CONTENT["reports"].items():
        mart, about = report["data_mart"], {"settings": report["settings"], "description": report["description"]}
        edges = {"data_mart": mart, "destination": report["destination"]}
        resources.create(ctx, "marts.report", report["name"], uid=uid, edges=edges, **about)
        if report["destination"] == FILE_DESTINATION:
            joined = _CONTENT["data_marts"][mart]["joins"]
            triggers.save(ctx, uid, TriggerSchedule(after=(mart, *joined), every=True))
