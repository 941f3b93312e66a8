"""Lakehouse: layers, tables and volumes with levels, and pipelines that take their rights from both ends.

- `model.yaml`: who may do what: Viewer, Editor, Manager; down from layers, up to layers, every() over pipelines
"""
