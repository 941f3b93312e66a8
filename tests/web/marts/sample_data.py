"""Storages and data marts of the demo company, set up for a test."""

from __future__ import annotations

from collections.abc import Mapping

from lakehold.catalog import resource_edit, resource_metadata, resources
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.catalog.resource_view import ResourceView
from lakehold.lake import readable_tables
from lakehold.lake.volumes import Volume
from tests.web.demo import Shop
from tests.web.lakehouse.recorded_runs import LAKE, as_member

SALES = "id;store;amount\n1;Ulm;2.50\n2;Bonn;3.75\n"


def update_settings(shop: Shop, uid: str, *, by_whom: str = "tara", **settings: object) -> None:
    """Update some settings of a resource, and keep the others."""
    with shop.platform.write(as_member(by_whom)) as ctx:
        resource_edit.apply_edit(
            ctx, uid, ResourceEdit(settings={**resource_metadata.load(ctx, uid).settings, **settings})
        )


def set_managed(shop: Shop, uid: str, **managed: object) -> None:
    """Set settings of a data mart that only the platform sets."""
    with shop.platform.write(as_member("tara")) as ctx:
        resource_edit.apply_edit(ctx, uid, ResourceEdit(managed=managed))


def settings_of(shop: Shop, uid: str) -> Mapping[str, object]:
    with shop.platform.read(as_member("olga")) as ctx:
        return resource_metadata.load(ctx, uid).settings


def find_resource(shop: Shop, kind: str, name: str) -> ResourceView:
    """Return the resource of this name in the project."""
    with shop.platform.read(as_member("olga")) as ctx:
        (item,) = (
            each for each in resources.find(ctx, among=[kind], within="sales", search=name).items if each.name == name
        )
        return resources.get(ctx, item.uid)


def use_lake_storage(shop: Shop) -> None:
    """Make the storage `lake` the lakehouse, in which Tara reads what engineers read."""
    update_settings(shop, "lake", kind="lake", lakehouse=LAKE)


def create_file_storage(shop: Shop, *, name: str = "Sheets", member: str = "tara") -> str:
    """Create a storage of files with one file in it."""
    with shop.platform.write(as_member(member)) as ctx:
        edges = {"project": "sales"}
        uid = resources.create(ctx, "marts.storage", name, edges=edges, settings={"kind": "files", "folder": ""})
    with shop.platform.read(as_member(member)) as ctx:
        volume = Volume(shop.platform.settings, readable_tables.identifier_of(ctx, uid))
    with volume.open_partial() as rough:
        rough.write(SALES.encode())
        volume.publish(rough, "sales.csv", replace=True)
    return uid
