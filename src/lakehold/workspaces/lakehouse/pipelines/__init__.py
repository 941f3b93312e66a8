"""The kinds of a lakehouse that can be run: inputs, outputs and steps of each.

- `base`: edges and rights that all of them have in common
- `connections`: sources load streams into tables, destinations send tables out
- `tables`: queries, histories, saved results, and the maintenance of tables
"""

from lakehold.runs.runnable import Runnable
from lakehold.workspaces.lakehouse.pipelines.connections import DestinationPipeline, SourcePipeline
from lakehold.workspaces.lakehouse.pipelines.tables import HistoryPipeline, QueryPipeline, SavedTablePipeline

RUNNABLES: tuple[Runnable, ...] = (
    SourcePipeline(),
    QueryPipeline(),
    HistoryPipeline(),
    DestinationPipeline(),
    SavedTablePipeline(),
)
