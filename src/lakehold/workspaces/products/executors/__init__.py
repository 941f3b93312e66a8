"""Executors of the steps of sources and data products, and probes. Only a worker imports this.

- `sources`: refreshes a source
- `clusters`: clusters of records that are the same, under curators' constraints
- `entity_ids`: the stable ids of entities
- `golden_records`: the golden record of each entity
- `aggregate_expressions`: rules of attributes in SQL, through the guard
- `entity_changes`: what differs between two versions
- `affected_records`: the records whose entities can change when some records have
- `publication`: publishes a version: its search index, and its deliveries
- `connections`: probes of sources and destinations
"""

from lakehold.runs.runnable import StepExecutors
from lakehold.workspaces.products.executors import connections, publication, sources
from lakehold.workspaces.products.steps import DeliverVersion, PublishVersion, RefreshSource
from lakehold.workspaces.upkeep import MaintainTable
from lakehold.workspaces.upkeep_executor import maintain_table

PROBES = connections.PROBES
STEP_EXECUTORS: StepExecutors = {
    RefreshSource: sources.refresh_source,
    PublishVersion: publication.publish_version,
    DeliverVersion: publication.deliver_version,
    MaintainTable: maintain_table,
}
