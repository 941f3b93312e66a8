"""Probes of sources and destinations: the streams that there are, and whether a destination answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lakehold.connectors import registry as connectors
from lakehold.connectors.destinations.delivery import DeliveryRequest
from lakehold.connectors.registry import open_environment
from lakehold.lake import readable_tables
from lakehold.lake.volumes import Volume
from lakehold.workspaces import transfer
from lakehold.workspaces.products.connection_probe import ConnectionProbe, need_probe, probe_secrets
from lakehold.workspaces.products.executors.sources import select_all
from lakehold.workspaces.products.settings import DESTINATION, SOURCE, LakeTableSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lakehold.directory.caller import Caller
    from lakehold.directory.platform import Platform
    from lakehold.worker.spark_session import SparkRuntime
    from lakehold.workspaces.descriptor import Probe

_SECONDS = 60


def probe_source(
    platform: Platform, caller: Caller, request: Mapping[str, Any], start_spark: Callable[[], SparkRuntime]
) -> dict[str, Any]:
    """Return as JSON the columns of a table of the lake, or the streams of a connector."""
    target = ConnectionProbe(**request)
    settings = SOURCE.parse(target.settings)
    with platform.read(caller) as ctx:
        need_probe(ctx, target)
        environment = open_environment(ctx, platform.settings, probe_secrets(ctx, target))
    if isinstance(settings, LakeTableSettings):
        rows, _ = start_spark().queries.analyse(caller, "", select_all(settings.stream), seconds=_SECONDS)
        return {"columns": rows.columns}
    if settings.needs_drivers:
        start_spark()
    return transfer.probe_source(connectors.open_source(environment, settings), "")


def check_destination(
    platform: Platform, caller: Caller, request: Mapping[str, Any], start_spark: Callable[[], object]
) -> dict[str, str]:
    """Test a destination and return the result as a message; raise if nothing could be sent."""
    target = ConnectionProbe(**request)
    to = DESTINATION.parse(target.settings)
    if to.needs_drivers:
        start_spark()
    with platform.read(caller) as ctx:
        need_probe(ctx, target)
        volume = Volume(platform.settings, readable_tables.identifier_of(ctx, target.uid or target.project))
        environment = open_environment(ctx, platform.settings, probe_secrets(ctx, target), volume)
    named = transfer.with_report_name(to, "entities")
    return {"message": connectors.open_destination(environment, named, DeliveryRequest()).check()}


PROBES: Mapping[str, Probe] = {"source": probe_source, "destination": check_destination}
