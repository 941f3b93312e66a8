"""Connections of a project in the worker: connectors of storages, probes, and tests of destinations.

Nothing is sent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from lakehold.catalog import credentials
from lakehold.connectors import registry as connectors
from lakehold.connectors.database.jdbc import open_database
from lakehold.connectors.database.source import JdbcSource
from lakehold.connectors.destinations.delivery import DeliveryRequest
from lakehold.connectors.files.source import open_folder
from lakehold.connectors.registry import ConnectorEnvironment
from lakehold.connectors.sources.source import SourceConnector
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.settings import Settings
from lakehold.lake import readable_tables
from lakehold.lake.volumes import Volume
from lakehold.workspaces import transfer
from lakehold.workspaces.descriptor import Probe
from lakehold.workspaces.marts import destinations, mart_probe, storages
from lakehold.workspaces.marts.mart_probe import SAMPLE_ROWS, FeedProbeTarget, matching_tables, pattern_notes
from lakehold.workspaces.marts.settings import (
    DESTINATION,
    DatabaseStorageSettings,
    DefinitionType,
    LakeStorageSettings,
    LiveSettings,
    StorageSettings,
    parse_connection,
)
from lakehold.workspaces.marts.storages import StorageProbeTarget


def probe_feed(
    platform: Platform, caller: Caller, request: Mapping[str, Any], start_spark: Callable[[], object]
) -> dict[str, Any]:
    """Return the streams of the connector, or a sample of one.

    Only for those who may create or edit such a data mart.
    """
    probe = FeedProbeTarget(**request)
    connection = parse_connection(probe.settings)
    with platform.read(caller) as ctx:
        mart_probe.need_feed_probe(ctx, probe)
        secrets = mart_probe.feed_secrets(ctx, probe)
    if connection.needs_drivers:
        start_spark()
    return transfer.probe_source(
        connectors.open_source(ConnectorEnvironment(platform.settings, secrets), connection), probe.stream
    )


def storage_connector(
    settings: Settings, storage: StorageSettings, secrets: Mapping[str, str], volume: Volume | None, sql: str = ""
) -> SourceConnector:
    """Return the connector of a storage: its tables or files, or one query as a stream."""
    assert not isinstance(storage, LakeStorageSettings)  # noqa: S101 - a lakehouse is read in SQL, as the caller
    environment = ConnectorEnvironment(settings, secrets, volume)
    if isinstance(storage, DatabaseStorageSettings):
        database = open_database(environment, storage)
        return JdbcSource(database, queries={sql: sql}) if sql else JdbcSource(database, storage.schemas)
    if sql:
        raise InvalidInputError("Files are not asked in SQL.", "Define the data mart by a table or a pattern.")
    return open_folder(environment, storage.folder)


def probe_storage(
    platform: Platform, caller: Caller, request: Mapping[str, Any], start_spark: Callable[[], object]
) -> dict[str, Any]:
    """Return as JSON the tables of a storage, or a sample.

    Only for those who may use the storage, or create or edit one like this.
    """
    probe = StorageProbeTarget(**request)
    with platform.read(caller) as ctx:
        storage = storages.need_probe(ctx, probe)
        secrets = storages.probe_secrets(ctx, probe)
        place = readable_tables.identifier_of(ctx, probe.storage) if probe.storage else None
    if isinstance(storage, DatabaseStorageSettings):
        # Its drivers are Spark's. Files are read without it.
        start_spark()
    volume = Volume(platform.settings, place) if place else None
    sql = probe.text if probe.by == DefinitionType.SQL else ""
    connector = storage_connector(platform.settings, storage, secrets, volume, sql)
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
    to = DESTINATION.parse(check.settings)
    if to.needs_drivers:
        start_spark()
    with platform.read(caller) as ctx:
        destinations.need_destination_check(ctx, check.destination, check.project)
        stored = credentials.load_for_test(ctx, check.destination, check.settings) if check.destination else {}
        volume = Volume(platform.settings, readable_tables.identifier_of(ctx, check.destination or check.project))
    if isinstance(to, LiveSettings):
        return {"message": "It sends nothing: it is asked. Make a secret for whoever asks it."}
    environment = ConnectorEnvironment(platform.settings, {**stored, **check.secrets}, volume)
    # Each report says these itself.
    named = transfer.with_report_name(to, "report")
    return {"message": connectors.open_destination(environment, named, DeliveryRequest()).check()}


PROBES: Mapping[str, Probe] = {"storage": probe_storage, "feed": probe_feed, "destination": check_destination}
