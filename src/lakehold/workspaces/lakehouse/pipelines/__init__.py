"""What can be run in a lakehouse: what each reads and writes, and the steps that it takes.

- `pipeline`: what all of them have in common: their edges, and the rights that these ask for
- `query`: rows of a query into a table
- `history`: the history of a table
- `source`: streams into tables; `destination`: tables to others; `saved`: a table that a result was saved as
- `upkeep`: what keeps up a table: files, versions, descriptions
"""

from __future__ import annotations

from lakehold.runs.runnable import Runnable
from lakehold.workspaces.lakehouse.pipelines.destination import DestinationPipeline
from lakehold.workspaces.lakehouse.pipelines.history import HistoryPipeline
from lakehold.workspaces.lakehouse.pipelines.query import QueryPipeline
from lakehold.workspaces.lakehouse.pipelines.saved import SavedTable
from lakehold.workspaces.lakehouse.pipelines.source import SourcePipeline

RUNNABLES: tuple[Runnable, ...] = (
    SourcePipeline(),
    QueryPipeline(),
    HistoryPipeline(),
    DestinationPipeline(),
    SavedTable(),
)
