"""Tables that are made when a query asks for them: no two askers have the same."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from threading import Lock

import pyarrow.parquet
from pyiceberg.catalog.memory import InMemoryCatalog

from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import NotFoundError
from lakehold.kit.ids import quote
from lakehold.lake.system_tables import SYSTEM, system_folder
from lakehold.runs.runs import Runs
from lakehold.runs.system import access, audit
from lakehold.runs.system import runs as system_runs
from lakehold.runs.warm import Warm

Maker = Callable[[RequestContext, Path], list[str]]
"""Writes what the caller may know as Parquet files into a folder; which ones."""


class System:
    """The tables of a worker, whose Spark works the larger ones out."""

    def __init__(self, warm: Warm, runs: Runs) -> None:
        self._lock = Lock()
        self._makers: Mapping[str, Maker] = {
            "access": partial(access.write, warm),
            "runs": partial(system_runs.write, runs),
            "audit": audit.write,
        }

    def load(self, ctx: RequestContext, ticket: str, name: str) -> str:
        """The metadata file of a table, for the query with this ticket: made once, so that all of the query sees the
        same.
        """
        maker = self._makers.get(name.lower())
        if maker is None:
            known = ", ".join(f"{SYSTEM}.{each}" for each in self._makers)
            raise NotFoundError(f"There is no table {quote(f'{SYSTEM}.{name}')}.", f"There are {known}.")
        folder = system_folder(ticket) / name.lower()
        with self._lock:
            told = folder / "location"
            if not told.exists():
                folder.mkdir()
                location = _table(folder, maker(ctx, folder))
                told.write_text(location)
            return told.read_text()


def _table(folder: Path, files: list[str]) -> str:
    """The files as an Iceberg table; where its metadata lies."""
    catalog = InMemoryCatalog(SYSTEM, warehouse=folder.as_uri())
    try:
        catalog.create_namespace(SYSTEM)
        schema = pyarrow.parquet.read_schema(files[0])
        table = catalog.create_table((SYSTEM, "table"), schema, location=f"{folder.as_uri()}/table")
        table.add_files(files)
        return table.metadata_location
    finally:
        catalog.close()
