"""The routers of pipelines, runs and files."""

from __future__ import annotations

from lakehold.web.lakehouse import (
    backfilling,
    files,
    integrations,
    making,
    pipeline,
    pipelines,
    run,
    runs,
    switching,
    triggers,
)
from lakehold.web.lakehouse.destinations import routes as destinations
from lakehold.web.lakehouse.sources import choosing, connecting, previewing, scheduling

ROUTERS = [
    run.routes,
    runs.routes,
    connecting.new,
    destinations.new,
    making.new,
    making.routes,
    connecting.routes,
    choosing.routes,
    previewing.routes,
    scheduling.routes,
    destinations.routes,
    switching.routes,
    integrations.routes,
    pipelines.routes,
    backfilling.routes,
    triggers.routes,
    pipeline.routes,
    files.uploads,
    files.routes,
]
