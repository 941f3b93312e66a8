"""Refreshes a source: its rows go into its table, merged by key, as the caller and the author may read them; and
profiles them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from lakehold.catalog import credentials
from lakehold.connectors import registry as connectors
from lakehold.connectors.registry import open_environment
from lakehold.connectors.settings import SourceSettings, SyncMode
from lakehold.connectors.sources.source import SourceConnector
from lakehold.connectors.sources.stream_selection import LakeSource
from lakehold.connectors.sources.sync import SyncOptions, sync_stream
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import quote
from lakehold.lake import readable_tables
from lakehold.lake.readable_tables import LAKE_CATALOG
from lakehold.lake.row_formats import quote_identifier
from lakehold.runs.step_context import StepContext, StepResult
from lakehold.workspaces.products import source_profiles
from lakehold.workspaces.products.executors.profile import profile_rows
from lakehold.workspaces.products.settings import SOURCE, LakeTableSettings

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from lakehold.workspaces.products.steps import RefreshSource


def refresh_source(step: RefreshSource, step_ctx: StepContext) -> StepResult:
    """Replace the rows of a source by those that there are now, where they differ."""
    settings = SOURCE.parse(step.settings)
    with step_ctx.platform.read(step_ctx.caller) as ctx:
        place = readable_tables.identifier_of(ctx, step.source)
    connector = _open(step, step_ctx, settings)
    step_ctx.check_stopped()
    how = SyncOptions(SyncMode.MIRROR, settings.keys)
    done = sync_stream(step_ctx.tables, place, connector, settings.stream, how, step_ctx.mark)
    for note in done.notes:
        step_ctx.log(note)
    written = done.written
    step_ctx.log(f"{written.added:,} rows written, {written.removed:,} removed; the source has {written.total:,}")
    step_ctx.check_stopped()
    if step_ctx.tables.exists(place):
        profile = profile_rows(step_ctx.tables.read(place))
        with step_ctx.platform.write(step_ctx.caller) as ctx:
            source_profiles.save(ctx, step.source, profile)
    return StepResult(written.added, written.size)


def _open(step: RefreshSource, step_ctx: StepContext, settings: SourceSettings) -> SourceConnector:
    """Open the connector of a source."""
    if isinstance(settings, LakeTableSettings):

        def run_query(table: str) -> DataFrame:
            return step_ctx.run_query("", select_all(table))[0]

        return LakeSource(run_query, lambda: [settings.stream])
    with step_ctx.platform.read(step_ctx.caller) as ctx:
        secrets = credentials.load_for_step(ctx, step.source, step.settings)
        environment = open_environment(ctx, step_ctx.platform.settings, secrets)
    return connectors.open_source(environment, settings)


def select_all(table: str) -> str:
    """Return the query of all rows of a table of the lake; the name of the catalog may be left out."""
    parts = [part.strip().strip("`") for part in table.split(".")]
    if parts[0].lower() == LAKE_CATALOG:
        parts = parts[1:]
    if len(parts) < 2 or not all(parts):  # noqa: PLR2004 - a workspace and a table at least
        hint = "Write the name as in SQL, such as sales.raw.customers."
        raise InvalidInputError(f"{quote(table)} is not the name of a table.", hint, field="stream")
    return f"SELECT * FROM {'.'.join(map(quote_identifier, [LAKE_CATALOG, *parts]))}"  # noqa: S608 - quoted
