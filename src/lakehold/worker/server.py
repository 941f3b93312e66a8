"""The HTTP server of a worker on this machine: queries, probes, connection tests, and the catalog for its own Spark.

Nothing waits in a queue, and no request waits for what does not end: queries and probes have threads of their own, so
that those of this server are left for the catalog, which Spark asks meanwhile. Every request carries a token that only
this installation can have signed.
"""

import logging
from collections.abc import Collection, Iterator
from concurrent.futures import Future
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from http import HTTPStatus
from socket import IPPROTO_TCP, TCP_NODELAY
from threading import Thread
from typing import Annotated, Any
from uuid import uuid4

import uvicorn
from fastapi import APIRouter, Depends, FastAPI, Request, Response
from fastapi.responses import JSONResponse
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
from lakehold.kit.daemon_pool import DaemonPool, fail
from lakehold.kit.database import Transaction
from lakehold.kit.errors import LakeholdError, LimitExceededError, NotFoundError
from lakehold.kit.ids import quote
from lakehold.kit.slots import Slots
from lakehold.lake import catalog_tokens, row_formats
from lakehold.lake.errors import StoppedError
from lakehold.runs import stored_results
from lakehold.runs.service import Runs
from lakehold.runs.worker_client import (
    ARROW_MEDIA_TYPE,
    COMPLETE_HEADER,
    DESCRIBE_PATH,
    PROBE_PATH,
    QUERY_PATH,
    READS_HEADER,
    RESULT_PATH,
    format_reads,
)
from lakehold.worker.spark_session import SparkRuntime
from lakehold.worker.system_tables import SystemTables
from lakehold.workspaces import registry

_HOST = "127.0.0.1"
_MAX_TEXT = 1_000_000
_STOP_SECONDS, _ANSWER_SECONDS = 10, 3

_Probes = dict[tuple[str, str, str], Future[dict[str, Any]]]
"""What those who wait for probes get, by tenant, member and id."""


async def _authenticate(request: Request) -> None:
    """Refuse whoever has no catalog token before anything else is done for them: not even Spark is started."""
    platform = get_platform(request)
    found = catalog_tokens.verify_token(platform.keys, read_credentials(request).token, platform.clock())
    if found is None:
        raise UnauthorizedError("This token is invalid or has expired.", "Use the server, not the worker.")
    request.state.caller = found


routes = APIRouter(include_in_schema=False, dependencies=[Depends(_authenticate)])


class WorkRequest(BaseModel):
    """A request that the server passes on, with an id by which its caller stops it."""

    id: str = Field(default_factory=lambda: uuid4().hex)
    suspect: bool = False


class DescribeQueryRequest(WorkRequest):
    """A query to describe without running it."""

    workspace: str
    text: Annotated[str, Field(max_length=_MAX_TEXT)]


class QueryRequest(DescribeQueryRequest):
    """A query that returns so many rows."""

    rows: int


class StoreRequest(DescribeQueryRequest):
    """A query whose rows are stored under a name."""

    name: str


class ProbeRequest(WorkRequest):
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

    query = Query(body.id, _caller(request), body.workspace, body.text, body.rows, body.suspect)
    runtime = _spark_runtime(request)
    reads: set[str] = set()
    try:
        result = runtime.queries.run(query, reads)
    except LakeholdError as error:
        return _failure(error, reads)
    runtime.is_warm = True
    headers = {COMPLETE_HEADER: str(result.complete).lower(), READS_HEADER: format_reads(reads)}
    content = b"".join(row_formats.as_arrow(result.schema, result.batches))
    return Response(content, media_type=ARROW_MEDIA_TYPE, headers=headers)


@routes.post(RESULT_PATH)
def store_result(request: Request, body: StoreRequest) -> Response:
    """Run a query, store its rows for the server to read in pages, and return how many there are."""
    from lakehold.lake.spark.queries import Query  # noqa: PLC0415 - as above

    query = Query(body.name, _caller(request), body.workspace, body.text, 0, body.suspect)
    file = stored_results.result_file(get_platform(request).settings, body.name)
    reads: set[str] = set()
    try:
        rows = _spark_runtime(request).queries.store(query, file, most_bytes=stored_results.MAX_BYTES, reads=reads)
    except LakeholdError as error:
        return _failure(error, reads)
    return JSONResponse({"rows": rows}, headers={READS_HEADER: format_reads(reads)})


def _failure(error: LakeholdError, reads: Collection[str]) -> Response:
    """Return an error with the tables that were read: its message can speak of their rows."""
    return problem_response(problem_from_error(error), "", {READS_HEADER: format_reads(reads)})


