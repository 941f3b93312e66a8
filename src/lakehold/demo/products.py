"""Mastered entities of Corner & Main: customers, items, suppliers and stores."""

from __future__ import annotations

from lakehold.access.facts.records import Grant
from lakehold.access.facts.store import FactStore

PROJECTS = {
    "masters": ("Masters", {"mona": "admin", "engineers": "editor", "ana": "viewer"}),
    "suppliers_360": ("Suppliers 360", {"petra": "admin"}),
}

# product: project, roles
PRODUCTS = {
    "customer": ("masters", {"carla": "curator", "bella": "viewer"}),
    "item": ("masters", {"carla": "curator"}),
    "store_master": ("masters", {}),
    "supplier": ("suppliers_360", {"carla": "viewer", "tim": "developer"}),
}


def load(store: FactStore, tenant: str) -> None:
    """Write the projects with their products and grants."""
    for uid, (name, roles) in PROJECTS.items():
        store.create("products.project", name, uid=uid, edges={"tenant": tenant})
        for subject, role in roles.items():
            store.add(Grant(subject, role, uid))
        for kind in ("source", "workflow", "destination"):
            part = f"{uid}_{kind}"
            store.create(f"products.{kind}", f"{name} {kind}", uid=part, edges={"project": uid})
    for uid, (project, roles) in PRODUCTS.items():
        name = uid.replace("_", " ").capitalize()
        store.create("products.product", name, uid=uid, edges={"project": project})
        for subject, role in roles.items():
            store.add(Grant(subject, role, uid))
