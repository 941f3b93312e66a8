"""A destination of a project is tried out before it is one, or before it is changed: nothing is sent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from lakehold.catalog import credentials
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.lake import readable_tables
from lakehold.lake.volumes import Volume
from lakehold.workspaces.marts import destinations
from lakehold.workspaces.marts.live import LIVE
from lakehold.workspaces.moving.connecting import Connecting
from lakehold.workspaces.moving.sending import Sending
from lakehold.workspaces.told import SettingsReader

_NAMES = {"name": "report", "subject": "report"}
"""What each report says itself."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What is to be tried: a destination that is there, or one that somebody would make in a project."""

    settings: Mapping[str, object]
    project: str
    destination: str = ""
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Instead of those that are kept, or beside them."""


def tried(platform: Platform, caller: Caller, asked: Trial) -> dict[str, str]:
    """What was found, in words; refused if nothing could be sent so."""
    with platform.read(caller) as ctx:
        destinations.may_try(ctx, asked.destination, asked.project)
        kept = credentials.load_for_test(ctx, asked.destination, asked.settings) if asked.destination else {}
        volume = Volume(platform.settings, readable_tables.identifier_of(ctx, asked.destination or asked.project))
    if asked.settings.get("to") == LIVE:
        return {"said": "It sends nothing: it is asked. Make a secret for whoever asks it."}
    connecting = Connecting(platform.settings, {**kept, **asked.secrets}, volume)
    told = SettingsReader({**_NAMES, **asked.settings}, "destination")
    return {"said": Sending(connecting, told, "", "", Path(), None, speaks=True).try_out()}
