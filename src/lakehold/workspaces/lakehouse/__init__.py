"""Lakehouse: layers, tables and volumes with levels, and pipelines that take their rights from both ends.

- `model.yaml`: who may do what: Viewer, Editor, Manager; down from layers, up to layers, every() over pipelines
- `pipelines`: what can be run: what each reads and writes, and the steps that it takes
- `steps`: what each step is told
- `volumes`: files; `sources`: who may look at one; `destinations`: who may try one
- `saving`: a result as a table; `texts`: a query that is kept; `integrations`: a way in for tools
- `upkeep`: tables kept up, rolled back, described; `scheduling`: kept up by itself
- `dropping`: deleted tables, until their rows go
- `lineage`: what something is made from, and what reads it
- `doing`: how a step is done; only a worker imports it
"""
