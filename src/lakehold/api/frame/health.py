"""Whether the server lives, whether it is ready, and its figures."""

from __future__ import annotations

from functools import cache
from importlib.resources import as_file, files
from typing import Literal

import sqlalchemy as sa
from alembic.config import Config
from alembic.script import ScriptDirectory
from fastapi import APIRouter, Request, Response
from pydantic import Field

from lakehold.api.frame.metrics import CONTENT_TYPE, Metrics
from lakehold.api.frame.models import Answer
from lakehold.api.frame.problems import Problem, answer, problem, request_id_of
from lakehold.api.frame.works import house_of
from lakehold.directory.platform import Platform
from lakehold.runs.run_table import run_metrics

router = APIRouter(tags=["Health"])


class Healthy(Answer):
    """Alive."""

    status: Literal["ok"] = Field(default="ok", examples=["ok"])


@router.get("/healthz", summary="Is the process alive?", operation_id="healthz")
async def healthz() -> Healthy:
    """Answers as soon as the process does. It asks nothing of the database."""
    return Healthy()


@router.get(
    "/readyz",
    summary="Is the server ready?",
    operation_id="readyz",
    response_model=Healthy,
    responses={503: {"description": "Not ready", "model": Problem}},
)
def readyz(request: Request) -> Response:
    """Ready when the database answers, and has exactly the tables that this version works with."""
    missing = unready(house_of(request))
    if missing:
        told = problem("not_ready", 503, missing, "Run the migration, or wait.", retryable=True)
        return answer(told, request_id_of(request))
    return Response(Healthy().model_dump_json(), media_type="application/json")


def unready(platform: Platform) -> str:
    """What is missing before requests can be answered; empty if nothing is."""
    try:
        with platform.database.read() as transaction:
            found = transaction.connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()
    except sa.exc.SQLAlchemyError:
        return "The database does not answer, or has no tables yet."
    return "" if found == _head() else f"The tables are at revision {found}; this version works with {_head()}."


@cache
def _head() -> str:
    """The newest revision that this version knows."""
    with as_file(files("lakehold") / "migrations") as folder:
        config = Config()
        config.set_main_option("script_location", str(folder).replace("%", "%%"))
        return ScriptDirectory.from_config(config).get_current_head() or ""


@router.get(
    "/metrics",
    summary="Figures for Prometheus",
    operation_id="metrics",
    response_class=Response,
    responses={200: {"description": "The figures", "content": {"text/plain": {"schema": {"type": "string"}}}}},
)
def metrics(request: Request) -> Response:
    """Requests by route and status, and how long they took; runs by kind and state. No ids, no names."""
    known: Metrics = request.app.state.metrics
    try:
        with house_of(request).database.read() as transaction:
            known.runs(run_metrics(transaction))
    except sa.exc.SQLAlchemyError:
        # The requests are told all the same.
        known.runs([])
    return Response(known.text(), headers={"content-type": CONTENT_TYPE})
