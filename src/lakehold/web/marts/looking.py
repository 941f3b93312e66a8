"""A look into a storage, for pages: what there is, or why nobody knows."""

from __future__ import annotations

from dataclasses import dataclass, field

from fastapi import Request

from lakehold.api.http.dependencies import get_platform
from lakehold.directory.errors import DeniedError, HiddenError, UnauthorizedError
from lakehold.kit.errors import LakeholdError
from lakehold.web.lakehouse import grids
from lakehold.web.lakehouse.sources.looking import reading
from lakehold.workspaces.marts import mart_probe
from lakehold.workspaces.marts.mart_probe import StorageProbeResult
from lakehold.workspaces.marts.storages import StorageProbeTarget

_NUMBERS = ("tinyint", "smallint", "int", "bigint", "float", "double", "decimal")


@dataclass(frozen=True, slots=True)
class Looked:
    """What was seen, or the error that kept it from being seen."""

    seen: StorageProbeResult = field(default_factory=StorageProbeResult)
    error: LakeholdError | None = None


def look(request: Request, asked: StorageProbeTarget) -> Looked:
    """Look, as the caller. Whether they may is no part of what is seen: it is refused."""
    try:
        begun = reading(request).run(lambda ctx: mart_probe.prepare_storage_probe(ctx, asked))
        return Looked(mart_probe.probe_storage(get_platform(request), begun))
    except (DeniedError, HiddenError, UnauthorizedError):
        raise
    except LakeholdError as error:
        return Looked(error=error)


def grid(seen: StorageProbeResult) -> grids.Grid:
    """The rows as they are shown."""
    columns = [
        grids.Column(each["name"], each["type"], each["type"].startswith(_NUMBERS) and "<" not in each["type"])
        for each in seen.fields
    ]
    return grids.Grid(columns, [[grids.cell(value) for value in row[: len(columns)]] for row in seen.rows])
