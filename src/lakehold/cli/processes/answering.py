"""What a worker answers on this machine: queries of persons, and the catalog that its own Spark asks for their tables.

Nothing is waited for in a queue. Everything comes with a ticket that only this installation can have made.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http import HTTPStatus
from socket import IPPROTO_TCP, TCP_NODELAY
from threading import Thread
from typing import Annotated, Any

import pyarrow as pa
import uvicorn
from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.responses import StreamingResponse
from pydantic import BaseModel, Field

from lakehold import workspaces
from lakehold.api.frame.app import create_app
from lakehold.api.frame.callers import shown_by
from lakehold.api.frame.works import house_of
from lakehold.api.iceberg import catalog
from lakehold.directory.caller import Caller
from lakehold.directory.errors import UnauthorizedError
from lakehold.directory.platform import Platform
from lakehold.kit.database import Transaction
from lakehold.lake import catalog_tokens
from lakehold.runs.asking import ARROW, COMPLETE, DESCRIBE, LOOK, LOOK_AT_FEED, LOOK_INTO, PATH, TRY
from lakehold.runs.runs import Runs
from lakehold.runs.system.system import System
from lakehold.runs.warm import Warm

_HOST = "127.0.0.1"
_MOST = 1_000_000

routes = APIRouter(include_in_schema=False)


class Asked(BaseModel):
    """A query as the server hands it on."""

    id: str
    workspace: str
    text: Annotated[str, Field(max_length=_MOST)]
    rows: int


class Described(BaseModel):
    """A query that is not to be run yet."""

    workspace: str
    text: Annotated[str, Field(max_length=_MOST)]


class Looked(BaseModel):
    """A source that is to be looked at."""

    settings: dict[str, Any]
    source: str = ""
    lakehouse: str = ""
    layer: str = ""
    secrets: dict[str, str] = {}
    stream: str = ""
    how: dict[str, Any] = {}


class LookedInto(BaseModel):
    """A storage that is to be looked into."""

    storage: str = ""
    project: str = ""
    settings: dict[str, Any] | None = None
    secrets: dict[str, str] = {}
    by: str = ""
    text: Annotated[str, Field(max_length=_MOST)] = ""


class LookedAtFeed(BaseModel):
    """What would feed a data mart, and is to be looked at."""

    settings: dict[str, Any]
    mart: str = ""
    project: str = ""
    secrets: dict[str, str] = {}
    stream: str = ""


class Tried(BaseModel):
    """A destination that is to be tried out."""

    settings: dict[str, Any]
    destination: str = ""
    lakehouse: str = ""
    project: str = ""
    """The one of marts that it lies in; in a lakehouse there is none."""
    reads: list[str] = []
    volume: str = ""
    secrets: dict[str, str] = {}


class Tickets:
    """Knows people by their tickets."""

    def of_token(self, platform: Platform, _transaction: Transaction, secret: str) -> Caller | None:
        """By the ticket."""
        return catalog_tokens.verify_token(platform.keys, secret, platform.clock())

    def of_session(self, _platform: Platform, _transaction: Transaction, _secret: str) -> Caller | None:
        """Nobody signs in here."""
        return None


@routes.post(PATH)
def ask(request: Request, asked: Asked) -> Response:
    """Run a query, and send its rows."""
    from lakehold.lake.spark.queries import Query  # noqa: PLC0415 - a worker that is asked nothing needs no Spark

    query = Query(asked.id, _caller(request), asked.workspace, asked.text, asked.rows)
    result = _warm(request).queries.run(query)
    headers = {COMPLETE: str(result.complete).lower()}
    return StreamingResponse(_written(result.schema, result.batches), media_type=ARROW, headers=headers)


@routes.delete(PATH + "/{uid}")
def stop(request: Request, uid: str) -> Response:
    """Stop a query of one's own."""
    _warm(request).queries.stop(uid, _caller(request))
    return Response(status_code=HTTPStatus.NO_CONTENT)


@routes.post(DESCRIBE)
def describe(request: Request, asked: Described) -> dict[str, Any]:
    """What a query means: the fields of its rows, and the tables that it reads."""
    schema, reads = _warm(request).queries.describe(_caller(request), asked.workspace, asked.text)
    fields = [{"name": field.name, "type": field.dataType.simpleString()} for field in schema.fields]
    return {"fields": fields, "reads": sorted(reads)}


