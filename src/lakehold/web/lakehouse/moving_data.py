"""The routers of pipelines, runs and files."""

from __future__ import annotations

from lakehold.web.lakehouse import files, making, pipeline, pipelines, run, runs, triggers

ROUTERS = [
    run.routes,
    runs.routes,
    making.new,
    making.routes,
    pipelines.routes,
    triggers.routes,
    pipeline.routes,
    files.uploads,
    files.routes,
]
