"""Store lake: the layers, tables and pipelines of Corner & Main."""

from __future__ import annotations

from lakehold.access.facts.records import Grant
from lakehold.access.facts.store import FactStore

LAKEHOUSE = "lake_house"

LAYERS = {
    "raw": ("tills", "web_orders", "web_clicks", "stock_moves", "supplier_feed", "staff_hours", "payments", "weather"),
    "clean": ("orders", "order_lines", "customers", "stores", "items", "stock", "employees", "invoices", "shipments"),
    "shaped": ("sales_by_day", "sales_by_store", "basket_pairs", "margin_by_item", "customer_value", "stock_cover"),
    "private": ("salaries", "health_leave", "board_plan"),
}

# pipeline: kind, tables read, tables written, output layer
PIPELINES = {
    "make_orders": ("query", ("tills", "web_orders"), ("orders",), "clean"),
    "make_lines": ("query", ("tills", "web_orders"), ("order_lines",), "clean"),
    "make_customers": ("query", ("web_orders", "payments"), ("customers",), "clean"),
    "day_totals": ("query", ("orders", "order_lines"), ("sales_by_day",), "shaped"),
    "store_totals": ("query", ("orders", "stores"), ("sales_by_store",), "shaped"),
    "basket_study": ("notebook", ("order_lines", "items"), ("basket_pairs",), "shaped"),
    "margin_study": ("notebook", ("order_lines", "items", "invoices"), ("margin_by_item",), "shaped"),
    "pay_study": ("notebook", ("salaries", "employees"), (), "private"),
    "item_history": ("history", ("items",), (), "clean"),
    "store_history": ("history", ("stores",), (), "clean"),
    "to_finance": ("destination", ("invoices", "sales_by_day"), (), None),
    "to_shops": ("destination", ("stock_cover",), (), None),
    "mail_tool": ("integration", ("customers", "customer_value"), (), None),
}

SOURCES = {
    "till_source": ("raw", ("tills", "payments")),
    "shop_source": ("raw", ("web_orders", "web_clicks")),
    "stock_source": ("raw", ("stock_moves", "supplier_feed")),
    "people_source": ("raw", ("staff_hours",)),
}

GRANTS = (
    ("engineers", "editor", "raw"),
    ("engineers", "editor", "clean"),
    ("engineers", "viewer", "shaped"),
    ("analysts", "viewer", "shaped"),
    ("ana", "viewer", "clean"),
    ("ana", "editor", "customer_value"),
    ("mona", "manager", "raw"),
    ("mona", "manager", "clean"),
    ("mona", "manager", "shaped"),
    ("carla", "viewer", "salaries"),
    ("corner/all", "viewer", "weather"),
)


def load(store: FactStore, tenant: str) -> None:
    """Write the lakehouse with its resources and grants."""
    store.create("lakehouse.lakehouse", "Store lake", uid=LAKEHOUSE, edges={"tenant": tenant})
    for member in ("engineers", "analysts", "stewards", "tim"):
        store.add(Grant(member, "member", LAKEHOUSE))
    for layer, tables in LAYERS.items():
        store.create("lakehouse.layer", layer.capitalize(), uid=layer, edges={"lakehouse": LAKEHOUSE})
        for table in tables:
            store.create("lakehouse.table", table, uid=table, edges={"layer": layer})
        store.create("lakehouse.volume", f"{layer} files", uid=f"{layer}_files", edges={"layer": layer})
    _load_pipelines(store)
    for subject, role, resource in GRANTS:
        store.add(Grant(subject, role, resource))


def _load_pipelines(store: FactStore) -> None:
    for uid, (kind, reads, writes, into) in PIPELINES.items():
        edges = {"lakehouse": LAKEHOUSE, "reads": reads, "writes": writes} | ({"into": into} if into else {})
        store.create(f"lakehouse.{kind}", uid.replace("_", " ").capitalize(), uid=uid, edges=edges)
    for uid, (layer, tables) in SOURCES.items():
        name = uid.replace("_", " ").capitalize()
        store.create("lakehouse.source", name, uid=uid, edges={"lakehouse": LAKEHOUSE, "into": layer})
        for table in tables:
            stream = f"{table}_stream"
            store.create("lakehouse.stream", f"{table} stream", uid=stream, edges={"source": uid, "writes": table})
    for owner, reads in (("ana", ("sales_by_day",)), ("erik", ("orders", "stores"))):
        store.create(
            "lakehouse.saved_query",
            f"Query of {owner}",
            uid=f"{owner}_query",
            edges={"lakehouse": LAKEHOUSE, "reads": reads},
            creator=owner,
        )
