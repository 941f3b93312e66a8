"""The HTTP server of a worker on this machine: queries, probes, connection tests, and the catalog for its own Spark.

Nothing waits in a queue. Every request carries a token that only this installation can have signed.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from http import HTTPStatus
from socket import IPPROTO_TCP, TCP_NODELAY
from threading import Thread
from typing import Annotated, Any

import uvicorn
from fastapi import APIRouter, FastAPI, Request, Response
from pydantic import BaseModel, Field

from lakehold import workspaces
from lakehold.api import iceberg_rest
from lakehold.api.http.app import create_app
from lakehold.api.http.authentication import RequestCredentials, read_credentials
from lakehold.api.http.dependencies import get_platform
from lakehold.api.http.problems import problem_from_error, problem_response
from lakehold.directory.caller import Caller
from lakehold.directory.errors import UnauthorizedError
from lakehold.directory.platform import Platform
from lakehold.kit.database import Transaction
from lakehold.kit.errors import LakeholdError, NotFoundError
from lakehold.kit.ids import quote
from lakehold.lake import catalog_tokens, row_formats
from lakehold.runs.service import Runs
from lakehold.runs.worker_client import (
    ARROW_MEDIA_TYPE,
    COMPLETE_HEADER,
    DESCRIBE_PATH,
    PROBE_PATH,
    QUERY_PATH,
    READS_HEADER,
    format_reads,
)
from lakehold.worker.spark_session import SparkRuntime
from lakehold.worker.system_tables import SystemTables
from lakehold.workspaces import registry

_HOST = "127.0.0.1"
_MAX_TEXT = 1_000_000

routes = APIRouter(include_in_schema=False)


class DescribeQueryRequest(BaseModel):
    """A query to describe without running it."""

    workspace: str
    text: Annotated[str, Field(max_length=_MAX_TEXT)]


class QueryRequest(DescribeQueryRequest):
    """A query that the server passes on."""

    id: str
    rows: int


class ProbeRequest(BaseModel):
    """A connection to probe, by the name of its probe: `lakehouse.source`."""

    probe: str
    request: dict[str, Any]


def _find_caller(platform: Platform, _transaction: Transaction, credentials: RequestCredentials) -> Caller | None:
    """Find the caller of a catalog token; there are no sessions here."""
    return catalog_tokens.verify_token(platform.keys, credentials.token, platform.clock())


@routes.post(QUERY_PATH)
def run_query(request: Request, body: QueryRequest) -> Response:
    """Run a query and return its rows."""
    from lakehold.lake.spark.queries import Query  # noqa: PLC0415 - a worker that is asked nothing needs no Spark

    query = Query(body.id, _caller(request), body.workspace, body.text, body.rows)
    reads: set[str] = set()
    try:
        result = _spark_runtime(request).queries.run(query, reads)
    except LakeholdError as error:
        # Its message can speak of rows: what it has read is told all the same.
        return problem_response(problem_from_error(error), "", {READS_HEADER: format_reads(reads)})
    headers = {COMPLETE_HEADER: str(result.complete).lower(), READS_HEADER: format_reads(reads)}
    content = b"".join(row_formats.as_arrow(result.schema, result.batches))
    return Response(content, media_type=ARROW_MEDIA_TYPE, headers=headers)


@routes.delete(QUERY_PATH + "/{uid}")
def stop_query(request: Request, uid: str) -> Response:
    """Stop a query of the caller."""
    _spark_runtime(request).queries.stop(uid, _caller(request))
    return Response(status_code=HTTPStatus.NO_CONTENT)


@routes.post(DESCRIBE_PATH)
def describe_query(request: Request, body: DescribeQueryRequest) -> dict[str, Any]:
    """Return the fields of a query and the tables that it reads."""
    schema, reads = _spark_runtime(request).queries.describe(_caller(request), body.workspace, body.text)
    fields = [{"name": field.name, "type": field.dataType.simpleString()} for field in schema.fields]
    return {"fields": fields, "reads": sorted(reads)}


@routes.post(PROBE_PATH)
def run_probe(request: Request, body: ProbeRequest) -> dict[str, Any]:
    """Test a connection, list what it has, or sample it, as the probe of its way of working does."""
    model, _, name = body.probe.partition(".")
    workspace = registry.find_workspace(model)
    found = workspace.probes().get(name) if workspace else None
    if found is None:
        raise NotFoundError(
            f"There is no probe {quote(body.probe)}.", "The server and the worker may differ in release."
        )
    runtime = _spark_runtime(request)
    return dict(found(get_platform(request), _caller(request), body.request, lambda: runtime.spark))


@contextmanager
def serve(platform: Platform) -> Iterator[tuple[str, SparkRuntime]]:
    """Serve in a thread; yield the address and the Spark runtime."""
    config = uvicorn.Config(FastAPI(), host=_HOST, port=0, access_log=False, log_config=None, server_header=False)
    socket = config.bind_socket()
    # Else a short answer waits 40 ms for the receiver to confirm its head: asyncio takes this socket for no TCP.
    socket.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
    address = f"http://{_HOST}:{socket.getsockname()[1]}"
    spark_runtime = SparkRuntime(platform, address)
    config.app = app = create_app(platform, [iceberg_rest.routes, routes], _find_caller)
    app.state.warm = spark_runtime
    app.state.system = SystemTables(spark_runtime, Runs(workspaces.runnables()))
    server = uvicorn.Server(config)
    thread = Thread(target=server.run, kwargs={"sockets": [socket]}, daemon=True, name="answering")
    thread.start()
    logging.getLogger("lakehold.processes").info("the worker listens on port %s", socket.getsockname()[1])
    try:
        yield address, spark_runtime
    finally:
        server.should_exit = True
        thread.join(timeout=10)
        socket.close()


def _spark_runtime(request: Request) -> SparkRuntime:
    found: SparkRuntime = request.app.state.warm
    return found


def _caller(request: Request) -> Caller:
    platform = get_platform(request)
    found = catalog_tokens.verify_token(platform.keys, read_credentials(request).token, platform.clock())
    if found is None:
        raise UnauthorizedError("This token is invalid or has expired.", "Use the server, not the worker.")
    return found
