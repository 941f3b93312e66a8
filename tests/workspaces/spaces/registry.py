"""A lakehouse and a data mart beside the data spaces, whose tables can be registered.

Petra, who owns the project, and Erik, who edits it, may read the table and the data mart. Nobody else may; Nele, the
data engineer of the lakehouse, manages its layer.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count

from lakehold.access import Grant
from lakehold.catalog import resource_metadata
from lakehold.directory.caller import Caller
from lakehold.lake import readable_tables
from lakehold.lake.iceberg_catalog import TableIdentifier
from lakehold.lake.spark.table_writer import TableWriteOptions, WriteMode, write_rows
from tests.workspaces.spaces.space import ADA, ERIK, PETRA, TENANT, InlineSpace

NELE = Caller(TENANT, "nele")
READERS = (PETRA, ERIK)
_numbers = count()


@dataclass(slots=True)
class Lakehouse:
    """Tables of a lakehouse, and data marts."""

    space: InlineSpace

    def table(self, rows: str, *, readers: Sequence[Caller] = READERS) -> str:
        """A table with the rows of a query."""
        uid = f"raw_{next(_numbers)}"
        with self.space.platform.access.write(TENANT) as session:
            session.store.create("lakehouse.table", uid, uid=uid, edges={"layer": "raw"})
            for each in readers:
                session.store.add(Grant(each.member, "viewer", uid))
        self.write(uid, rows)
        return uid

    def mart(self, rows: str, *hidden: str) -> str:
        """A data mart with the rows of a query; these columns are hidden, but stored."""
        uid = f"mart_{next(_numbers)}"
        with self.space.platform.access.write(TENANT) as session:
            store = session.store
            store.create("marts.data_mart", uid, uid=uid, edges={"project": "marketing", "storage": "files"})
            for each in READERS:
                store.add(Grant(each.member, "business_owner", uid))
        with self.space.platform.write(ADA) as ctx:
            columns = [{"name": name, "hidden": True} for name in hidden]
            resource_metadata.save(ctx, uid, settings={"columns": columns})
        self.write(uid, rows)
        return uid

    def write(self, uid: str, rows: str, mode: WriteMode = WriteMode.OVERWRITE) -> None:
        """Write the rows of a query into a table."""
        found = self.space.tables.session.sql(rows)
        write_rows(self.space.tables, self.place(uid), found, TableWriteOptions(mode, f"write {next(_numbers)}"))

    def place(self, uid: str) -> TableIdentifier:
        with self.space.platform.read(ADA) as ctx:
            return readable_tables.identifier_of(ctx, uid)

    def location(self, uid: str) -> str | None:
        """The metadata file of a table, which every write and all upkeep replaces."""
        return self.space.tables.lake.metadata_location(self.place(uid))

    def register(self, name: str, *sources: str) -> str:
        """A task that has registered tables and data marts, as `rows`, `rows1` and so on."""
        return self.space.make(name, registered(*sources))

    @contextmanager
    def without(self, member: Caller, role: str, uid: str) -> Iterator[None]:
        """The role is taken, and given back."""
        self.space.revoke(member.member, role, uid)
        try:
            yield
        finally:
            self.space.grant(member.member, role, uid)


def registered(*sources: str) -> Mapping[str, object]:
    """The settings of a task that registers tables and data marts."""
    datasets = [
        {"name": f"rows{n or ''}", "source": {"mart" if uid.startswith("mart") else "table": uid}}
        for n, uid in enumerate(sources)
    ]
    return {"type": "register", "datasets": datasets}


def open_lakehouse(space: InlineSpace) -> Lakehouse:
    """Create the lakehouse and the project of the data marts."""
    with space.platform.access.write(TENANT) as session:
        store = session.store
        store.create("tenant.member", "Nele", uid="nele", edges={"tenant": TENANT})
        store.create("lakehouse.lakehouse", "Lake", uid="lakehouse", edges={"tenant": TENANT})
        store.create("lakehouse.layer", "Raw", uid="raw", edges={"lakehouse": "lakehouse"})
        store.create("marts.project", "Marketing", uid="marketing", edges={"tenant": TENANT})
        store.create("marts.storage", "Files", uid="files", edges={"project": "marketing"})
        store.add(Grant("nele", "manager", "raw"))
        for each in READERS:
            store.add(Grant(each.member, "business_user", "marketing"))
    return Lakehouse(space)
