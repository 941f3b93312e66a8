"""A definition is tried out by the worker before it is kept: a mistake is told at its field, and its first rows are
shown. Where no worker is, the first refresh tells.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from fastapi import Request

from lakehold.api.iceberg_rest import get_lake
from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError, LakeholdError
from lakehold.lake import readable_tables
from lakehold.web.lakehouse.sources import looking
from lakehold.web.lakehouse.sources.troubles import is_no_worker
from lakehold.web.marts.data_marts.form import Filled
from lakehold.web.marts.data_marts.joins import pairs
from lakehold.web.marts.looking import look
from lakehold.workspaces.marts.definitions import DATA_MART_LABEL, MartDefinition
from lakehold.workspaces.marts.mart_probe import StorageProbeResult, definition_errors
from lakehold.workspaces.marts.storages import StorageProbeTarget
from lakehold.workspaces.settings_reader import SettingsReader


@dataclass(frozen=True, slots=True)
class Tried:
    """What it would have, and what is wrong with it, by field."""

    seen: StorageProbeResult = field(default_factory=StorageProbeResult)
    errors: Mapping[str, str] = field(default_factory=dict)
    no_worker: LakeholdError | None = None


def tried(request: Request, filled: Filled, before: Mapping[str, object] | None) -> Tried:
    """Try the definition. What draws from a storage that one does not see, or from a connector, is not tried."""
    if not filled.storage or filled.is_fed:
        return Tried()
    looked = look(request, StorageProbeTarget(filled.storage, by=filled.by, text=filled.text))
    if looked.error is not None:
        if is_no_worker(looked.error):
            return Tried(no_worker=looked.error)
        return Tried(errors={filled.by: str(looked.error)})
    try:
        definition = MartDefinition.from_settings(SettingsReader(filled.settings(before), DATA_MART_LABEL))
    except InvalidInputError as error:
        return Tried(looked.seen, {filled.by: str(error)})
    found = definition_errors(definition, looked.seen.fields)
    if "columns" in found:
        found[filled.by] = f"The schema names a field that would be gone. {found.pop('columns')}"
    names = [each["name"] for each in looked.seen.fields]
    found |= looking.reading(request).run(lambda ctx: _joins(request, ctx, filled, names))
    return Tried(looked.seen, found)


def _joins(request: Request, ctx: RequestContext, filled: Filled, names: Sequence[str]) -> dict[str, str]:
    """Columns of joins that are not there, as far as one can tell before the other mart has rows."""
    eyes, lake, found = VisibleRefs(ctx), get_lake(request), dict[str, str]()
    for n, join in enumerate(filled.joins):
        now = lake.current_metadata(readable_tables.identifier_of(ctx, join.mart)) if eyes.sees(join.mart) else None
        theirs = {each.name for each in now.fields} if now else None
        for our, their in pairs(join.on).items():
            if our not in names:
                found[f"join_on-{n}"] = f"It has no column {our}."
            elif theirs is not None and their not in theirs:
                found[f"join_on-{n}"] = f"The other data mart has no column {their}."
    return found
