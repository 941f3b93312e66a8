"""What can be run in a lakehouse: what each reads and writes, and the steps that it takes.

- `pipeline`: what all of them have in common: their edges, and the rights that these ask for
- `query`: rows of a query into a table
- `history`: the history of a table
- `told`: what is written in a pipeline's settings, read with care
"""

from __future__ import annotations

from lakehold.runs.runnable import Runnable
from lakehold.workspaces.lakehouse.pipelines.history import HistoryPipeline
from lakehold.workspaces.lakehouse.pipelines.query import QueryPipeline

RUNNABLES: tuple[Runnable, ...] = (QueryPipeline(), HistoryPipeline())
