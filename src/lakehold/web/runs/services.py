"""The run and trigger services that pages share, and the kinds of resources that can be run."""

from __future__ import annotations

from lakehold import workspaces
from lakehold.runs.scheduler.service import Triggers
from lakehold.runs.service import Runs
from lakehold.web import kind_pages

RUNS = Runs(workspaces.runnables())
TRIGGERS = Triggers(RUNS)
PIPELINE_KINDS = tuple(kind for kind in kind_pages.RESOURCE_OVERVIEWS if kind.startswith("lakehouse."))
"""The kinds that move data."""
RUNNABLE_KINDS = (*(kind for kind in PIPELINE_KINDS if kind in RUNS.runnables), "marts.data_mart", "marts.report")
"""Those that are run again and again: of them, and of what draws from or sends to somewhere else."""
