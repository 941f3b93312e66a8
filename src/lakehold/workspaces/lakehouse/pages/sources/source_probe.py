"""Probing a source through a worker, outside of any transaction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import Request

from lakehold.api.http.dependencies import get_platform, read_transaction
from lakehold.directory.caller import Caller
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import LakeholdError
from lakehold.runs import worker_client
from lakehold.web.connections.probe import SourceProbe
from lakehold.workspaces.lakehouse import connection_access


def probe_source(request: Request, asked: Mapping[str, Any]) -> SourceProbe:
    """Probe a source as the caller. Missing rights are raised; other errors are part of the result."""
    where = (str(asked.get("source", "")), str(asked.get("lakehouse", "")), str(asked.get("layer", "")))

    def let_in(ctx: RequestContext) -> Caller:
        connection_access.need_source_probe(ctx, *where)
        return ctx.caller

    caller = read_transaction(request).run(let_in)
    try:
        return SourceProbe(worker_client.probe(get_platform(request), caller, "lakehouse.source", asked))
    except LakeholdError as error:
        return SourceProbe(error=error)
