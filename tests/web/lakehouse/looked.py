"""The demo company with a worker that looks at files and APIs, which takes no Spark."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from lakehold.catalog import resources
from lakehold.catalog.resource_view import ResourceView
from lakehold.lake import readable_tables
from lakehold.lake.volumes import Volume
from lakehold.runs import heartbeat
from lakehold.worker.server import serve
from tests.web.demo import Shop, opened
from tests.web.lakehouse.pipelines import LAKE, by

ORDERS = "id;store;amount\n1;Ulm;2.50\n2;Köln;3.75\n"
NEW = f"/workspaces/{LAKE}/pipelines/new/source"


@contextmanager
def looking(folder: Path, copied_to: Path) -> Iterator[Shop]:
    """A worker of this very process answers; sources may be on this machine."""
    with opened(folder, copied_to, private_addresses=True) as shop, serve(shop.platform) as (address, _):
        with shop.platform.database.write() as transaction:
            heartbeat.register_worker(transaction, "here", address)
        yield shop


def put(shop: Shop, path: str, content: str = ORDERS) -> None:
    """A file into the volume of the layer raw."""
    with shop.platform.read(by("erik")) as ctx:
        volume = Volume(shop.platform.settings, readable_tables.identifier_of(ctx, "raw_files"))
    with volume.open_partial() as rough:
        rough.write(content.encode())
        volume.publish(rough, path, replace=True)


def found(shop: Shop, kind: str, name: str) -> ResourceView:
    """The one of this name in the store's lake."""
    with shop.platform.read(by("olga")) as ctx:
        (item,) = (each for each in resources.page(ctx, kind, within=LAKE, search=name).items if each.name == name)
        return resources.get(ctx, item.uid)


def made(shop: Shop, settings: Mapping[str, object], *, name: str = "Orders") -> str:
    """A source of Erik's, into the layer raw."""
    edges = {"lakehouse": LAKE, "into": "raw"}
    with shop.platform.write(by("erik")) as ctx:
        return resources.create(ctx, "lakehouse.source", name, edges=edges, settings=settings)
