"""Health and readiness checks, and Prometheus metrics of requests and runs."""

from collections.abc import Iterable
from functools import cache
from hmac import compare_digest
from importlib.resources import as_file, files
from typing import Literal

import sqlalchemy as sa
from alembic.config import Config
from alembic.script import ScriptDirectory
from fastapi import APIRouter, Request, Response
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from pydantic import Field

from lakehold.api.http.dependencies import get_platform, read_transaction
from lakehold.api.http.models import ResponseModel
from lakehold.api.http.problems import Problem, get_request_id, make_problem, problem_response
from lakehold.directory.platform import Platform
from lakehold.runs.run_table import RunMetrics, run_metrics

_BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_RUN_GAUGES = {
    "runs": "Runs, by kind and state.",
    "run_seconds": "Their total duration.",
    "run_rows": "Rows that they moved.",
    "run_bad_rows": "Rows that were rejected.",
}
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """The Prometheus metrics of one application."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self._requests = Counter(
            "lakehold_requests", "Requests answered.", ("method", "route", "status"), registry=self.registry
        )
        self._seconds = Histogram(
            "lakehold_request_seconds",
            "How long requests took.",
            ("method", "route"),
            buckets=_BUCKETS,
            registry=self.registry,
        )
        self._runs = {
            name: Gauge(f"lakehold_{name}", words, ("kind", "state"), registry=self.registry)
            for name, words in _RUN_GAUGES.items()
        }

    def set_runs(self, found: Iterable[RunMetrics]) -> None:
        """Set the gauges of runs to the current figures."""
        for gauge in self._runs.values():
            gauge.clear()
        for each in found:
            for gauge, value in zip(self._runs.values(), (each.count, each.seconds, each.rows, each.bad), strict=True):
                gauge.labels(each.kind, each.state).set(value)

    def record_request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Record a request that was answered."""
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(method, route).observe(seconds)

    def render(self) -> bytes:
        """Return all metrics in the text format of Prometheus."""
        return generate_latest(self.registry)


router = APIRouter(tags=["Health"])


class HealthStatus(ResponseModel):
    """The status of a healthy server."""

    status: Literal["ok"] = Field(default="ok", examples=["ok"])


@router.get("/healthz", summary="Is the process alive?", operation_id="healthz")
async def healthz() -> HealthStatus:
    """Answers as soon as the process does; the database is not used."""
    return HealthStatus()


@router.get(
    "/readyz",
    summary="Is the server ready?",
    operation_id="readyz",
    response_model=HealthStatus,
    responses={503: {"description": "Not ready", "model": Problem}},
)
def readyz(request: Request) -> Response:
    """Ready when the database answers and is at exactly the migration that this version needs."""
    missing = readiness_problem(get_platform(request))
    if missing:
        details = make_problem("not_ready", 503, missing, "Run the migration, or wait.", retryable=True)
        return problem_response(details, get_request_id(request))
    return Response(HealthStatus().model_dump_json(), media_type="application/json")


def readiness_problem(platform: Platform) -> str:
    """Return why requests cannot be answered yet; empty if they can."""
    try:
        with platform.database.read() as transaction:
            found = transaction.connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()
    except sa.exc.SQLAlchemyError:
        return "The database does not answer, or has no tables yet."
    head = _head_revision()
    return "" if found == head else f"The tables are at revision {found}; this version works with {head}."


@cache
def _head_revision() -> str:
    """Return the newest migration that this version has."""
    with as_file(files("lakehold") / "migrations") as folder:
        config = Config()
        config.set_main_option("script_location", str(folder).replace("%", "%%"))
        return ScriptDirectory.from_config(config).get_current_head() or ""


@router.get(
    "/metrics",
    summary="Prometheus metrics",
    operation_id="metrics",
    response_class=Response,
    responses={200: {"description": "The figures", "content": {"text/plain": {"schema": {"type": "string"}}}}},
)
def metrics(request: Request) -> Response:
    """Requests by route and status, and how long they took; runs by kind and state. No ids, no names.

    Needs the token of the setting `metrics_token`, or the right `see_settings` of the tenant.
    """
    expected = get_platform(request).settings.metrics_token.get_secret_value()
    given = request.headers.get("authorization", "").removeprefix("Bearer ")
    if not expected or not compare_digest(given.encode(), expected.encode()):
        read_transaction(request).run(lambda ctx: ctx.need("see_settings", ctx.caller.tenant))
    registry: Metrics = request.app.state.metrics
    try:
        with get_platform(request).database.read() as transaction:
            registry.set_runs(run_metrics(transaction))
    except sa.exc.SQLAlchemyError:
        # The metrics of requests are rendered all the same.
        registry.set_runs([])
    return Response(registry.render(), headers={"content-type": CONTENT_TYPE})