@routes.post(LOOK)
def look(request: Request, asked: Looked) -> dict[str, Any]:
    """A look at a source."""
    from lakehold.workspaces.lakehouse.doing import looking  # noqa: PLC0415 - as above

    _warm_up(request, asked.settings)
    return looking.look(house_of(request), _caller(request), looking.Look(**asked.model_dump()))


@routes.post(LOOK_INTO)
def look_into(request: Request, asked: LookedInto) -> dict[str, Any]:
    """A look into a storage."""
    from lakehold.workspaces.marts.doing import looking  # noqa: PLC0415 - as above
    from lakehold.workspaces.marts.storages import Look  # noqa: PLC0415

    return looking.look(house_of(request), _caller(request), Look(**asked.model_dump()), lambda: _warm(request).spark)


@routes.post(LOOK_AT_FEED)
def look_at_feed(request: Request, asked: LookedAtFeed) -> dict[str, Any]:
    """A look at what would feed a data mart."""
    from lakehold.workspaces.marts.doing import feeding  # noqa: PLC0415 - as above
    from lakehold.workspaces.marts.feeding import Feed  # noqa: PLC0415

    _warm_up(request, asked.settings)
    return feeding.look(house_of(request), _caller(request), Feed(**asked.model_dump()))


@routes.post(TRY)
def try_out(request: Request, asked: Tried) -> dict[str, str]:
    """A destination tried out."""
    from lakehold.workspaces.lakehouse.doing import trying  # noqa: PLC0415 - as above
    from lakehold.workspaces.marts.doing import trying as in_project  # noqa: PLC0415

    if asked.settings.get("to") == "database":
        _ = _warm(request).spark
    platform, caller = house_of(request), _caller(request)
    if asked.project:
        told = asked.model_dump(include={"settings", "destination", "project", "secrets"})
        return in_project.tried(platform, caller, in_project.Trial(**told))
    return trying.tried(platform, caller, trying.Trial(**asked.model_dump(exclude={"project"})))


def application(platform: Platform, warm: Warm) -> FastAPI:
    """All of it."""
    app = create_app(platform, [catalog.routes, routes], Tickets())
    app.state.warm = warm
    app.state.system = System(warm, Runs(workspaces.runnables()))
    return app


@contextmanager
def answering(platform: Platform) -> Iterator[tuple[str, Warm]]:
    """Answer in a thread of its own, at the address that this gives, with the Spark that this gives."""
    config = uvicorn.Config(FastAPI(), host=_HOST, port=0, access_log=False, log_config=None, server_header=False)
    socket = config.bind_socket()
    # Else a short answer waits 40 ms for the receiver to confirm its head: asyncio takes this socket for no TCP.
    socket.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
    address = f"http://{_HOST}:{socket.getsockname()[1]}"
    warm = Warm(platform, address)
    config.app = application(platform, warm)
    server = uvicorn.Server(config)
    thread = Thread(target=server.run, kwargs={"sockets": [socket]}, daemon=True, name="answering")
    thread.start()
    logging.getLogger("lakehold.processes").info("the worker listens on port %s", socket.getsockname()[1])
    try:
        yield address, warm
    finally:
        server.should_exit = True
        thread.join(timeout=10)
        socket.close()


def _warm_up(request: Request, settings: Mapping[str, Any]) -> None:
    """A database's drivers are Spark's. Files and APIs are looked at without."""
    if settings.get("connector") == "database":
        _ = _warm(request).spark


def _warm(request: Request) -> Warm:
    found: Warm = request.app.state.warm
    return found


def _caller(request: Request) -> Caller:
    platform = house_of(request)
    found = catalog_tokens.verify_token(platform.keys, shown_by(request).token, platform.clock())
    if found is None:
        raise UnauthorizedError("This ticket is not valid, or not any more.", "Ask the server, not the worker.")
    return found


def _written(schema: pa.Schema, batches: list[pa.RecordBatch]) -> Iterator[bytes]:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    yield sink.getvalue().to_pybytes()
