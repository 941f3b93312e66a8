"""What can be run in a project of marts.

- `mart`: a data mart is refreshed from its storage
- `report`: a report is sent to its destination
"""

from __future__ import annotations

from lakehold.runs.runnable import Runnable
from lakehold.workspaces.marts.pipelines.mart import MartPipeline
from lakehold.workspaces.marts.pipelines.report import ReportPipeline

RUNNABLES: tuple[Runnable, ...] = (MartPipeline(), ReportPipeline())
