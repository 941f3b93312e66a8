"""Probes a source and tests a destination of a lakehouse before they are saved.

Nothing is written or sent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lakehold.catalog import credentials
from lakehold.connectors import registry as connectors
from lakehold.connectors.destinations.delivery import DeliveryRequest
from lakehold.connectors.registry import ConnectorEnvironment
from lakehold.connectors.sources.source import StreamOptions
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.workspaces import transfer
from lakehold.workspaces.descriptor import Probe
from lakehold.workspaces.lakehouse import connection_access, volumes
from lakehold.workspaces.lakehouse.settings import DESTINATION, SOURCE, STREAM


@dataclass(frozen=True, slots=True)
class SourceProbeTarget:
    """What to probe: an existing source, or one that would be created in a layer."""

    settings: Mapping[str, object]
    source: str = ""
    lakehouse: str = ""
    layer: str = ""
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Instead of those that are kept, or beside them."""
    stream: str = ""
    """The stream to sample; without one, the streams are listed."""
    how: Mapping[str, object] = field(default_factory=dict)
    """The settings of the stream."""


def probe_source(
    platform: Platform, caller: Caller, request: Mapping[str, Any], start_spark: Callable[[], object]
) -> dict[str, Any]:
    """Return as JSON the streams of the source, or a sample of one.

    Only for those who may create or edit such a source.
    """
    probe = SourceProbeTarget(**request)
    source = SOURCE.parse(probe.settings)
    if source.needs_drivers:
        start_spark()
    with platform.read(caller) as ctx:
        connection_access.need_source_probe(ctx, probe.source, probe.lakehouse, probe.layer)
        stored = credentials.load_for_test(ctx, probe.source, probe.settings) if probe.source else {}
        at = source.volume_id
        volume = volumes.open_volume(ctx, platform.settings, at, "read") if at else None
    environment = ConnectorEnvironment(platform.settings, {**stored, **probe.secrets}, volume)
    opened = connectors.open_source(environment, source, _stream_options(probe))
    return transfer.probe_source(opened, probe.stream)


def _stream_options(probe: SourceProbeTarget) -> StreamOptions | None:
    if not probe.stream:
        return None
    stream = STREAM.parse({**probe.how, "stream": probe.stream})
    return StreamOptions(probe.stream, stream.format, stream.parts)


@dataclass(frozen=True, slots=True)
class LakehouseDestinationCheck:
    """What to test: an existing destination, or one that would be created."""

    settings: Mapping[str, object]
    destination: str = ""
    lakehouse: str = ""
    reads: Sequence[str] = ()
    volume: str = ""
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Instead of those that are kept, or beside them."""


def check_destination(
    platform: Platform, caller: Caller, request: Mapping[str, Any], start_spark: Callable[[], object]
) -> dict[str, str]:
    """Test a destination and return the finding as a message; refused if nothing could be sent."""
    check = LakehouseDestinationCheck(**request)
    to = DESTINATION.parse(check.settings)
    if to.needs_drivers:
        start_spark()
    with platform.read(caller) as ctx:
        connection_access.need_destination_check(ctx, check.destination, check.lakehouse, check.reads, check.volume)
        stored = credentials.load_for_test(ctx, check.destination, check.settings) if check.destination else {}
        to_files = to.writes_volume and check.volume
        volume = volumes.open_volume(ctx, platform.settings, check.volume, "write") if to_files else None
    environment = ConnectorEnvironment(platform.settings, {**stored, **check.secrets}, volume)
    return {"message": connectors.open_destination(environment, to, DeliveryRequest()).check()}


PROBES: Mapping[str, Probe] = {"source": probe_source, "destination": check_destination}
