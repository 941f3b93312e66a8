"""What is wrong with a connection or a schedule, from where it is found to the field of the form: through the worker's
HTTP server, as a problem over REST, and on the page.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx
import pytest

from lakehold.directory import tokens
from lakehold.kit.errors import InvalidInputError, LakeholdError, NotFoundError, UnavailableError
from lakehold.lake.errors import QueryError, SourceError
from lakehold.runs import worker_client
from lakehold.workspaces.lakehouse.pages.sql.query_result import EditorResult
from tests.lake.sources.fake_api import ApiResponse, FakeApi, serve_fake_api
from tests.web.demo import Shop, open_demo
from tests.web.forms import send
from tests.web.lakehouse.probe_worker import NEW, demo_with_probe_worker
from tests.web.lakehouse.recorded_runs import LAKE, as_member

NOWHERE = "there-is-no-such-host.invalid"
HERE = {"lakehouse": LAKE, "layer": "raw"}
NEW_DESTINATION = f"/workspaces/{LAKE}/pipelines/new/destination"
HOOK = {"to": "webhook", "address": f"https://{NOWHERE}/rows", "batch": 10}
MAIL = {"to": "mail", "receivers": ["a@example.org", "nobody"], "subject": "Rows", "name": "rows", "kind": "csv"}


@pytest.fixture(scope="module")
def shop(shop_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    with demo_with_probe_worker(shop_folder, tmp_path_factory.mktemp("fields") / "data") as opened:
        yield opened


@pytest.fixture(scope="module")
def api() -> Iterator[FakeApi]:
    """With a list of events, and a path that needs another token."""
    with serve_fake_api() as there:
        there.routes["/v1/events"] = lambda _: ApiResponse([{"id": 1}])
        there.routes["/v1/secret"] = lambda _: ApiResponse({}, 401)
        yield there


def api_settings(api: FakeApi, *paths: str, **more: object) -> dict[str, object]:
    endpoints = [{"name": f"stream{n}", "path": path} for n, path in enumerate(paths)]
    return {"connector": "api", "address": api.base, "endpoints": endpoints, **more}


def probe_error(shop: Shop, settings: Mapping[str, object], **more: object) -> LakeholdError:
    with pytest.raises(LakeholdError) as caught:
        worker_client.probe(
            shop.platform, as_member("erik"), "lakehouse.source", {**HERE, "settings": settings, **more}
        )
    return caught.value


def test_an_error_keeps_its_class_code_and_field_through_the_worker(shop: Shop, api: FakeApi) -> None:
    bearer = {"auth": {"kind": "bearer"}}
    for found, kind, field in (
        (probe_error(shop, {"connector": "files", "volume": "raw_files", "folder": "gone"}), NotFoundError, "folder"),
        (probe_error(shop, {"connector": "files", "volume": "nosuch", "folder": ""}), NotFoundError, "volume"),
        (probe_error(shop, api_settings(api, "events", "gone")), NotFoundError, "endpoints.1.path"),
        (probe_error(shop, api_settings(api, "events"), stream="none"), NotFoundError, "stream"),
        (probe_error(shop, api_settings(api, "secret", **bearer), secrets={"token": "x"}), SourceError, "token"),
        (probe_error(shop, api_settings(api, "secret")), SourceError, "auth"),
        (
            probe_error(shop, {**api_settings(api, "events"), "address": f"http://{NOWHERE}"}),
            UnavailableError,
            "address",
        ),
    ):
        assert (type(found), found.code, found.field) == (kind, kind.code, field)


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({**HOOK, "headers": {"Host": "here"}}, "headers"),
        ({**HOOK, "address": "ftp://there"}, "address"),
        (MAIL, "receivers.1"),
        ({"to": "files", "name": ".hidden", "kind": "csv"}, "name"),
    ],
)
def test_so_does_that_of_a_destination(shop: Shop, settings: dict[str, object], field: str) -> None:
    asked = {"lakehouse": LAKE, "settings": settings, "reads": ["orders"], "volume": "raw_files"}
    with pytest.raises(InvalidInputError) as caught:
        worker_client.check_connection(shop.platform, as_member("erik"), "lakehouse.destination", asked)
    assert caught.value.field == field


def test_without_a_worker_the_code_says_so(shop_folder: Path, tmp_path: Path) -> None:
    with open_demo(shop_folder, tmp_path / "data") as idle:
        found = probe_error(idle, {"connector": "files", "volume": "raw_files"})
    assert (type(found), found.code, found.field) == (worker_client.NoWorkerError, "no_worker", "")


def rest(shop: Shop, path: str, body: Mapping[str, object]) -> dict[str, Any]:
    with shop.platform.write(as_member("erik")) as ctx:
        secret = tokens.create(ctx, "test").secret
    answer = httpx.post(f"{shop.address}{path}", json=body, headers={"Authorization": f"Bearer {secret}"}, timeout=30)
    assert answer.is_error
    problem: dict[str, Any] = answer.json()
    return problem


def test_over_rest_a_problem_names_the_field(shop: Shop, api: FakeApi) -> None:
    looked = rest(shop, "/api/v1/sources/look", {**HERE, "settings": api_settings(api, "events", "gone")})
    assert (looked["status"], looked["code"], looked["field"]) == (404, "not_found", "endpoints.1.path")
    for wrong in ({"cron": "often"}, {"zone": "Mars/Base"}):
        problem = rest(shop, "/api/v1/triggers", {"resource": "make_orders", "cron": "0 6 * * *", **wrong})
        assert (problem["code"], problem["field"]) == ("invalid_input", *wrong)
    assert "field" not in rest(shop, "/api/v1/triggers/activate", {"resource": "nosuch"})


def test_an_error_in_a_query_has_its_place() -> None:
    assert EditorResult("SELEC 1", error=QueryError("It is none.", field="sql.3.14")).line == (3, 14)
    assert EditorResult("SELECT 1", error=QueryError("It is in line 3, at character 14.")).line is None
    assert EditorResult("SELECT 1").line is None


def message_at(page: str, field: str) -> str:
    (found,) = re.findall(rf'id="field-{field}-(?:about|error)">(.*?)</p>', page, re.DOTALL)
    return str(found)


def test_on_the_page_it_stands_at_its_field(shop: Shop, api: FakeApi) -> None:
    client = shop.client("erik")
    form: dict[str, str | list[str]] = {"connector": "api", "name": "Events", "layer": "raw", "address": api.base}
    form |= {"auth": "none", "endpoint_name": ["events", "others"], "endpoint_path": ["events", "gone"]}
    said = send(client, NEW, NEW, **form, do="next")
    assert said.status_code == 422
    assert "/gone" in message_at(said.text, "endpoint_path-1")
    denied = send(client, NEW, NEW, **{**form, "endpoint_path": ["events", "secret"]}, do="next")
    assert "401" in message_at(denied.text, "auth")
    mail = {"to": "mail", "name": "Mail", "reads": "orders", "receivers": "nobody", "subject": "Rows"}
    assert "nobody" in message_at(send(client, NEW_DESTINATION, NEW_DESTINATION, **mail, do="test").text, "receivers")
    hook = {"to": "webhook", "name": "Hook", "reads": "orders", "address": f"https://{NOWHERE}/", "headers": "Host: x"}
    assert "Host" in message_at(send(client, NEW_DESTINATION, NEW_DESTINATION, **hook, do="test").text, "headers")
