"""`python -m benchmarks.api_server url folder socket`: the real application, and beside it a route that does nothing
but what every route does: the same method and body, the same authentication, the same transaction.
"""

from __future__ import annotations

import socket
import sys
from pathlib import Path

from uvicorn import Server

from lakehold.api.access.checks import Allowed, QuestionAt
from lakehold.api.frame.app import create_app
from lakehold.api.frame.routes import router
from lakehold.api.frame.server import configured
from lakehold.api.frame.works import Reading
from lakehold.api.routers import ROUTERS
from lakehold.directory.platform import Platform
from lakehold.kit.settings import Settings

NOTHING = "/api/v1/bench"
_nothing = router(NOTHING, "Bench")


@_nothing.post("")
def do_nothing(_work: Reading, _body: QuestionAt) -> Allowed:
    """Do nothing."""
    return Allowed(allowed=True)


@_nothing.get("")
def get_nothing(_work: Reading) -> Allowed:
    """Do nothing."""
    return Allowed(allowed=True)


def main(url: str, folder: str, handed: str) -> None:
    """Serve until told to stop."""
    settings = Settings(data=Path(folder), database=url)
    platform = Platform(settings)
    app = create_app(platform, [ROUTERS[0], _nothing, *ROUTERS[1:]])
    try:
        Server(configured(app, settings)).run([socket.socket(fileno=int(handed))])
    finally:
        platform.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
