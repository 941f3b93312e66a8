"""Whether the server lives, whether it is ready, and its figures."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest
import sqlalchemy as sa
from pydantic import SecretStr

from lakehold.api.routers import ROUTERS
from lakehold.directory.platform import Platform
from tests.access.company import TENANT
from tests.api.client import Api, json_body, problem, serve_api


@pytest.fixture
def api(platform: Platform) -> Iterator[Api]:
    """An application that nobody has used before: its metrics begin with the test."""
    with serve_api(platform, TENANT, ROUTERS) as found:
        yield found


def test_it_lives_and_is_ready(api: Api) -> None:
    assert json_body(api.get("/healthz")) == {"status": "ok"}
    assert json_body(api.get("/readyz")) == {"status": "ok"}


def test_it_is_not_ready_while_the_tables_are_of_another_version(api: Api) -> None:
    with api.platform.database.write() as transaction:
        transaction.connection.execute(sa.text("UPDATE alembic_version SET version_num = '0001'"))
    found = problem(api.get("/readyz"), 503, "not_ready")
    assert "0001" in found["detail"]
    assert json_body(api.get("/healthz")) == {"status": "ok"}


def test_it_is_not_ready_without_tables(api: Api) -> None:
    with api.platform.database.write() as transaction:
        transaction.connection.execute(sa.text("DROP TABLE alembic_version"))
    problem(api.get("/readyz"), 503, "not_ready")


def test_requests_are_counted_by_route_and_status(api: Api) -> None:
    for _ in range(3):
        api.post("/api/v1/access/check", "ada", {"action": "see", "resource": "orders"})
    api.post("/api/v1/access/check", "bob", {"action": "see", "resource": "orders"})
    api.get("/nothing/like-this")
    text = api.get("/metrics", "ada").text
    route = 'method="POST",route="/api/v1/access/check"'
    assert f'lakehold_requests_total{{{route},status="200"}} 3.0' in text
    assert f'lakehold_requests_total{{{route},status="404"}} 1.0' in text
    assert f"lakehold_request_seconds_count{{{route}}} 4.0" in text
    assert 'route="unknown",status="404"' in text
    assert "like-this" not in text


def test_metrics_ask_for_a_token(api: Api) -> None:
    problem(api.get("/metrics"), 401, "unauthorized")
    problem(api.get("/metrics", "bob"), 403, "forbidden")
    api.platform.settings = api.platform.settings.model_copy(update={"metrics_token": SecretStr("scrape me")})
    for wrong in ("", "scrape", "scrape me too"):
        answer = api.call("GET", "/metrics", headers={"Authorization": f"Bearer {wrong}"})
        problem(answer, 401, "unauthorized")
    assert api.call("GET", "/metrics", headers={"Authorization": "Bearer scrape me"}).status_code == 200


def test_the_application_never_imports_spark() -> None:
    code = "import sys, lakehold.api.routers, lakehold.api.http.app as a; sys.exit('pyspark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0  # noqa: S603 - our own code
