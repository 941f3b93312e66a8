"""A query is looked at by the worker before it is kept: a mistake in it is told at once, and so is a table that it
reads and that was not ticked. Where no worker is, its first run tells.
"""

from __future__ import annotations

from dataclasses import replace

from fastapi import Request

from lakehold.catalog.resource_view import VisibleRefs
from lakehold.directory.platform import Platform
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import UnavailableError
from lakehold.lake.errors import LimitExceededError, QueryError, RefusedQueryError
from lakehold.runs import queries, worker_client
from lakehold.web.lakehouse import forms
from lakehold.web.lakehouse.forms import Filled
from lakehold.web.lakehouse.sources import looking


def checked(
    request: Request, platform: Platform, workspace: str, kind: str, filled: Filled
) -> tuple[Filled, dict[str, str]]:
    """The form, with the tables ticked that the query reads, and what is wrong with it, by field."""
    errors = filled.errors(kind)
    if kind != forms.QUERY or "sql" in errors:
        return filled, errors
    reading = looking.reading(request)
    place = reading.run(lambda ctx: queries.open_scope(ctx, workspace))
    try:
        found = worker_client.describe_query(platform, place.caller, workspace=place.name, text=filled.sql)
    except UnavailableError:
        return filled, errors
    except (QueryError, RefusedQueryError, LimitExceededError) as error:
        return filled, {"sql": str(error), **errors}
    missed = [uid for uid in found.reads if uid not in filled.reads]
    if not missed:
        return filled, errors
    names = ", ".join(reading.run(lambda ctx: _names(ctx, missed)))
    said = f"It reads {names} too, now ticked. Save it once more."
    return replace(filled, reads=[*filled.reads, *missed]), {"reads": said, **errors}


def _names(ctx: RequestContext, uids: list[str]) -> list[str]:
    return [found.name for found in VisibleRefs(ctx).refs(uids)]
