"""A table to where a destination sends it: read as the person whom the run is for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from lakehold.catalog import credentials, details
from lakehold.pipeline.connectors.outward.progress import Reached
from lakehold.runs.runnable import Doing, Done
from lakehold.workspaces.lakehouse import volumes
from lakehold.workspaces.lakehouse.doing import inputs
from lakehold.workspaces.lakehouse.doing.connecting import Connecting
from lakehold.workspaces.lakehouse.doing.sending import Sending
from lakehold.workspaces.lakehouse.pipelines.told import Told
from lakehold.workspaces.lakehouse.steps import Deliver


def do(step: Deliver, doing: Doing) -> Done:
    """Send the rows that the table has now."""
    with doing.house.read(doing.caller) as work:
        told = Told(details.read(work, step.destination).settings, "destination")
        secrets = credentials.used(work, step.destination)
        volume = volumes.files_of(work, doing.house.settings, step.writes[0], "write") if step.writes else None
    rows = inputs.rows(doing, step.table)
    doing.go_on()
    connecting = Connecting(doing.house.settings, secrets, volume)
    sending = Sending(connecting, told, "" if step.alone else step.name, doing.mark, doing.kept, Noted(doing))
    done = sending.send(rows)
    places = ", ".join(done.places)
    doing.log(f"{done.rows:,} rows delivered: {places}")
    if done.words:
        doing.log(done.words, "info" if done.sure else "warning")
    return Done(done.rows, done.size, told={"places": list(done.places), "sure": done.sure})


@dataclass(frozen=True, slots=True)
class Noted:
    """How far a delivery has come, written down with its step."""

    doing: Doing

    def read(self) -> Reached | None:
        """How far it has come; None if it was never begun."""
        told: Mapping[str, Any] = self.doing.reached()
        if not told:
            return None
        return Reached(**{**told, "refused": tuple(told["refused"])})

    def keep(self, reached: Reached) -> None:
        """Write down how far it has come."""
        self.doing.note(asdict(reached))
