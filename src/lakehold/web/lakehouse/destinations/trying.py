"""A destination is tried out by the worker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fastapi import Request

from lakehold.api.http.dependencies import get_platform
from lakehold.directory.caller import Caller
from lakehold.directory.request_context import RequestContext
from lakehold.kit.errors import LakeholdError
from lakehold.runs import worker_client
from lakehold.web.lakehouse.sources import looking
from lakehold.workspaces.lakehouse import connection_access


def tried(request: Request, asked: Mapping[str, Any]) -> tuple[str, LakeholdError | None]:
    """What was found, or what is wrong. Whether the caller may is neither: it is refused."""

    def let_in(ctx: RequestContext) -> Caller:
        destination, lakehouse, volume = (str(asked.get(name, "")) for name in ("destination", "lakehouse", "volume"))
        connection_access.need_destination_check(ctx, destination, lakehouse, asked.get("reads", ()), volume)
        return ctx.caller

    caller = looking.reading(request).run(let_in)
    try:
        return worker_client.check_destination(get_platform(request), caller, asked), None
    except LakeholdError as error:
        return "", error
