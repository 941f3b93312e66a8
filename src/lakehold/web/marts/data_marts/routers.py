"""All pages of data marts."""

from __future__ import annotations

from fastapi import APIRouter

from lakehold.web.marts.data_marts import checks, feeding, page, reports, routes, schema

ROUTERS: list[APIRouter] = [
    *(routes.new, routes.routes, feeding.new, feeding.routes, page.routes),
    *(reports.routes, schema.routes, checks.routes),
]
