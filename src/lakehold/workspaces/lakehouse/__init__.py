"""Lakehouse: layers, tables and volumes with levels, and pipelines that take their rights from both ends.

- `model.yaml`: who may do what: Viewer, Editor, Manager; down from layers, up to layers, every() over pipelines
- `pipelines`: what can be run: what each reads and writes, and the steps that it takes
- `steps`: what each step is told
- `doing`: how a step is done; only a worker imports it
"""
