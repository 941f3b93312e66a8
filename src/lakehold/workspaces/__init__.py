"""Workspaces: one folder for each way of working, with its own nouns and rights.

Each folder exports a descriptor from its module `workspace`, which is all that the rest of the platform reads of it.
A fifth way of working is one more folder, or a package that `LAKEHOLD_WORKSPACES` names.

- `descriptor`: what a folder says about itself: kinds, pages, routes, executors, probes
- `registry`: all descriptors, found by folder
- `marts`: projects of storages, data marts, destinations, reports and triggers
- `lakehouse`: layers, tables and volumes with levels, and the pipelines between them
- `spaces`: data spaces with projects, tasks, connections, gateways and apps
- `products`: mastered entities with roles inherited from tenant to project to product
- `graph`: neighbours of a resource in the graph of edges; checks of its kind and of connections
- `volume_files`: the service of a kind of resource that keeps files
- `transfer`: probes of sources and the state of deliveries, for executors; only a worker imports it
- `upkeep`, `upkeep_executor`: the upkeep of tables and data marts, and its executor; only a worker imports the latter
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from lakehold.workspaces import registry

if TYPE_CHECKING:
    from lakehold.access.model.policy import Policy
    from lakehold.access.model.schema import AccessModel
    from lakehold.runs.runnable import RunnableRegistry

# What these functions need is imported in them: a command that only looks a kind up is to start at once.


def models() -> tuple[AccessModel, ...]:
    """Return the model of the tenant and those of every way of working."""
    from lakehold.directory.access_models import builtin_models  # noqa: PLC0415

    return builtin_models()


@cache
def policy() -> Policy:
    """Return the compiled policy of the models that come with Lakehold."""
    from lakehold.access.model.policy import Policy  # noqa: PLC0415

    return Policy(models())


@cache
def runnables() -> RunnableRegistry:
    """Return the registry of the kinds that can be run, of every way of working."""
    from lakehold.runs.runnable import RunnableRegistry  # noqa: PLC0415

    found = (each for workspace in registry.all_workspaces() for each in workspace.runnables())
    return RunnableRegistry({each.kind: each for each in found})
