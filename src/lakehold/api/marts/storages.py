"""Storages: whether one can be reached, what tables it has, and how one of them or a query looks."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Request
from pydantic import Field

from lakehold.api.catalog.shown import Settings
from lakehold.api.frame.callers import shown_by
from lakehold.api.frame.models import Answer, Body, IdText, PlainText
from lakehold.api.frame.routes import SIGNED, problems, router
from lakehold.api.frame.works import Asked, house_of
from lakehold.runs import queries
from lakehold.workspaces.marts import mart_probe
from lakehold.workspaces.marts.mart_probe import StorageProbeResult
from lakehold.workspaces.marts.storages import StorageProbeTarget

routes = router("/api/v1/storages", "Storages")

_LOOKING = problems(400, 401, 403, 404, 409, 503)
Id = Annotated[str, Field(max_length=200, examples=[""])]


Secrets = dict[IdText, Annotated[str, Field(max_length=20_000, examples=[""])]]


class StorageTest(Body):
    """A storage that is there, or one that would be made in a project."""

    storage: Id = Field(default="", description="One that is there: its credentials are used.")
    project: Id = Field(default="", description="Where one would be made.")
    settings: Settings | None = Field(
        default=None, examples=[{"kind": "lake", "lakehouse": "store_lake"}], description="Other ones than it has."
    )
    credentials: Secrets = Field(default_factory=dict, examples=[{}], description="Not kept.")


class StorageLook(Body):
    """What is to be looked at."""

    by: Literal["sql", "table", "pattern"] = Field(examples=["table"])
    text: Annotated[str, Field(min_length=1, max_length=queries.MAX_QUERY_LENGTH)] = Field(
        examples=["shaped.daily_sales"]
    )


class StorageTable(Answer):
    """A table of a storage."""

    name: str = Field(examples=["shaped.daily_sales"])
    uid: str = Field(examples=["shaped_daily_sales"], description="Its id, if it is one of a lakehouse.")
    keys: list[str] = Field(examples=[["id"]], description="The primary key, where it is known.")


class StorageTables(Answer):
    """Those that the caller may read there."""

    items: list[StorageTable]
    notes: list[str] = Field(examples=[[]])


class StorageSample(Answer):
    """How it looks: its fields and the first rows."""

    fields: list[dict[str, str]] = Field(examples=[[{"name": "id", "type": "bigint"}]])
    rows: list[list[Any]] = Field(examples=[[[1]]])
    notes: list[str] = Field(examples=[[]])
    reads: list[str] = Field(examples=[[]], description="The tables of a lakehouse that it reads.")


@routes.post("/test", openapi_extra=SIGNED, responses=_LOOKING)
def test_storage(request: Request, body: StorageTest) -> StorageTables:
    """Connect to a storage, and tell its tables.

    With other settings than it has: for those who may edit it, or make one.
    """
    return _tables(look(request, StorageProbeTarget(body.storage, body.project, body.settings, body.credentials)))


@routes.get("/{storage}/tables", openapi_extra=SIGNED, responses=_LOOKING)
def list_storage_tables(request: Request, storage: IdText, search: PlainText = "") -> StorageTables:
    """The tables of a storage, for those who may use it. Of a lakehouse, those that the caller may read."""
    found = _tables(look(request, StorageProbeTarget(storage)))
    wanted = search.casefold()
    return StorageTables(items=[each for each in found.items if wanted in each.name.casefold()], notes=found.notes)


@routes.post("/{storage}/look", openapi_extra=SIGNED, responses=_LOOKING)
def look_into_storage(request: Request, storage: IdText, body: StorageLook) -> StorageSample:
    """The fields and first rows of a table, of the first table that fits a pattern, or of a query."""
    return sample(look(request, StorageProbeTarget(storage, by=body.by, text=body.text)))


def look(request: Request, asked: StorageProbeTarget) -> StorageProbeResult:
    """A look that the caller may take, outside of the transaction that lets them."""
    begun = Asked(request, shown_by(request), writes=False).run(
        lambda ctx: mart_probe.prepare_storage_probe(ctx, asked)
    )
    return mart_probe.probe_storage(house_of(request), begun)


def sample(seen: StorageProbeResult) -> StorageSample:
    """As it is answered."""
    return StorageSample(
        fields=[dict(each) for each in seen.fields],
        rows=[list(row) for row in seen.rows],
        notes=list(seen.notes),
        reads=list(seen.reads),
    )


def _tables(seen: StorageProbeResult) -> StorageTables:
    return StorageTables(items=[StorageTable(**each) for each in seen.tables], notes=list(seen.notes))
