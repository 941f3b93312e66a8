"""A look at what would feed a data mart."""

from __future__ import annotations

from typing import Any

from lakehold.directory.caller import Caller
from lakehold.directory.platform import Platform
from lakehold.workspaces.marts import feeding
from lakehold.workspaces.marts.definitions import CONNECTORS, WORD
from lakehold.workspaces.marts.feeding import Feed
from lakehold.workspaces.moving import looking
from lakehold.workspaces.moving.connecting import Connecting
from lakehold.workspaces.told import SettingsReader


def look(platform: Platform, caller: Caller, asked: Feed) -> dict[str, Any]:
    """Its streams, or a sample of one. Only for those who may make or edit such a data mart."""
    told = SettingsReader(asked.settings, WORD)
    told.one_of("connector", CONNECTORS, "")
    with platform.read(caller) as ctx:
        feeding.may_look(ctx, asked)
        secrets = feeding.secrets(ctx, asked)
    return looking.look(Connecting(platform.settings, secrets).connector(told), asked.stream)
