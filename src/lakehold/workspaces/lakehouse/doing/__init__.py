"""How the steps of a lakehouse's pipelines are done. Only a worker imports this.

- `inputs`: the rows of a table; `outputs`: the table that rows go into, made if it is not there
- `materialise`: rows of a query into a table
- `keep`: a table into its history
- `ingest`: a stream of a source into a table; `connecting`: the connector, from settings and secrets
- `looking`: a source before it is one
- `deliver`: a table to where a destination sends it; `sending`: how it is sent, from settings and secrets
"""

from __future__ import annotations

from lakehold.runs.runnable import Doers
from lakehold.workspaces.lakehouse.doing import deliver, ingest, keep, materialise
from lakehold.workspaces.lakehouse.steps import Deliver, Ingest, Keep, Materialise

DOERS: Doers = {Materialise: materialise.do, Keep: keep.do, Ingest: ingest.do, Deliver: deliver.do}
