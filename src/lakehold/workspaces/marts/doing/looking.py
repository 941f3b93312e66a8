"""A look into a storage that is no lakehouse: what tables it has, and how one of them or a query looks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from lakehold.connectors.sources.connector import SourceConnector
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.lake import readable_tables
from lakehold.lake.volumes import Volume
from lakehold.workspaces.marts import storages
from lakehold.workspaces.marts.definitions import By, In
from lakehold.workspaces.marts.doing import storing
from lakehold.workspaces.marts.looking import ROWS, fitting, noted
from lakehold.workspaces.marts.storages import Look


def look(platform: Platform, caller: Caller, asked: Look, warm: Callable[[], object]) -> dict[str, Any]:
    """What there is, as JSON has it. Only for those who may use the storage, or make or edit one like this."""
    with platform.read(caller) as ctx:
        told = storages.let_in(ctx, asked)
        secrets = storages.secrets(ctx, asked)
        place = readable_tables.identifier_of(ctx, asked.storage) if asked.storage else None
    if storages.where(told) is In.DATABASE:
        # Its drivers are Spark's. Files are looked at without.
        warm()
    volume = Volume(platform.settings, place) if place else None
    sql = asked.text if asked.by == By.SQL else ""
    connector = storing.connector(platform.settings, told, secrets, volume, sql)
    return _sample(connector, asked) if asked.by else _tables(connector)


def _tables(connector: SourceConnector) -> dict[str, Any]:
    connector.check()
    return {"tables": [{"name": each.name, "uid": "", "keys": list(each.keys)} for each in connector.streams()]}


def _sample(connector: SourceConnector, asked: Look) -> dict[str, Any]:
    found, notes = [asked.text], list[str]()
    if asked.by == By.PATTERN:
        found = fitting(asked.text, [each.name for each in connector.streams()])
        notes = noted(found)
    sample = asdict(connector.sample(found[0], ROWS))
    return {**sample, "notes": [*notes, *sample["notes"]]}
