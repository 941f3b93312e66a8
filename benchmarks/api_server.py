"""`python -m benchmarks.api_server url folder socket`: the real application, and beside it a route that does nothing
but what every route does: the same method and body, the same authentication, the same transaction.
"""

from __future__ import annotations

import socket
import sys
from pathlib import Path

from uvicorn import Server

from lakehold.api.access.questions import CheckBody, CheckResultJson
from lakehold.api.http.app import create_app, server_config
from lakehold.api.http.dependencies import ReadContext
from lakehold.api.http.routing import make_router
from lakehold.api.routers import ROUTERS
from lakehold.directory.platform import Platform
from lakehold.kit.settings import Settings

NOTHING = "/api/v1/bench"
_nothing = make_router(NOTHING, "Bench")


@_nothing.post("")
def do_nothing(_work: ReadContext, _body: CheckBody) -> CheckResultJson:
    """Do nothing."""
    return CheckResultJson(allowed=True)


@_nothing.get("")
def get_nothing(_work: ReadContext) -> CheckResultJson:
    """Do nothing."""
    return CheckResultJson(allowed=True)


def main(url: str, folder: str, handed: str) -> None:
    """Serve until stopped."""
    settings = Settings(data=Path(folder), database=url)
    platform = Platform(settings)
    app = create_app(platform, [ROUTERS[0], _nothing, *ROUTERS[1:]])
    try:
        Server(server_config(app, settings)).run([socket.socket(fileno=int(handed))])
    finally:
        platform.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
