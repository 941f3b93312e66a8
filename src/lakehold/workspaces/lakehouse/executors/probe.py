"""Probes a source and tests a destination of a lakehouse before they are saved.

Nothing is written or sent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lakehold.catalog import credentials
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.workspaces.descriptor import Probe
from lakehold.workspaces.lakehouse import connection_access, volumes
from lakehold.workspaces.settings_reader import SettingsReader
from lakehold.workspaces.transfer.delivery import TableDelivery
from lakehold.workspaces.transfer.source import ConnectorFactory, probe_connector


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
    if probe.settings.get("connector") == "database":
        # Its drivers are Spark's. Files and APIs need none.
        start_spark()
    reader = SettingsReader(probe.settings, "source")
    with platform.read(caller) as ctx:
        connection_access.need_source_probe(ctx, probe.source, probe.lakehouse, probe.layer)
        stored = credentials.load_for_test(ctx, probe.source, probe.settings) if probe.source else {}
        reads_files = reader.text("connector", "") == "files"
        volume = volumes.open_volume(ctx, platform.settings, reader.text("volume"), "read") if reads_files else None
    streams = {probe.stream: SettingsReader(probe.how, "stream")} if probe.stream else {}
    connector = ConnectorFactory(platform.settings, {**stored, **probe.secrets}, volume).create_connector(
        reader, streams
    )
    return probe_connector(connector, probe.stream)


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
    if check.settings.get("to") == "database":
        start_spark()
    reader = SettingsReader(check.settings, "destination")
    with platform.read(caller) as ctx:
        connection_access.need_destination_check(ctx, check.destination, check.lakehouse, check.reads, check.volume)
        stored = credentials.load_for_test(ctx, check.destination, check.settings) if check.destination else {}
        to_files = reader.text("to", "") == "files" and check.volume
        volume = volumes.open_volume(ctx, platform.settings, check.volume, "write") if to_files else None
    factory = ConnectorFactory(platform.settings, {**stored, **check.secrets}, volume)
    return {"message": TableDelivery(factory, reader, "", "", Path(), None).check()}


PROBES: Mapping[str, Probe] = {"source": probe_source, "destination": check_destination}
