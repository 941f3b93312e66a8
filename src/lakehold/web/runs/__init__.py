"""Pages of runs and of the resources that are run, shared by all workspaces, and the services that they use.

- `labels`: states, causes, durations and sizes for people
- `run_page`: one run: state, steps, log and actions
- `run_list`: the runs of a workspace, and rows of runs
- `runnable_page`: what all resources that can be run share: their runs; run, reload, activate
"""

from lakehold import workspaces
from lakehold.runs.scheduler.service import Triggers
from lakehold.runs.service import Runs

RUNS = Runs(workspaces.runnables())
TRIGGERS = Triggers(RUNS)
