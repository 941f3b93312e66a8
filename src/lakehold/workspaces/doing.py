"""How the steps of every workspace are done. Only a worker imports this."""

from __future__ import annotations

from lakehold.runs.runnable import StepExecutors
from lakehold.workspaces.lakehouse import doing as lakehouse
from lakehold.workspaces.marts import doing as marts

DOERS: StepExecutors = {**lakehouse.DOERS, **marts.DOERS}
