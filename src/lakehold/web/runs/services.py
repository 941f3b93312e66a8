"""The run and trigger services that pages share."""

from __future__ import annotations

from lakehold import workspaces
from lakehold.runs.scheduler.service import Triggers
from lakehold.runs.service import Runs

RUNS = Runs(workspaces.runnables())
TRIGGERS = Triggers(RUNS)
