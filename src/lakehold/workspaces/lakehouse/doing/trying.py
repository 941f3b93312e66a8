"""A destination is tried out before it is one, or before it is changed: nothing is sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lakehold.catalog import credentials
from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.workspaces.lakehouse import destinations, volumes
from lakehold.workspaces.moving.connecting import Connecting
from lakehold.workspaces.moving.sending import Sending
from lakehold.workspaces.told import SettingsReader


@dataclass(frozen=True, slots=True)
class Trial:
    """What is to be tried: a destination that is there, or one that somebody would make."""

    settings: Mapping[str, object]
    destination: str = ""
    lakehouse: str = ""
    reads: Sequence[str] = ()
    volume: str = ""
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Instead of those that are kept, or beside them."""


def tried(platform: Platform, caller: Caller, asked: Trial) -> dict[str, str]:
    """What was found, in words; refused if nothing could be sent so."""
    told = SettingsReader(asked.settings, "destination")
    with platform.read(caller) as ctx:
        destinations.may_try(ctx, asked.destination, asked.lakehouse, asked.reads, asked.volume)
        kept = credentials.load_for_test(ctx, asked.destination, asked.settings) if asked.destination else {}
        to_files = told.text("to", "") == "files" and asked.volume
        volume = volumes.files_of(ctx, platform.settings, asked.volume, "write") if to_files else None
    connecting = Connecting(platform.settings, {**kept, **asked.secrets}, volume)
    return {"said": Sending(connecting, told, "", "", Path(), None).try_out()}
