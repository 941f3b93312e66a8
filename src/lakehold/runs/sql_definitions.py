"""Queries that the settings of resources contain: analysed by a worker before they are saved.

That takes a worker's time, so it happens outside of the transaction that saves them. Without a worker they are saved as
they are, and analysed by their first run.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from lakehold.catalog.resource_metadata import Settings
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import UnavailableError
from lakehold.kit.settings_schema import InvalidSettingError
from lakehold.lake.errors import QueryError, RefusedQueryError
from lakehold.runs import worker_client
from lakehold.workspaces import registry


@dataclass(frozen=True, slots=True)
class SqlDefinition:
    """A query in the settings of a resource."""

    workspace: str
    """The name of the workspace whose tables it reads."""
    text: str


EdgeEnds = Callable[[str], Sequence[str] | None]
"""Returns the ends of an edge of the resource, which may not exist yet, by the edge's name."""
FindDefinition = Callable[[RequestContext, Settings, EdgeEnds], SqlDefinition | None]
READS_SETTING = "reads"
"""The managed setting of those kinds that remember which tables they read."""


def find_definition(ctx: RequestContext, kind: str, settings: Settings, ends: EdgeEnds) -> SqlDefinition | None:
    """Return the query of the settings, if there is one that the caller could run as an ad-hoc query too."""
    schema, workspace = registry.find_settings_schema(kind), registry.find_workspace(kind)
    finder = workspace.sql_definitions().get(kind.partition(".")[2]) if workspace else None
    if finder is None or schema is None or schema.problems(settings) or ctx.caller.impersonator:
        return None
    return finder(ctx, settings, ends)


def analyse(platform: Platform, caller: Caller, definition: SqlDefinition) -> list[str] | None:
    """Return the tables that the query reads, None if no worker answers; refuse its setting if it cannot be run."""
    try:
        found = worker_client.describe_query(platform, caller, workspace=definition.workspace, text=definition.text)
    except UnavailableError:
        return None
    except (QueryError, RefusedQueryError) as error:
        raise InvalidSettingError(error.message, error.hint, field="sql") from None
    return found.reads


def managed_settings(kind: str, reads: list[str] | None) -> dict[str, object] | None:
    """Return the settings that follow from an analysis, for kinds that remember what they read."""
    schema = registry.find_settings_schema(kind)
    return {READS_SETTING: reads} if schema and READS_SETTING in schema.managed and reads is not None else None
