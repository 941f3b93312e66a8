"""The executors of the steps of all workspaces. Only a worker imports this."""

from __future__ import annotations

from lakehold.runs.runnable import StepExecutors
from lakehold.workspaces.lakehouse import executors as lakehouse
from lakehold.workspaces.marts import executors as marts

STEP_EXECUTORS: StepExecutors = {**lakehouse.STEP_EXECUTORS, **marts.STEP_EXECUTORS}