@routes.get(QUERY_PATH)
async def get_query_load(request: Request) -> dict[str, Any]:
    """Return what a query of the caller would meet in this process, and start Spark if nobody has.

    Not in a thread: they may all be taken by queries.
    """
    runtime = _spark_runtime(request)
    load = runtime.load(_caller(request))
    known = {"ready": runtime.is_warm, "runs": runtime.executes_runs}
    return known | ({} if load is None else asdict(load))


@routes.delete(QUERY_PATH + "/{uid}")
def stop_query(request: Request, uid: str) -> Response:
    """Stop a query or probe of the caller. What a probe waits for outside of Spark goes on; nobody waits for it."""
    caller = _caller(request)
    probes: _Probes = request.app.state.probes
    waiting = probes.get((caller.tenant, caller.member, uid))
    if not _spark_runtime(request).stop_query(uid, caller) and waiting is None:
        raise NotFoundError("There is no such query.", "It may have ended.")
    if waiting is not None:
        fail(waiting, StoppedError("The test was stopped.", "Test again, or ask for less."))
    return Response(status_code=HTTPStatus.NO_CONTENT)


@routes.post(DESCRIBE_PATH)
def describe_query(request: Request, body: DescribeQueryRequest) -> dict[str, Any]:
    """Return the fields of a query and the tables that it reads."""
    from lakehold.lake.spark.queries import Query  # noqa: PLC0415 - as above

    query = Query(body.id, _caller(request), body.workspace, body.text, 0, body.suspect)
    schema, reads = _spark_runtime(request).queries.describe(query)
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
    platform, caller, runtime = get_platform(request), _caller(request), _spark_runtime(request)

    slots: Slots = request.app.state.probe_slots

    def probe() -> dict[str, Any]:
        with slots.take((caller.tenant, caller.member)), ExitStack() as joined:

            def start_spark() -> SparkRuntime:
                joined.enter_context(runtime.queries.join(body.id, caller, is_suspect=body.suspect))
                return runtime

            return dict(found(platform, caller, body.request, start_spark))

    pool: DaemonPool = request.app.state.probe_pool
    probes: _Probes = request.app.state.probes
    seconds, key = platform.settings.query_seconds, (caller.tenant, caller.member, body.id)
    probes[key] = outcome = pool.submit(probe)
    try:
        return outcome.result(seconds)
    except TimeoutError:
        message = f"It took longer than {seconds} seconds."
        raise LimitExceededError(message, "See whether the other side answers, or ask for less.") from None
    finally:
        probes.pop(key, None)


@contextmanager
def serve(platform: Platform, *, executes_runs: bool = True) -> Iterator[tuple[str, SparkRuntime]]:
    """Serve in a thread; yield the address and the Spark runtime.

    If Spark is lost, the queries that have failed are still answered before the process exits.
    """
    config = uvicorn.Config(FastAPI(), host=_HOST, port=0, access_log=False, log_config=None, server_header=False)
    socket = config.bind_socket()
    # Else a short answer waits 40 ms for the receiver to confirm its head: asyncio takes this socket for no TCP.
    socket.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)
    # Whoever learns of the address at once waits for the server's thread, and is not refused.
    socket.listen()
    address = f"http://{_HOST}:{socket.getsockname()[1]}"
    spark_runtime = SparkRuntime(platform, address, executes_runs=executes_runs)
    config.app = app = create_app(platform, [iceberg_rest.routes, routes], _find_caller)
    app.state.warm = spark_runtime
    app.state.probe_pool, app.state.probes = DaemonPool("probe"), {}
    app.state.probe_slots = Slots("tests", platform.worker_calls.total, platform.settings.queries_at_once)
    app.state.system = SystemTables(spark_runtime, Runs(workspaces.runnables()))
    server = uvicorn.Server(config)
    thread = Thread(target=server.run, kwargs={"sockets": [socket]}, daemon=True, name="answering")
    thread.start()
    logging.getLogger("lakehold.processes").info("the worker listens on port %s", socket.getsockname()[1])

    def stop(seconds: float) -> None:
        server.should_exit = True
        thread.join(seconds)

    spark_runtime.on_lost = lambda: stop(_ANSWER_SECONDS)
    try:
        yield address, spark_runtime
    finally:
        stop(_STOP_SECONDS)
        socket.close()


def _spark_runtime(request: Request) -> SparkRuntime:
    found: SparkRuntime = request.app.state.warm
    return found


def _caller(request: Request) -> Caller:
    found: Caller = request.state.caller
    return found
