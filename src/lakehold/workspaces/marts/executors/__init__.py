"""Executors of the steps of data marts and reports. Only a worker imports this.

- `data_mart`: refreshes a data mart from its storage, runs its checks, and copies its rows back
- `connections`: connectors of storages, probes, tests of destinations; queries, renders and sends a report
"""

from lakehold.runs.runnable import StepExecutors
from lakehold.workspaces.marts.executors import connections, data_mart
from lakehold.workspaces.marts.pipelines import CopyToStorage, RefreshMart, RunChecks, SendReport
from lakehold.workspaces.upkeep import MaintainTable
from lakehold.workspaces.upkeep_executor import maintain_table

STEP_EXECUTORS: StepExecutors = {
    RefreshMart: data_mart.refresh_mart,
    RunChecks: data_mart.run_checks,
    CopyToStorage: data_mart.copy_to_storage,
    SendReport: connections.send_report,
    MaintainTable: maintain_table,
}
