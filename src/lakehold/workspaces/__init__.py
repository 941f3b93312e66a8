"""Workspaces: one folder for each way of working, with its own nouns and rights.

Each folder of a way of working holds a model.yaml with its kinds, roles and actions. A fifth one is one more
folder.

- `marts`: projects of storages, data marts, destinations, reports and triggers
- `lakehouse`: layers, tables and volumes with levels, and the pipelines between them
- `spaces`: data spaces with projects, tasks, connections, gateways and apps
- `products`: mastered entities with roles inherited from tenant to project to product
- `settings_reader`: typed reading of the settings of a resource
- `graph`: neighbours of a resource in the graph of edges
- `volume_files`: files of a resource, stored and deleted
- `transfer`: connectors and deliveries for the executors of all workspaces; only a worker imports it
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from lakehold import directory
from lakehold.access.model.loader import load_model
from lakehold.access.model.policy import Policy
from lakehold.access.model.schema import AccessModel
from lakehold.runs.runnable import RunnableRegistry


@cache
def models() -> tuple[AccessModel, ...]:
    """Return the model of the tenant and those of every workspace folder."""
    here = Path(__file__).parent
    return (directory.model(), *(load_model(file) for file in sorted(here.glob("*/model.yaml"))))


@cache
def policy() -> Policy:
    """Return the compiled policy of the models that come with Lakehold."""
    return Policy(models())


def runnables() -> RunnableRegistry:
    """Return the registry of the kinds that can be run, of every workspace."""
    # Here, not above: whoever wants the models alone needs no more.
    from lakehold.workspaces.lakehouse.pipelines import RUNNABLES as LAKEHOUSE  # noqa: PLC0415
    from lakehold.workspaces.marts.pipelines import RUNNABLES as MARTS  # noqa: PLC0415

    return RunnableRegistry([*LAKEHOUSE, *MARTS])
