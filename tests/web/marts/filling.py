"""Storages and data marts of the demo company, set up for a test."""

from __future__ import annotations

from collections.abc import Mapping

from lakehold.catalog import resource_edit, resource_metadata, resources
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.catalog.resource_view import ResourceView
from lakehold.lake import readable_tables
from lakehold.lake.volumes import Volume
from tests.web.demo import Shop
from tests.web.lakehouse.pipelines import LAKE, by

SALES = "id;store;amount\n1;Ulm;2.50\n2;Bonn;3.75\n"


def said(shop: Shop, uid: str, *, by_whom: str = "tara", **settings: object) -> None:
    """Something is set, and the rest stays."""
    with shop.platform.write(by(by_whom)) as ctx:
        resource_edit.apply_edit(
            ctx, uid, ResourceEdit(settings={**resource_metadata.load(ctx, uid).settings, **settings})
        )


def settings_of(shop: Shop, uid: str) -> Mapping[str, object]:
    with shop.platform.read(by("olga")) as ctx:
        return resource_metadata.load(ctx, uid).settings


def found(shop: Shop, kind: str, name: str) -> ResourceView:
    """The one of this name in the project."""
    with shop.platform.read(by("olga")) as ctx:
        (item,) = (each for each in resources.page(ctx, kind, within="sales", search=name).items if each.name == name)
        return resources.get(ctx, item.uid)


def lake(shop: Shop) -> None:
    """The storage lake is the store's lake, in which Tara reads what engineers read."""
    said(shop, "lake", kind="lake", lakehouse=LAKE)


def files(shop: Shop, *, name: str = "Sheets", member: str = "tara") -> str:
    """A storage of files, with one in it."""
    with shop.platform.write(by(member)) as ctx:
        edges = {"project": "sales"}
        uid = resources.create(ctx, "marts.storage", name, edges=edges, settings={"kind": "files", "folder": ""})
    with shop.platform.read(by(member)) as ctx:
        volume = Volume(shop.platform.settings, readable_tables.identifier_of(ctx, uid))
    with volume.open_partial() as rough:
        rough.write(SALES.encode())
        volume.publish(rough, "sales.csv", replace=True)
    return uid
