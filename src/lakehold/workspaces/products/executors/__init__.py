"""Executors of the steps of sources and data products, and probes. Only a worker imports this.

- `sources`: refreshes a source
- `product_run`: what the steps of a run share: tables, settings, the version before
- `record_table`: fills the table of records
- `pair_table`: fills the table of pairs, by matching in a process of its own
- `member_table`: fills the table of members
- `entity_table`: fills the table of entities, and saves the version
- `run_constraints`: the acts of curators as a run needs them
- `standardise`: the records of a data product, from the rows of a source
- `profile`: the profile of the columns of a source
- `text_columns`: columns of a source as texts
- `clusters`: clusters of records, from pairs and the constraints of curators
- `entity_ids`: stable ids of entities
- `golden_records`: the golden record of each entity
- `aggregate_expressions`: custom SQL of consolidation, checked by the guard
- `entity_changes`: the differences between two versions of entities
- `affected_records`: the records whose entity can be another one after some have changed
- `publication`: publishes a version: its search index, and its deliveries
- `connections`: probes of sources and destinations
"""

from lakehold.runs.runnable import StepExecutors
from lakehold.workspaces.products.executors import (
    connections,
    entity_table,
    member_table,
    pair_table,
    publication,
    record_table,
    sources,
)
from lakehold.workspaces.products.steps import (
    ClusterRecords,
    ConsolidateEntities,
    DeliverVersion,
    MatchRecords,
    PublishVersion,
    RefreshSource,
    StandardiseRecords,
)
from lakehold.workspaces.upkeep import MaintainTable
from lakehold.workspaces.upkeep_executor import maintain_table

PROBES = connections.PROBES
STEP_EXECUTORS: StepExecutors = {
    RefreshSource: sources.refresh_source,
    StandardiseRecords: record_table.fill_records,
    MatchRecords: pair_table.fill_pairs,
    ClusterRecords: member_table.fill_members,
    ConsolidateEntities: entity_table.fill_entities,
    PublishVersion: publication.publish_version,
    DeliverVersion: publication.deliver_version,
    MaintainTable: maintain_table,
}
