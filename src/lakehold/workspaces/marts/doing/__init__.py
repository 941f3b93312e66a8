"""How the steps of marts are done. Only a worker imports this.

- `storing`: the connector of a storage; `looking`: a look into one; `feeding`: a look at a mart's own connector
- `refresh`: the rows of its storage go into a mart; `check`: its checks are looked at; `keep`: a copy of them goes back
- `send`: what a report asks goes to its destination; `saying`: in which words; `trying`: whether it would arrive
"""

from __future__ import annotations

from lakehold.runs.runnable import StepExecutors
from lakehold.workspaces.marts.doing import check, keep, refresh, send
from lakehold.workspaces.marts.steps import Keep, Look, Refresh, Send

DOERS: StepExecutors = {Refresh: refresh.do, Look: check.do, Keep: keep.do, Send: send.do}
