"""The run and trigger services that pages share, and the kinds of resources that can be run."""

from __future__ import annotations

from lakehold import workspaces
from lakehold.runs.scheduler.service import Triggers
from lakehold.runs.service import Runs
from lakehold.workspaces.registry import describe_kind

RUNS = Runs(workspaces.runnables())
TRIGGERS = Triggers(RUNS)
RUNNABLE_KINDS = tuple(kind for kind in RUNS.runnables.kinds if describe_kind(kind).overview)
"""The kinds that can be run and have an overview of their own: those that members run again and again."""
