"""A table to where a destination sends it: read as the person whom the run is for."""

from __future__ import annotations

from lakehold.catalog import credentials, resource_metadata
from lakehold.runs.runnable import Done, StepContext
from lakehold.workspaces.lakehouse import volumes
from lakehold.workspaces.lakehouse.doing import inputs
from lakehold.workspaces.lakehouse.steps import Deliver
from lakehold.workspaces.moving.connecting import Connecting
from lakehold.workspaces.moving.noted import Noted, told_of
from lakehold.workspaces.moving.sending import Sending
from lakehold.workspaces.told import SettingsReader


def do(step: Deliver, doing: StepContext) -> Done:
    """Send the rows that the table has now."""
    with doing.platform.read(doing.caller) as ctx:
        told = SettingsReader(resource_metadata.load(ctx, step.destination).settings, "destination")
        secrets = credentials.load_for_use(ctx, step.destination)
        volume = volumes.files_of(ctx, doing.platform.settings, step.writes[0], "write") if step.writes else None
    rows = inputs.rows(doing, step.table)
    doing.go_on()
    connecting = Connecting(doing.platform.settings, secrets, volume)
    sending = Sending(connecting, told, "" if step.alone else step.name, doing.mark, doing.kept, Noted(doing))
    return told_of(doing, sending.send(rows))
