"""Data spaces of Corner & Main, whose tasks run as the owner of their project."""

from __future__ import annotations

from lakehold.access.facts.records import Grant
from lakehold.access.facts.store import EdgeTargetIds, FactStore

SPACES: dict[str, tuple[str, str, dict[str, tuple[str, ...]]]] = {
    "landing": ("Landing", "petra", {"erik": ("can_edit",), "otto": ("can_operate",), "ana": ("can_view",)}),
    "serving": (
        "Serving",
        "stella",
        {
            "petra": ("can_consume_data",),
            "otto": ("can_operate", "can_view_data"),
            "analysts": ("can_view", "can_consume_data"),
            "mona": ("can_manage",),
        },
    ),
    "sources": ("Sources", "dana", {"petra": ("can_consume_data",), "erik": ("can_view",)}),
    "olgas": ("Olga's own", "olga", {}),
}

# project: space, owner
PROJECTS = {
    "ingest": ("landing", "petra"),
    "replicate": ("landing", "erik"),
    "publish": ("serving", "stella"),
}

# task: project, source connections, target connections, tasks read
TASKS = {
    "land_tills": ("ingest", ("till_link",), ("lake_link",), ()),
    "land_web": ("ingest", ("web_link",), ("lake_link",), ()),
    "land_stock": ("ingest", ("stock_link",), ("lake_link",), ()),
    "copy_erp": ("replicate", ("erp_link",), ("lake_link",), ()),
    "copy_crm": ("replicate", ("crm_link",), ("lake_link",), ()),
    "serve_sales": ("publish", (), ("lake_link",), ("land_tills", "land_web")),
    "serve_stock": ("publish", (), ("lake_link",), ("land_stock",)),
}

# connection: space, owner, gateway
CONNECTIONS = {
    "till_link": ("sources", "dana", "shop_gateway"),
    "web_link": ("sources", "erik", None),
    "stock_link": ("sources", "erik", "shop_gateway"),
    "erp_link": ("sources", "dana", None),
    "crm_link": ("sources", "dana", None),
    "lake_link": ("landing", "petra", None),
}


def load(store: FactStore, tenant: str) -> None:
    """Write the spaces with their resources and grants."""
    for uid, (name, owner, roles) in SPACES.items():
        attributes = {"personal": uid == "olgas"}
        store.create("spaces.space", name, uid=uid, edges={"tenant": tenant}, attributes=attributes, creator=owner)
        for subject, held in roles.items():
            for role in held:
                store.add(Grant(subject, role, uid))
    store.create("spaces.gateway", "Shop gateway", uid="shop_gateway", edges={"space": "sources"}, creator="dana")
    for uid, (space, owner, gateway) in CONNECTIONS.items():
        links = {"space": space} | ({"gateway": gateway} if gateway else {})
        store.create("spaces.connection", _name(uid), uid=uid, edges=links, creator=owner)
    for uid, (space, owner) in PROJECTS.items():
        store.create("spaces.project", _name(uid), uid=uid, edges={"space": space}, creator=owner)
    for uid, (project, sources, targets, reads) in TASKS.items():
        edges: EdgeTargetIds = {"project": project, "sources": sources, "targets": targets, "reads": reads}
        store.create("spaces.task", _name(uid), uid=uid, edges=edges, creator=PROJECTS[project][1])
    app: EdgeTargetIds = {"space": "serving", "uses": ("serve_sales",)}
    store.create("spaces.app", "Sales cockpit", uid="sales_cockpit", edges=app, creator="bella")
    store.add(Grant("nils", "viewer", "sales_cockpit"))


def _name(uid: str) -> str:
    return uid.replace("_", " ").capitalize()
