"""A look at a source before it is one, or before it is changed: what streams it has, and how one looks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from lakehold.catalog import credentials
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.workspaces.lakehouse import sources, volumes
from lakehold.workspaces.moving import looking as moving
from lakehold.workspaces.moving.connecting import Connecting
from lakehold.workspaces.told import SettingsReader


@dataclass(frozen=True, slots=True)
class Look:
    """What is to be looked at: a source that is there, or one that somebody would make into a layer."""

    settings: Mapping[str, object]
    source: str = ""
    lakehouse: str = ""
    layer: str = ""
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Instead of those that are kept, or beside them."""
    stream: str = ""
    """The one that a sample is wanted of; without one, streams are told."""
    how: Mapping[str, object] = field(default_factory=dict)
    """The settings of the stream."""


def look(platform: Platform, caller: Caller, asked: Look) -> dict[str, Any]:
    """What there is, as JSON has it. Only for those who may make or edit such a source."""
    told = SettingsReader(asked.settings, "source")
    with platform.read(caller) as ctx:
        sources.may_look(ctx, asked.source, asked.lakehouse, asked.layer)
        kept = credentials.load_for_test(ctx, asked.source, asked.settings) if asked.source else {}
        reads_files = told.text("connector", "") == "files"
        volume = volumes.files_of(ctx, platform.settings, told.text("volume"), "read") if reads_files else None
    streams = {asked.stream: SettingsReader(asked.how, "stream")} if asked.stream else {}
    connector = Connecting(platform.settings, {**kept, **asked.secrets}, volume).connector(told, streams)
    return moving.look(connector, asked.stream)
