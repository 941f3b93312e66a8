"""How the steps of a lakehouse's pipelines are done. Only a worker imports this.

- `inputs`: the rows of a table; `outputs`: the table that rows go into, made if it is not there
- `materialise`: rows of a query into a table
- `keep`: a table into its history
"""

from __future__ import annotations

from lakehold.runs.runnable import Doers
from lakehold.workspaces.lakehouse.doing import keep, materialise
from lakehold.workspaces.lakehouse.steps import Keep, Materialise

DOERS: Doers = {Materialise: materialise.do, Keep: keep.do}
