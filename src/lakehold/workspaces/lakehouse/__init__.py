"""Lakehouse: layers, tables and volumes with levels, and pipelines whose rights come from what they read and write.

The rights are in model.yaml: Viewer, Editor and Manager; down from layers, up to layers, every() over pipelines.

- `workspace`: the descriptor
- `settings`: the settings schemas of its kinds
- `pipelines`: what can be run: inputs, outputs and steps of each
- `steps`: the steps of pipelines
- `executors`: executes the steps; only a worker imports it
- `volumes`: who may do what with files in volumes
- `saved_queries`: saved queries, and results saved as tables
- `integrations`: read-only access for other tools
- `maintenance`: compaction, snapshot expiry, rollback and descriptions of tables, by hand and scheduled
- `deleted_tables`: deleted tables, their restoration, and those whose rows go in the end
- `lineage`: what a resource is made from, and what reads it
- `pages`: the pages of a lakehouse
- `api`: the REST endpoints of a lakehouse
"""
