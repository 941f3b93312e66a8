"""One folder for each way of working, with its own words and its own rules of who may do what.

- `marts`: projects of storages, data marts, destinations, reports and triggers
- `lakehouse`: layers, tables and volumes with levels, and the pipelines between them
- `spaces`: data spaces with projects, tasks, connections, gateways and apps
- `products`: mastered entities with roles inherited from tenant to project to product

Each folder holds a `model.yaml`. A fifth way of working is one more folder.

What several of them need:

- `told`: settings, read with care; `ends`: where edges lead; `spans`: a part of what a run does
- `files`: those of a resource, kept and taken away
- `doing`: how every step is done; `moving`: how rows come and go; only a worker imports these
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from lakehold import directory
from lakehold.access.model.loader import load_model
from lakehold.access.model.policy import Policy
from lakehold.access.model.schema import AccessModel
from lakehold.runs.runnable import Runnables


@cache
def models() -> tuple[AccessModel, ...]:
    """The tenant's model and those of every workspace folder."""
    here = Path(__file__).parent
    return (directory.model(), *(load_model(file) for file in sorted(here.glob("*/model.yaml"))))


@cache
def policy() -> Policy:
    """The models that come with Lakehold, compiled."""
    return Policy(models())


def runnables() -> Runnables:
    """The kinds that can be run, of every workspace."""
    # Here, not above: whoever wants the models alone needs no more.
    from lakehold.workspaces.lakehouse.pipelines import RUNNABLES as LAKEHOUSE  # noqa: PLC0415
    from lakehold.workspaces.marts.pipelines import RUNNABLES as MARTS  # noqa: PLC0415

    return Runnables([*LAKEHOUSE, *MARTS])
