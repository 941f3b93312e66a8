"""Connections of a project in the worker: connectors of storages, probes, and tests of destinations.

Nothing is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from lakehold.catalog import credentials
from lakehold.connectors.sources.connector import SourceConnector
from lakehold.connectors.sources.jdbc.connector import JdbcSource
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.settings import Settings
from lakehold.lake import readable_tables
from lakehold.lake.volumes import Volume
from lakehold.workspaces.descriptor import Probe
from lakehold.workspaces.marts import destinations, mart_probe, storages
from lakehold.workspaces.marts.definitions import CONNECTORS, DATA_MART_LABEL, DefinitionType, StorageType
from lakehold.workspaces.marts.live import LIVE_TYPE
from lakehold.workspaces.marts.mart_probe import SAMPLE_ROWS, FeedProbeTarget, matching_tables, pattern_notes
from lakehold.workspaces.marts.storages import StorageProbeTarget
from lakehold.workspaces.settings_reader import SettingsReader
from lakehold.workspaces.transfer import source
from lakehold.workspaces.transfer.delivery import TableDelivery
from lakehold.workspaces.transfer.source import ConnectorFactory


def probe_feed(
    platform: Platform, caller: Caller, request: Mapping[str, Any], start_spark: Callable[[], object]
) -> dict[str, Any]:
    """Return the streams of the connector, or a sample of one.

    Only for those who may create or edit such a data mart.
    """
    probe = FeedProbeTarget(**request)
    reader = SettingsReader(probe.settings, DATA_MART_LABEL)
    reader.one_of("connector", CONNECTORS, "")
    with platform.read(caller) as ctx:
        mart_probe.need_feed_probe(ctx, probe)
        secrets = mart_probe.feed_secrets(ctx, probe)
    if probe.settings.get("connector") == "database":
        # Its drivers are Spark's. Files and APIs need none.
        start_spark()
    return source.probe_connector(ConnectorFactory(platform.settings, secrets).create_connector(reader), probe.stream)


def storage_connector(
    settings: Settings, reader: SettingsReader, secrets: Mapping[str, str], volume: Volume | None, sql: str = ""
) -> SourceConnector:
    """Return the connector of a storage: its tables or files, or one query as a stream."""
    where = storages.storage_type(reader)
    factory = ConnectorFactory(settings, secrets, volume)
    connector_settings = SettingsReader({**reader.raw, "connector": where.value}, storages.STORAGE_LABEL)
    if not sql:
        return factory.create_connector(connector_settings)
    if where is not StorageType.DATABASE:
        raise InvalidInputError("Files are not asked in SQL.", "Define the data mart by a table or a pattern.")
    return JdbcSource(factory.create_database(connector_settings), queries={sql: sql})


def probe_storage(
    platform: Platform, caller: Caller, request: Mapping[str, Any], start_spark: Callable[[], object]
) -> dict[str, Any]:
    """Return as JSON the tables of a storage, or a sample.

    Only for those who may use the storage, or create or edit one like this.
    """
    probe = StorageProbeTarget(**request)
    with platform.read(caller) as ctx:
        reader = storages.need_probe(ctx, probe)
        secrets = storages.probe_secrets(ctx, probe)
        place = readable_tables.identifier_of(ctx, probe.storage) if probe.storage else None
    if storages.storage_type(reader) is StorageType.DATABASE:
        # Its drivers are Spark's. Files are read without it.
        start_spark()
    volume = Volume(platform.settings, place) if place else None
    sql = probe.text if probe.by == DefinitionType.SQL else ""
    connector = storage_connector(platform.settings, reader, secrets, volume, sql)
    return _sample(connector, probe) if probe.by else _list_tables(connector)


def _list_tables(connector: SourceConnector) -> dict[str, Any]:
    connector.check()
    return {"tables": [{"name": each.name, "uid": "", "keys": list(each.keys)} for each in connector.streams()]}


def _sample(connector: SourceConnector, probe: StorageProbeTarget) -> dict[str, Any]:
    found, notes = [probe.text], list[str]()
    if probe.by == DefinitionType.PATTERN:
        found = matching_tables(probe.text, [each.name for each in connector.streams()])
        notes = pattern_notes(found)
    sample = asdict(connector.sample(found[0], SAMPLE_ROWS))
    return {**sample, "notes": [*notes, *sample["notes"]]}


_DEFAULT_SETTINGS = {"name": "report", "subject": "report"}
"""What each report says itself."""


@dataclass(frozen=True, slots=True)
class MartsDestinationCheck:
    """What to test: an existing destination, or one that would be created in a project."""

    settings: Mapping[str, object]
    project: str
    destination: str = ""
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Instead of those that are kept, or beside them."""


def check_destination(
    platform: Platform, caller: Caller, request: Mapping[str, Any], start_spark: Callable[[], object]
) -> dict[str, str]:
    """Test a destination and return the finding as a message; refused if nothing could be sent."""
    check = MartsDestinationCheck(**request)
    if check.settings.get("to") == "database":
        start_spark()
    with platform.read(caller) as ctx:
        destinations.need_destination_check(ctx, check.destination, check.project)
        stored = credentials.load_for_test(ctx, check.destination, check.settings) if check.destination else {}
        volume = Volume(platform.settings, readable_tables.identifier_of(ctx, check.destination or check.project))
    if check.settings.get("to") == LIVE_TYPE:
        return {"message": "It sends nothing: it is asked. Make a secret for whoever asks it."}
    factory = ConnectorFactory(platform.settings, {**stored, **check.secrets}, volume)
    reader = SettingsReader({**_DEFAULT_SETTINGS, **check.settings}, "destination")
    return {"message": TableDelivery(factory, reader, "", "", Path(), None, allows_messages=True).check()}


PROBES: Mapping[str, Probe] = {"storage": probe_storage, "feed": probe_feed, "destination": check_destination}
