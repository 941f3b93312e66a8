"""The worker is asked to look at a source. Not in a transaction: it may take as long as the other side does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fastapi import Request

from lakehold.api.http.authentication import read_credentials
from lakehold.api.http.dependencies import PendingRequest, get_platform
from lakehold.directory.caller import Caller
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import LakeholdError
from lakehold.runs import worker_client
from lakehold.workspaces.lakehouse import connection_access


@dataclass(frozen=True, slots=True)
class Seen:
    """What there is, or why nobody knows."""

    found: Mapping[str, Any] = field(default_factory=dict)
    error: LakeholdError | None = None

    @property
    def streams(self) -> list[Mapping[str, Any]]:
        """The streams of the source."""
        return list(self.found.get("streams", ()))


def reading(request: Request) -> PendingRequest:
    """To ask something in a transaction of its own."""
    return PendingRequest(request, read_credentials(request), writes=False)


def writing(request: Request) -> PendingRequest:
    """To change something in a transaction of its own."""
    return PendingRequest(request, read_credentials(request), writes=True)


def look(request: Request, asked: Mapping[str, Any]) -> Seen:
    """Look, as the caller. Whether they may is no part of what is seen: it is refused."""
    where = (str(asked.get("source", "")), str(asked.get("lakehouse", "")), str(asked.get("layer", "")))

    def let_in(ctx: RequestContext) -> Caller:
        connection_access.need_source_probe(ctx, *where)
        return ctx.caller

    caller = reading(request).run(let_in)
    try:
        return Seen(worker_client.probe_source(get_platform(request), caller, asked))
    except LakeholdError as error:
        return Seen(error=error)
