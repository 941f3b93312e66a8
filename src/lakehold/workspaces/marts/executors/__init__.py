"""Executors of the steps of data marts and reports. Only a worker imports this.

- `refresh`: refreshes a data mart from its storage, and copies its rows back
- `checks`: runs the checks of a data mart
- `delivery`: queries, renders and sends a report
- `connections`: connectors of storages, probes, and tests of destinations
"""

from __future__ import annotations

from lakehold.runs.runnable import StepExecutors
from lakehold.workspaces.marts.executors import checks, delivery, refresh
from lakehold.workspaces.marts.steps import CopyToStorage, RefreshMart, RunChecks, SendReport

STEP_EXECUTORS: StepExecutors = {
    RefreshMart: refresh.refresh_mart,
    RunChecks: checks.run_checks,
    CopyToStorage: refresh.copy_to_storage,
    SendReport: delivery.send_report,
}
