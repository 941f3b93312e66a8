"""All routers, in the order of the document. A new noun adds its router here, and is served, documented, crawled for
side doors and fuzzed from then on.
"""

from __future__ import annotations

from fastapi import APIRouter

from lakehold.api.access import abilities, audits, checks, explains, members, models, reviews, what_ifs
from lakehold.api.authzen import evaluations, metadata, searches
from lakehold.api.catalog.routers import ROUTERS as CATALOG
from lakehold.api.code import files
from lakehold.api.directory.routers import ROUTERS as DIRECTORY
from lakehold.api.iceberg import catalog
from lakehold.api.marts.routers import ROUTERS as MARTS
from lakehold.api.pipeline.routers import ROUTERS as PIPELINE

ROUTERS: list[APIRouter] = [
    checks.routes,
    evaluations.routes,
    searches.routes,
    metadata.routes,
    explains.routes,
    members.routes,
    abilities.routes,
    what_ifs.routes,
    models.routes,
    audits.routes,
    reviews.routes,
    *DIRECTORY,
    *CATALOG,
    files.routes,
    catalog.routes,
    *PIPELINE,
    *MARTS,
]
