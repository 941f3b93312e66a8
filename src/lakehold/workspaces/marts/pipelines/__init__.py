"""The kinds of a project that can be run.

- `data_mart`: refreshes, checks, copies and publishes a data mart
- `report`: sends a report to its destination
"""

from __future__ import annotations

from lakehold.runs.runnable import Runnable
from lakehold.workspaces.marts.pipelines.data_mart import DataMartPipeline
from lakehold.workspaces.marts.pipelines.report import ReportPipeline

RUNNABLES: tuple[Runnable, ...] = (DataMartPipeline(), ReportPipeline())
