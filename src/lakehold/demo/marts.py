"""Sales marts: the storages, data marts, destinations and reports of Corner & Main."""

from __future__ import annotations

from lakehold.access.facts.records import Attribute, Grant
from lakehold.access.facts.store import FactStore

PROJECT = "sales"

ROLES = {"tara": "technical_user", "tim": "technical_user", "bella": "business_user", "boris": "business_user"}

# name: owner, shared for use, shared for maintenance, contexts
STORAGES = {
    "lake": ("tara", True, False, ("emea", "americas")),
    "webshop_db": ("tara", True, True, ("emea",)),
    "till_files": ("tim", False, False, ()),
}
DESTINATIONS = {
    "board_mail": ("bella", True, False, ("emea", "americas")),
    "store_sheets": ("tara", True, True, ("emea",)),
    "finance_table": ("tara", False, False, ()),
    "chat": ("boris", True, False, ("emea",)),
    "archive_files": ("tim", False, True, ("emea",)),
}
# name: storage, technical owner, business owner, shared for reporting, shared for maintenance, contexts
MARTS = {
    "daily_sales": ("lake", "tara", "bella", True, False, ("emea", "americas")),
    "store_targets": ("lake", "tara", "bella", True, True, ("emea",)),
    "returns": ("lake", "tara", None, True, False, ("emea",)),
    "margins": ("lake", "tara", None, False, False, ()),
    "web_sessions": ("webshop_db", "tim", None, True, True, ("emea",)),
    "baskets": ("webshop_db", "tim", "boris", True, False, ("emea",)),
    "campaigns": ("webshop_db", "tim", None, False, True, ("americas",)),
    "loyalty": ("lake", "tara", "boris", False, False, ("emea",)),
    "staffing": ("till_files", "tim", None, False, False, ()),
    "stock_levels": ("lake", "tara", None, True, True, ("emea", "americas")),
    "suppliers": ("lake", "tara", None, True, False, ("americas",)),
    "price_changes": ("till_files", "tim", None, False, True, ("emea",)),
}
# name: mart, destination, owner
REPORTS = {
    "morning_sales": ("daily_sales", "board_mail", "bella"),
    "weekly_targets": ("store_targets", "store_sheets", "bella"),
    "returns_watch": ("returns", "chat", "boris"),
    "margin_book": ("margins", "finance_table", "tara"),
    "basket_mix": ("baskets", "chat", "boris"),
    "session_funnel": ("web_sessions", "store_sheets", "tim"),
    "stock_alert": ("stock_levels", "chat", "boris"),
    "supplier_bill": ("suppliers", "finance_table", "tara"),
    "loyalty_letter": ("loyalty", "board_mail", "boris"),
    "month_end": ("daily_sales", "archive_files", "bella"),
}


def load(store: FactStore, tenant: str) -> None:
    """Write the project with its resources and grants."""
    store.create("marts.project", "Sales marts", uid=PROJECT, edges={"tenant": tenant})
    for context in ("emea", "americas"):
        store.create("marts.context", context.upper(), uid=context, edges={"project": PROJECT})
    for member, role in ROLES.items():
        store.add(Grant(member, role, PROJECT))
    for member in ("tim", "boris"):
        store.add(Attribute(PROJECT, "scope", "selected_contexts", member))
        store.add(Grant(member, "holder", "emea"))
    _load_connections(store)
    _load_data_marts(store)
    _load_reports(store)


def _load_connections(store: FactStore) -> None:
    for kind, resources in (("marts.storage", STORAGES), ("marts.destination", DESTINATIONS)):
        for uid, (owner, use, maintenance, contexts) in resources.items():
            store.create(
                kind,
                uid.replace("_", " ").capitalize(),
                uid=uid,
                edges={"project": PROJECT, "contexts": contexts},
                attributes={"shared_for_use": use, "shared_for_maintenance": maintenance},
                creator=owner,
            )


def _load_data_marts(store: FactStore) -> None:
    for uid, (storage, technical, business, reporting, maintenance, contexts) in MARTS.items():
        store.create(
            "marts.data_mart",
            uid.replace("_", " ").capitalize(),
            uid=uid,
            edges={"project": PROJECT, "storage": storage, "contexts": contexts},
            attributes={"shared_for_reporting": reporting, "shared_for_maintenance": maintenance},
            creator=technical,
        )
        if business:
            store.add(Grant(business, "business_owner", uid))
        trigger = f"{uid}_refresh"
        store.create("marts.data_mart_trigger", f"Refresh of {uid}", uid=trigger, edges={"data_mart": uid})


def _load_reports(store: FactStore) -> None:
    for uid, (mart, destination, owner) in REPORTS.items():
        name = uid.replace("_", " ").capitalize()
        edges = {"data_mart": mart, "destination": destination}
        store.create("marts.report", name, uid=uid, edges=edges, creator=owner)
        store.create("marts.report_trigger", f"Schedule of {uid}", uid=f"{uid}_schedule", edges={"report": uid})
        store.create("marts.run", f"Run of {uid}", uid=f"{uid}_run", edges={"data_mart": mart, "report": uid})
