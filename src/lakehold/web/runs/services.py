"""The run and trigger services that pages share."""

from lakehold import workspaces
from lakehold.runs.scheduler.service import Triggers
from lakehold.runs.service import Runs

RUNS = Runs(workspaces.runnables())
TRIGGERS = Triggers(RUNS)
