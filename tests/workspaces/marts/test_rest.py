"""A mart from its storage to a report over REST, by people of different roles."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import httpx
import pytest

from lakehold.runs import run_table as states
from tests.cli.command_runner import CommandRunner, serve_platform
from tests.workspaces.marts.project import LAKE, SALES, MartsProject

pytestmark = pytest.mark.slow
As = Callable[[str], httpx.Client]


@pytest.fixture(scope="module")
def by(here: MartsProject) -> Iterator[As]:
    """A client of somebody's."""
    with serve_platform(here.inline_runs.shop.platform) as address, ExitStack() as stack:
        way = CommandRunner(here.inline_runs.shop.platform, address)

        def client(member: str) -> httpx.Client:
            headers = {"authorization": f"Bearer {way.token(member)}"}
            return stack.enter_context(httpx.Client(base_url=address, headers=headers, timeout=120))

        yield client


def made(client: httpx.Client, kind: str, name: str, edges: dict[str, str], settings: dict[str, object]) -> str:
    ends = {edge: [end] for edge, end in edges.items()}
    body = {"kind": kind, "name": name, "edges": ends, "settings": settings}
    answer = client.post("/api/v1/resources", json=body)
    assert answer.status_code == 201, answer.text
    uid: str = answer.json()["id"]
    return uid


def ran(here: MartsProject, client: httpx.Client, uid: str) -> str:
    answer = client.post("/api/v1/runs", json={"resource": uid})
    assert answer.status_code in {200, 201, 202}, answer.text
    return here.inline_runs.execute(answer.json()["id"]).state


def test_from_a_storage_to_a_report(here: MartsProject, by: As) -> None:
    ed, rita = by("ed"), by("rita")
    settings: dict[str, object] = {"by": "sql", "sql": SALES, "checks": [{"check": "unique", "fields": ["id"]}]}
    mart = made(ed, "marts.data_mart", "Orders of all", edges={"project": "sales", "storage": LAKE}, settings=settings)
    assert ed.post(f"/api/v1/marts/{mart}/publish").status_code == 409
    assert ran(here, ed, mart) == states.SUCCEEDED
    # Nobody else knows of it yet.
    assert rita.get(f"/api/v1/marts/{mart}/checks").status_code == 404
    assert rita.post(f"/api/v1/marts/{mart}/publish").status_code == 404
    assert ed.post(f"/api/v1/marts/{mart}/publish").status_code == 204
    shared = ed.patch(
        f"/api/v1/resources/{mart}",
        json={"attributes": {"shared_for_reporting": True}},
        headers={"if-match": ed.get(f"/api/v1/resources/{mart}").headers["etag"]},
    )
    assert shared.status_code == 200, shared.text
    assert [each["state"] for each in rita.get(f"/api/v1/marts/{mart}/checks").json()["items"]] == ["kept"]
    assert len(rita.get(f"/api/v1/tables/{mart}/rows", params={"limit": 10}).json()["rows"]) == 10
    assert rita.post(f"/api/v1/marts/{mart}/unpublish").status_code == 403

    asked: dict[str, object] = {
        "columns": ["customer"],
        "sums": [{"how": "count", "name": "n"}],
        "sort": [{"column": "customer"}],
    }
    rows = rita.post("/api/v1/reports/preview", json={"mart": mart, "settings": asked})
    assert rows.json()["rows"] == [[number, 20] for number in range(5)]
    wrong = rita.post("/api/v1/reports/preview", json={"mart": mart, "settings": {"columns": ["salary"]}})
    assert (wrong.status_code, "salary" in wrong.json()["detail"]) == (422, True)
    text = rita.post("/api/v1/reports/preview", json={"mart": mart, "settings": asked}, headers={"accept": "text/csv"})
    assert text.text.splitlines()[:2] == ["customer,n", "0,20"]

    to = made(rita, "marts.destination", "Files", edges={"project": "sales"}, settings={"to": "files", "kind": "csv"})
    report = made(rita, "marts.report", "By customer", edges={"data_mart": mart, "destination": to}, settings=asked)
    assert ran(here, rita, report) == states.SUCCEEDED
    assert by("sam").get(f"/api/v1/runs?resource={report}").status_code == 404
    assert ed.post(f"/api/v1/marts/{mart}/unpublish").status_code == 204
    refused = rita.post("/api/v1/runs", json={"resource": report})
    assert (refused.status_code, "draft" in refused.json()["detail"]) == (409, True)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ('{"limit": 1e999}', "cannot be written as JSON"),
        (r'{"where": [{"column": "id", "value": "\ud800"}]}', "incomplete character"),
        ('{"where": ' + "[" * 60 + "]" * 60 + "}", "more than 50 levels deep"),
    ],
)
@pytest.mark.parametrize("path", ["/api/v1/reports/preview", "/api/v1/marts/try", "/api/v1/storages/test"])
def test_settings_that_could_not_be_kept_are_not_tried_either(by: As, path: str, settings: str, said: str) -> None:
    where = {"/api/v1/reports/preview": "mart", "/api/v1/marts/try": "storage"}.get(path, "project")
    body = f'{{"{where}": "sales", "settings": {settings}}}'
    answer = by("ed").post(path, content=body, headers={"content-type": "application/json"})
    assert (answer.status_code, said in answer.json()["detail"]) == (422, True), answer.text


def test_only_a_mart_is_reported_on_and_has_checks(by: As) -> None:
    for answer in (
        by("ed").post("/api/v1/reports/preview", json={"mart": LAKE, "settings": {}}),
        by("ed").get(f"/api/v1/marts/{LAKE}/checks"),
    ):
        assert (answer.status_code, answer.json()["detail"]) == (422, f"'{LAKE}' is no data mart.")


def test_who_may_not_use_a_mart_previews_nothing(here: MartsProject, by: As) -> None:
    mart = here.create_refreshed_mart({"by": "sql", "sql": SALES})
    body = {"mart": mart, "settings": {}}
    assert by("sam").post("/api/v1/reports/preview", json=body).status_code == 404
    assert by("sam").post("/api/v1/reports/preview", json={**body, "mart": "nowhere"}).status_code == 404


def test_a_definition_that_cannot_be_read_is_not_saved_and_what_it_reads_is_known_at_once(by: As) -> None:
    ed = by("ed")
    edges = {"project": "sales", "storage": LAKE}
    ends = {edge: [end] for edge, end in edges.items()}
    body = {"kind": "marts.data_mart", "name": "Wrong", "edges": ends, "settings": {"by": "sql", "sql": "SELEC 1"}}
    refused = ed.post("/api/v1/resources", json=body)
    assert (refused.status_code, refused.json()["field"]) == (422, "sql")
    mart = made(ed, "marts.data_mart", "Right", edges=edges, settings={"by": "sql", "sql": SALES})
    assert ed.get(f"/api/v1/resources/{mart}").json()["settings"]["reads"] == ["orders"]
    settings = {"by": "sql", "sql": "SELECT id FROM raw.customers"}
    changed = ed.patch(f"/api/v1/resources/{mart}", json={"settings": settings}, headers={"if-match": "*"})
    assert changed.json()["settings"] == {**settings, "reads": ["customers"]}
    settings = {"by": "sql", "sql": "SELECT * FROM secret.hidden"}
    refused = ed.patch(f"/api/v1/resources/{mart}", json={"settings": settings}, headers={"if-match": "*"})
    assert (refused.status_code, refused.json()["field"]) == (422, "sql")
    assert "customers" in ed.get(f"/api/v1/lineage/{mart}").text
