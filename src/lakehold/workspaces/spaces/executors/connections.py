"""Data connections in the worker: opened as sources and targets, tested, and sampled before they are saved."""

from collections.abc import Callable, Mapping
from dataclasses import replace
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
from lakehold.workspaces.graph import edge_targets
from lakehold.workspaces.spaces import connections
from lakehold.workspaces.spaces.executors.gateway_source import (
    GatewaySource,
    need_secrets_of_gateway,
    open_gateway_source,
)
from lakehold.workspaces.spaces.settings import CONNECTION


def step_environment(
    step_ctx: StepContext, connection: str, stored: Mapping[str, object]
) -> tuple[ConnectorEnvironment, SourceSettings]:
    """Return the environment and settings of a direct connection for a step that was planned with these settings."""
    with step_ctx.platform.read(step_ctx.caller) as ctx:
        need_direct(ctx, connection)
        return _environment(ctx, step_ctx.platform, credentials.load_for_step(ctx, connection, stored), stored)


def need_direct(ctx: RequestContext, connection: str) -> None:
    """Refuse a connection through a gateway where only a direct one will do: to write, and to capture changes."""
    if gateway_of(ctx, connection):
        raise InvalidInputError(
            "A gateway only reads, and only what landing tasks reload, compare or read by a cursor.",
            "Choose a direct connection, or another mode.",
            field="connection",
        )


def _environment(
    ctx: RequestContext, platform: Platform, secrets: Mapping[str, str], stored: Mapping[str, object]
) -> tuple[ConnectorEnvironment, SourceSettings]:
    return open_environment(ctx, platform.settings, secrets), CONNECTION.parse(stored)


def open_source(
    step_ctx: StepContext,
    connection: str,
    stored: Mapping[str, object],
    stream: StreamOptions,
    *,
    one_snapshot: bool = False,
) -> SourceConnector:
    """Open a connection to read a stream of it, directly or through its gateway."""
    with step_ctx.platform.read(step_ctx.caller) as ctx:
        gateway = gateway_of(ctx, connection)
        if not gateway:
            environment, settings = _environment(
                ctx, step_ctx.platform, credentials.load_for_step(ctx, connection, stored), stored
            )
            return connectors.open_source(environment, settings, stream)
        need_secrets_of_gateway(ctx, connection)
        environment, settings = _environment(
            ctx, step_ctx.platform, credentials.load_for_step(ctx, connection, stored), stored
        )
    found = open_connection(step_ctx.platform, step_ctx.caller, (environment, settings), stored=stored, gateway=gateway)
    assert isinstance(found, GatewaySource)  # noqa: S101 - it has a gateway
    return replace(found, key=step_ctx.mark, one_snapshot=one_snapshot, check_stopped=step_ctx.check_stopped)


def gateway_of(ctx: RequestContext, connection: str) -> str:
    """Return the gateway of a connection; empty if it is direct."""
    return next(iter(edge_targets(ctx, connection, "gateway")), "")


def open_connection(
    platform: Platform,
    caller: Caller,
    environment: tuple[ConnectorEnvironment, SourceSettings],
    *,
    stored: Mapping[str, object],
    gateway: str,
    stream: StreamOptions | None = None,
    check_stopped: Callable[[], None] | None = None,
) -> SourceConnector:
    """Open a connection, directly or through a gateway, which a run that can be stopped waits longer for."""
    around, settings = environment
    if not gateway:
        return connectors.open_source(around, settings, stream)
    found = open_gateway_source(platform, caller, gateway, settings=settings, stored=stored, environment=around)
    return replace(found, check_stopped=check_stopped)


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
    with platform.read(caller) as ctx:
        connections.need_probe(ctx, request)
        present = gateway_of(ctx, uid) if uid else ""
        gateway = request.get("gateway", present)
        stored = credentials.load_for_test(ctx, uid, settings) if uid and gateway == present else {}
        if gateway and stored:
            need_secrets_of_gateway(ctx, uid)
        environment, _ = _environment(ctx, platform, {**stored, **request.get("secrets", {})}, settings)
    if source.needs_drivers and not gateway:
        start_spark()
    options = StreamOptions(stream) if stream else None
    opened = open_connection(platform, caller, (environment, source), stored=settings, gateway=gateway, stream=options)
    return transfer.probe_source(opened, stream)


def probe_streams(
    platform: Platform, caller: Caller, request: Mapping[str, Any], start_spark: Callable[[], object]
) -> dict[str, Any]:
    """Return as JSON the streams of a stored connection, for those who design a task that reads it."""
    uid = request["connection"]
    with platform.read(caller) as ctx:
        settings = connections.need_streams(ctx, uid, request.get("project", ""))
        environment, source = load_environment(ctx, platform, uid, settings)
        gateway = gateway_of(ctx, uid)
        hides = not ctx.session.check(ctx.principal, "edit", uid)
    if source.needs_drivers and not gateway:
        start_spark()
    with without_foreign(hides=hides):
        opened = open_connection(platform, caller, (environment, source), stored=settings, gateway=gateway)
        return transfer.probe_source(opened, "")


def load_environment(
    ctx: RequestContext, platform: Platform, uid: str, settings: Mapping[str, object]
) -> tuple[ConnectorEnvironment, SourceSettings]:
    """Return the environment and settings of a stored connection."""
    if gateway_of(ctx, uid):
        need_secrets_of_gateway(ctx, uid)
    return _environment(ctx, platform, credentials.load_for_use(ctx, uid), settings)


PROBES: Mapping[str, Probe] = {"connection": probe_connection, "streams": probe_streams}
