"""The routers of marts, in the order of the document."""

from __future__ import annotations

from fastapi import APIRouter

from lakehold.api.marts import marts, reports

ROUTERS: list[APIRouter] = [marts.routes, reports.routes]
