"""The demo company with a worker that probes files and APIs without Spark."""

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
from tests.web.demo import Shop, open_demo
from tests.web.lakehouse.recorded_runs import LAKE, as_member

ORDERS = "id;store;amount\n1;Ulm;2.50\n2;Köln;3.75\n"
NEW = f"/workspaces/{LAKE}/pipelines/new/source"


@contextmanager
def demo_with_probe_worker(folder: Path, copied_to: Path) -> Iterator[Shop]:
    """Serve the company with a worker in this process. Sources may be on this machine."""
    with open_demo(folder, copied_to, private_addresses=True) as shop, serve(shop.platform) as (address, _):
        with shop.platform.database.write() as transaction:
            heartbeat.register_worker(transaction, "here", address)
        yield shop


def put_file(shop: Shop, path: str, content: str = ORDERS) -> None:
    """Put a file into the volume of the layer raw."""
    with shop.platform.read(as_member("erik")) as ctx:
        volume = Volume(shop.platform.settings, readable_tables.identifier_of(ctx, "raw_files"))
    with volume.open_partial() as rough:
        rough.write(content.encode())
        volume.publish(rough, path, replace=True)


def find_resource(shop: Shop, kind: str, name: str) -> ResourceView:
    """Return the resource of this name in the lakehouse."""
    with shop.platform.read(as_member("olga")) as ctx:
        (item,) = (
            each for each in resources.find(ctx, among=[kind], within=LAKE, search=name).items if each.name == name
        )
        return resources.get(ctx, item.uid)


def create_source(shop: Shop, settings: Mapping[str, object], *, name: str = "Orders") -> str:
    """Create a source of Erik's that writes into the layer raw."""
    edges = {"lakehouse": LAKE, "into": "raw"}
    with shop.platform.write(as_member("erik")) as ctx:
        return resources.create(ctx, "lakehouse.source", name, edges=edges, settings=settings)
