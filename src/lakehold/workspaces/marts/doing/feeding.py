"""A look at what would feed a data mart."""

from __future__ import annotations

from typing import Any

from lakehold.directory.caller import Caller
from lakehold.directory.installation import Installation
from lakehold.workspaces.marts import feeding
from lakehold.workspaces.marts.definitions import CONNECTORS, WORD
from lakehold.workspaces.marts.feeding import Feed
from lakehold.workspaces.moving import looking
from lakehold.workspaces.moving.connecting import Connecting
from lakehold.workspaces.told import Told


def look(house: Installation, caller: Caller, asked: Feed) -> dict[str, Any]:
    """Its streams, or a sample of one. Only for those who may make or edit such a data mart."""
    told = Told(asked.settings, WORD)
    told.one_of("connector", CONNECTORS, "")
    with house.read(caller) as work:
        feeding.may_look(work, asked)
        secrets = feeding.secrets(work, asked)
    return looking.look(Connecting(house.settings, secrets).connector(told), asked.stream)
