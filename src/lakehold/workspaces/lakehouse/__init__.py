"""Lakehouse: layers, tables and volumes with levels, and pipelines that take their rights from both ends.

- `model.yaml`: who may do what: Viewer, Editor, Manager; down from layers, up to layers, every() over pipelines
- `pipelines`: what can be run: what each reads and writes, and the steps that it takes
- `steps`: what each step is told
- `volumes`: files; `sources`: who may look at one; `saving`: a result as a table; `integrations`: a way in for tools
- `doing`: how a step is done; only a worker imports it
"""
