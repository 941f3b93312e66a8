"""Data connections in the worker: opened as sources and targets, tested, and sampled before they are saved."""

from collections.abc import Callable, Mapping
from typing import Any

from lakehold.catalog import credentials
from lakehold.connectors import registry as connectors
from lakehold.connectors.database.jdbc import JdbcDatabase, open_database
from lakehold.connectors.database.settings import DatabaseSettings
from lakehold.connectors.registry import ConnectorEnvironment, open_environment
from lakehold.connectors.settings import SourceSettings
from lakehold.connectors.sources.source import SourceConnector, StreamOptions
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import InvalidInputError, at_field, without_foreign
from lakehold.runs.step_context import StepContext
from lakehold.workspaces import transfer
from lakehold.workspaces.descriptor import Probe
from lakehold.workspaces.spaces import connections
from lakehold.workspaces.spaces.settings import CONNECTION


def step_environment(
    step_ctx: StepContext, connection: str, stored: Mapping[str, object]
) -> tuple[ConnectorEnvironment, SourceSettings]:
    """Return the environment and settings of a connection for a step that was planned with these settings."""
    with step_ctx.platform.read(step_ctx.caller) as ctx:
        return _environment(ctx, step_ctx.platform, credentials.load_for_step(ctx, connection, stored), stored)


def _environment(
    ctx: RequestContext, platform: Platform, secrets: Mapping[str, str], stored: Mapping[str, object]
) -> tuple[ConnectorEnvironment, SourceSettings]:
    return open_environment(ctx, platform.settings, secrets), CONNECTION.parse(stored)


def open_source(
    step_ctx: StepContext, connection: str, stored: Mapping[str, object], stream: StreamOptions
) -> SourceConnector:
    """Open a connection to read a stream of it."""
    environment, settings = step_environment(step_ctx, connection, stored)
    return connectors.open_source(environment, settings, stream)


def open_target(environment: ConnectorEnvironment, settings: SourceSettings) -> JdbcDatabase:
    """Open a connection to write to it: rows are replicated into databases that data may be sent to."""
    if not isinstance(settings, DatabaseSettings):
        raise InvalidInputError(
            "Rows are replicated into databases only.", "Choose a connection to a database.", field="connection"
        )
    # As a source, the network policy would hold it to the hosts that data may be read from alone.
    target = DatabaseSettings(
        address=settings.address, user=settings.user, driver=settings.driver, properties=settings.properties
    )
    with at_field("connection"):
        environment.need_allowed(target)
        return open_database(environment, target)


def probe_connection(
    platform: Platform, caller: Caller, request: Mapping[str, Any], start_spark: Callable[[], object]
) -> dict[str, Any]:
    """Return as JSON the streams of a connection, or a sample of one, for those who may create or edit it.

    Given secrets are used instead of those that are kept, or beside them.
    """
    settings, uid, stream = request["settings"], request.get("connection", ""), request.get("stream", "")
    source = CONNECTION.parse(settings)
    if source.needs_drivers:
        start_spark()
    with platform.read(caller) as ctx:
        connections.need_probe(ctx, request)
        stored = credentials.load_for_test(ctx, uid, settings) if uid else {}
        environment, _ = _environment(ctx, platform, {**stored, **request.get("secrets", {})}, settings)
    options = StreamOptions(stream) if stream else None
    return transfer.probe_source(connectors.open_source(environment, source, options), stream)


def probe_streams(
    platform: Platform, caller: Caller, request: Mapping[str, Any], start_spark: Callable[[], object]
) -> dict[str, Any]:
    """Return as JSON the streams of a stored connection, for those who design a task that reads it."""
    uid = request["connection"]
    with platform.read(caller) as ctx:
        settings = connections.need_streams(ctx, uid, request.get("project", ""))
        environment, source = _environment(ctx, platform, credentials.load_for_use(ctx, uid), settings)
        hides = not ctx.session.check(ctx.principal, "edit", uid)
    if source.needs_drivers:
        start_spark()
    with without_foreign(hides=hides):
        return transfer.probe_source(connectors.open_source(environment, source), "")


PROBES: Mapping[str, Probe] = {"connection": probe_connection, "streams": probe_streams}
