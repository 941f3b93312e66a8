"""A source database that logs its changes, and landing tasks that capture them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lakehold.catalog import resources
from lakehold.lake import readable_tables
from lakehold.lake.iceberg_catalog import TableIdentifier
from lakehold.workspaces.spaces import change_captures
from lakehold.workspaces.spaces.change_captures import ChangeCapture
from tests import postgres
from tests.workspaces.spaces.space import ADA, ZOE, InlineSpace

LOGICAL = ("wal_level=logical", "synchronous_commit=on", "max_replication_slots=20", "max_wal_senders=20")
"""The settings of a server that logs its changes. What is committed is on its disk, where decoding reads it."""


def connect(space: InlineSpace, server: postgres.Server, database: str, name: str, user: str = postgres.USER) -> str:
    settings = {
        "connector": "database",
        "address": f"jdbc:postgresql://127.0.0.1:{server.port}/{database}",
        "user": user,
    }
    with space.platform.write(ZOE) as ctx:
        return resources.create(ctx, "spaces.connection", name, uid=None, edges={"space": "sources"}, settings=settings)


def capture(connection: str, *tables: str, keys: Sequence[str] = ("id",), **more: object) -> Mapping[str, object]:
    """The settings of a landing task of these tables."""
    datasets = [{"name": each, "stream": f"public.{each}", "mode": "changes", "keys": list(keys)} for each in tables]
    return {"type": "landing", "connection": connection, "datasets": datasets, **more}


def captures(space: InlineSpace, task: str) -> list[ChangeCapture]:
    with space.platform.read(ADA) as ctx:
        return change_captures.list_of_task(ctx, task)


def place_of(space: InlineSpace, task: str, name: str) -> TableIdentifier:
    """The table of a dataset."""
    with space.platform.read(ADA) as ctx:
        return readable_tables.identifier_of(ctx, space.dataset(task, name))
