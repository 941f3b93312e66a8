"""A live destination: BI tools pull what its reports have now, as whoever last saved them."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator

import httpx
import pyarrow as pa
import pytest

from lakehold.access import Attribute, Grant, Remove
from lakehold.catalog import resource_edit, resources
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.directory import member_removal
from lakehold.directory.caller import Caller
from lakehold.kit.errors import ConflictError
from lakehold.ledger.audit import AuditFilter
from lakehold.runs import stored_results
from lakehold.workspaces.marts import insights
from lakehold.workspaces.marts import live as live_destinations
from tests.api.client import Api, json_body, problem, serve_api
from tests.lake.shop import ADA, ED, RITA, TENANT
from tests.workspaces.marts.project import ALIASED, SALES, MartsProject

pytestmark = pytest.mark.slow
FIRST = {"columns": ["id", "amount"], "sort": [{"column": "id"}], "limit": 2}


@pytest.fixture(scope="module")
def api(here: MartsProject) -> Iterator[Api]:
    with serve_api(here.inline_runs.shop.platform, TENANT) as found:
        yield found


@pytest.fixture(scope="module")
def mart(here: MartsProject) -> str:
    return here.create_refreshed_mart({"by": "sql", "sql": SALES})


@pytest.fixture
def live(here: MartsProject) -> tuple[str, str]:
    """A destination of Rita's, and its secret."""
    uid = here.destination({"to": "live"})
    with here.inline_runs.shop.platform.write(RITA) as ctx:
        return uid, live_destinations.create_secret(ctx, uid).text


def pull(api: Api, live: tuple[str, str], report: str, **params: str) -> httpx.Response:
    return api.get(f"/api/v1/live/{live[0]}/{report}", token=live[1], params=params)


def test_a_report_is_pulled_as_the_tool_wants_it(
    here: MartsProject, api: Api, mart: str, live: tuple[str, str]
) -> None:
    report = here.report(mart, live[0], FIRST)
    listed = json_body(api.get(f"/api/v1/live/{live[0]}", token=live[1]))["items"]
    assert listed == [{"id": report, "name": report, "refused": ""}]
    found = pull(api, live, report)
    assert json_body(found)["rows"] == [[0, "0.00"], [1, "1.50"]]
    assert found.headers["x-lakehold-complete"] == "true"
    assert pull(api, live, report, format="csv").text == "id,amount\n0,0.00\n1,1.50\n"
    arrow = pull(api, live, report, format="arrow").content
    assert pa.ipc.open_stream(io.BytesIO(arrow)).read_all().num_rows == 2
    by_accept = api.get(f"/api/v1/live/{live[0]}/{report}", token=live[1], headers={"accept": "text/csv"})
    assert by_accept.headers["content-type"].startswith("text/csv")
    problem(pull(api, live, report, format="xls"), 422, "invalid_input")
    with here.inline_runs.shop.platform.read(RITA) as ctx:
        found_out = insights.report_insight(ctx, report)
        kept = live_destinations.get_secret(ctx, live[0])
    assert (found_out.pulled.times, found_out.pulled.rows) == (4, 8)
    assert found_out.last_at is not None
    assert kept is not None
    assert kept.used_at > 0


def test_a_pull_has_the_aliases_of_columns(here: MartsProject, api: Api, live: tuple[str, str]) -> None:
    report = here.report(here.create_refreshed_mart(ALIASED), live[0], FIRST)
    found = json_body(pull(api, live, report))
    assert ([field["name"] for field in found["fields"]], found["rows"][1]) == (["Order", "Amount, €"], [1, "1.50"])
    assert pull(api, live, report, format="csv").text == 'Order,"Amount, €"\n0,0.00\n1,1.50\n'
    arrow = pull(api, live, report, format="arrow").content
    assert pa.ipc.open_stream(io.BytesIO(arrow)).read_all().schema.names == ["Order", "Amount, €"]


def test_a_pull_and_a_preview_are_in_the_audit_log_of_reads(
    here: MartsProject, api: Api, mart: str, live: tuple[str, str]
) -> None:
    report, platform = here.report(mart, live[0], FIRST), here.inline_runs.shop.platform
    assert pull(api, live, report).status_code == 200
    assert api.post("/api/v1/reports/preview", "rita", {"mart": mart, "settings": FIRST}).status_code == 200
    platform.reads.flush()
    with platform.read(ADA) as ctx:
        preview, pulled = (line.entry for line in ctx.reads.page(AuditFilter(resource=mart), limit=2))
        assert not ctx.reads.verify().fault
    assert (pulled.member, pulled.action, pulled.resource) == ("rita", "pull", report)
    secret = pulled.after["secret"]
    assert pulled.after == {"destination": live[0], "secret": secret, "tables": [mart], "rows": 2}
    assert pulled.token == secret
    assert (preview.member, preview.action, preview.resource) == ("rita", "preview", mart)
    assert preview.after == {"tables": [mart], "rows": 2}


def test_the_secret_opens_nothing_else_and_nothing_else_opens_it(
    here: MartsProject, api: Api, mart: str, live: tuple[str, str]
) -> None:
    report = here.report(mart, live[0], FIRST)
    other = here.destination({"to": "live"})
    with here.inline_runs.shop.platform.write(RITA) as ctx:
        others = live_destinations.create_secret(ctx, other).text
    at = f"/api/v1/live/{live[0]}/{report}"
    for wrong in ({"token": others}, {"by": "rita"}, {"by": "ada"}, {}, {"headers": {"cookie": "lakehold_session=x"}}):
        problem(api.get(at, **wrong), 401, "unauthorized")
    problem(api.get("/api/v1/members", token=live[1]), 401, "unauthorized")
    problem(api.get(f"/api/v1/live/{other}/{report}", token=others), 404, "not_found")
    problem(pull(api, live, "nowhere"), 404, "not_found")
    assert json_body(pull(api, live, report))["rows"]


def test_a_secret_is_made_anew_and_revoked_at_once(
    here: MartsProject, api: Api, mart: str, live: tuple[str, str]
) -> None:
    uid, first = live
    report = here.report(mart, uid, FIRST)
    at = f"/api/v1/destinations/{uid}/secret"
    assert api.post(at, "ed").status_code == 404
    made = json_body(api.post(at, "rita"), 201)
    assert made["secret"].startswith(made["made"]["prefix"])
    problem(pull(api, live, report), 401, "unauthorized")
    assert pull(api, (uid, made["secret"]), report).status_code == 200
    assert made["secret"] not in api.get(at, "rita").text
    assert api.call("DELETE", at, "rita").status_code == 204
    problem(pull(api, (uid, made["secret"]), report), 401, "unauthorized")
    problem(api.get(at, "rita"), 404, "not_found")
    problem(api.call("DELETE", at, "rita"), 409, "conflict")
    again = json_body(api.post(at, "rita"), 201)["secret"]
    problem(pull(api, (uid, first), report), 401, "unauthorized")
    assert pull(api, (uid, again), report).status_code == 200
    with here.inline_runs.shop.platform.read(ADA) as ctx:
        done = [
            (entry.action, entry.outcome)
            for entry in (each.entry for each in ctx.audit.page(AuditFilter(resource=uid)))
        ]
    assert {"make secret", "rotate secret", "revoke secret"} <= {action for action, _ in done}
    # A secret that is not valid any more is not only refused: somebody may want to know who still uses it.
    assert ("pull", "denied") in done


def test_only_what_is_live_has_a_secret(here: MartsProject, api: Api) -> None:
    sent = here.destination({"to": "files", "kind": "csv"})
    problem(api.post(f"/api/v1/destinations/{sent}/secret", "rita"), 409, "conflict")
    mart = here.mart({"by": "sql", "sql": SALES})
    problem(api.post(f"/api/v1/destinations/{mart}/secret", "ed"), 422, "invalid_input")


def test_whoever_guesses_has_to_wait(here: MartsProject, api: Api, mart: str, live: tuple[str, str]) -> None:
    report = here.report(mart, live[0], FIRST)
    wrong = [pull(api, (live[0], f"lhp_{'x' * 10}_{number:038}"), report).status_code for number in range(8)]
    assert (wrong[0], wrong[-1]) == (401, 429)
    # Whoever has the right one is not kept out by those who have not.
    assert pull(api, live, report).status_code == 200


def rotated(api: Api, live: tuple[str, str]) -> tuple[str, str]:
    """The destination with a new secret of Ada's."""
    return live[0], json_body(api.post(f"/api/v1/destinations/{live[0]}/secret", "ada"), 201)["secret"]


def test_it_is_pulled_as_its_author_with_the_rights_of_who_created_the_secret(
    here: MartsProject, api: Api, live: tuple[str, str]
) -> None:
    mart = here.create_refreshed_mart({"by": "sql", "sql": SALES})
    platform = here.inline_runs.shop.platform
    report = here.report(mart, live[0], FIRST)
    with platform.write(ED) as ctx:
        ctx.make(Remove(Attribute(mart, "shared_for_reporting", "true")))
    refused = problem(pull(api, live, report), 403, "forbidden")
    assert "Rita" in refused["detail"]
    assert "may not run" in refused["detail"]
    assert "rows" not in refused
    listed = json_body(api.get(f"/api/v1/live/{live[0]}", token=live[1]))["items"]
    assert ("Rita" in listed[0]["refused"], listed[0]["id"]) == (True, report)
    with platform.write(ADA) as ctx:
        resource_edit.apply_edit(ctx, report, ResourceEdit(description="corrected"))
    assert "pulled as Rita" in problem(pull(api, live, report), 403, "forbidden")["detail"]
    with platform.write(ADA) as ctx:
        resource_edit.apply_edit(ctx, report, ResourceEdit(settings={**FIRST, "limit": 1}))
    # Rita knows the secret: it opens nothing that she may not read.
    assert "Rita, who created the secret" in problem(pull(api, live, report), 403, "forbidden")["detail"]
    assert json_body(pull(api, rotated(api, live), report))["rows"] == [[0, "0.00"]]


def test_somebody_else_takes_a_report_over(here: MartsProject, api: Api, live: tuple[str, str]) -> None:
    mart = here.create_refreshed_mart({"by": "sql", "sql": SALES})
    report = here.report(mart, live[0], FIRST)
    with here.inline_runs.shop.platform.write(ED) as ctx:
        ctx.make(Remove(Attribute(mart, "shared_for_reporting", "true")))
    at = f"/api/v1/reports/{report}/take-over"
    problem(pull(api, live, report), 403, "forbidden")
    problem(api.post(at, "rita"), 403, "forbidden")
    problem(api.post(f"/api/v1/reports/{mart}/take-over", "ada"), 422, "invalid_input")
    assert api.post(at, "ada").status_code == 204
    problem(pull(api, live, report), 403, "forbidden")
    assert len(json_body(pull(api, rotated(api, live), report))["rows"]) == 2


def test_a_narrow_token_does_not_save_what_it_could_not_read(
    here: MartsProject, api: Api, live: tuple[str, str]
) -> None:
    mart = here.create_refreshed_mart({"by": "sql", "sql": SALES})
    report = here.report(mart, live[0], FIRST)
    token = api.token("rita", actions=frozenset({"see", "edit"}))
    tag = api.get(f"/api/v1/resources/{report}", token=token).headers["etag"]
    changed = {"settings": {**FIRST, "limit": 1}}
    done = api.call("PATCH", f"/api/v1/resources/{report}", token=token, json=changed, headers={"if-match": tag})
    assert done.status_code == 200, done.text
    assert "may not run" in problem(pull(api, live, report), 403, "forbidden")["detail"]


def test_whoever_has_left_pulls_nothing(here: MartsProject, api: Api, live: tuple[str, str], mart: str) -> None:
    platform = here.inline_runs.shop.platform
    with platform.access.write(TENANT) as session:
        session.store.create("tenant.member", "Gus", uid="gus", edges={"tenant": TENANT})
        session.store.add(Grant("gus", "business_user", "sales"))
        session.store.add(Attribute(live[0], "shared_for_use", "true"))
    report = here.report(mart, live[0], FIRST, by=Caller(TENANT, "gus"))
    assert pull(api, live, report).status_code == 200
    with platform.write(ADA) as ctx:
        ctx.make_unchecked(Remove(Grant("gus", "business_user", "sales")))
    assert "Gus" in problem(pull(api, live, report), 403, "forbidden")["detail"]
    with platform.write(ADA) as ctx:
        member_removal.remove(ctx, "gus")
    assert "was removed" in problem(pull(api, live, report), 403, "forbidden")["detail"]


def test_a_deleted_destination_gives_nothing_until_it_is_back(
    here: MartsProject, api: Api, mart: str, live: tuple[str, str]
) -> None:
    report = here.report(mart, live[0], FIRST)
    platform = here.inline_runs.shop.platform
    with platform.write(RITA) as ctx:
        assert resources.delete(ctx, live[0]) is False
    problem(pull(api, live, report), 409, "conflict")
    problem(api.get(f"/api/v1/live/{live[0]}", token=live[1]), 409, "conflict")
    problem(api.post(f"/api/v1/destinations/{live[0]}/secret", "rita"), 403, "forbidden")
    with platform.write(RITA) as ctx:
        resources.restore(ctx, live[0])
    assert pull(api, live, report).status_code == 200


def test_a_draft_is_not_pulled_and_a_live_report_is_not_sent(
    here: MartsProject, api: Api, live: tuple[str, str]
) -> None:
    draft = here.mart({"by": "sql", "sql": SALES}, published=False)
    report = here.report(draft, live[0], FIRST)
    assert "draft" in problem(pull(api, live, report), 409, "conflict")["detail"]
    with pytest.raises(ConflictError, match="pulled, and not sent"):
        here.run(report, by=RITA)


def test_what_was_pulled_long_ago_is_forgotten(here: MartsProject, api: Api, mart: str, live: tuple[str, str]) -> None:
    report = here.report(mart, live[0], FIRST)
    pull(api, live, report)
    platform = here.inline_runs.shop.platform
    assert live_destinations.delete_old_pulls(platform) == 0
    with platform.database.write("live") as transaction:
        transaction.connection.execute(live_destinations.live_pull_table.update().values(at=0))
    assert live_destinations.delete_old_pulls(platform) > 0


@pytest.fixture
def small_pages(here: MartsProject) -> Iterator[None]:
    """Pages of forty rows at most, as an installation may set it."""
    platform = here.inline_runs.shop.platform
    before = platform.settings
    platform.settings = before.model_copy(update={"query_rows": 40})
    yield
    platform.settings = before


def follow(api: Api, live: tuple[str, str], found: httpx.Response) -> httpx.Response:
    """The page that the header Link of another one leads to."""
    return api.get(found.links["next"]["url"], token=live[1])


@pytest.mark.usefixtures("small_pages")
def test_many_rows_come_in_pages_of_one_moment(here: MartsProject, api: Api, live: tuple[str, str]) -> None:
    mart = here.create_refreshed_mart({"by": "sql", "sql": SALES})
    report = here.report(mart, live[0], {"columns": ["id"], "sort": [{"column": "id"}]})
    pages = [json_body(pull(api, live, report))]
    assert here.run(mart, by=ED).state == "succeeded"
    while pages[-1].get("next"):
        pages.append(json_body(api.get(pages[-1]["next"], token=live[1])))
    assert [len(page["rows"]) for page in pages] == [40, 40, 20]
    assert [page["complete"] for page in pages] == [False, False, True]
    assert [row[0] for page in pages for row in page["rows"]] == list(range(100))
    again = json_body(pull(api, live, report, limit="60"))
    assert len(again["rows"]) == 40, "the installation's limit holds"


@pytest.mark.usefixtures("small_pages")
def test_each_format_says_in_its_body_that_there_are_more_rows(
    here: MartsProject, api: Api, mart: str, live: tuple[str, str]
) -> None:
    report = here.report(mart, live[0], {"columns": ["id"], "sort": [{"column": "id"}], "limit": 50})
    csv = pull(api, live, report, format="csv")
    *lines, last = csv.text.splitlines()
    assert (lines[:2], len(lines)) == (["id", "0"], 41)
    assert last == f"# There are more rows: {csv.links['next']['url']}"
    assert follow(api, live, csv).text.splitlines() == ["id", *map(str, range(40, 50))]
    arrow = pull(api, live, report, format="arrow")
    told = pa.ipc.open_stream(io.BytesIO(arrow.content)).schema.metadata
    assert told == {b"lakehold.next": arrow.links["next"]["url"].encode()}
    rest = follow(api, live, arrow)
    assert rest.headers["x-lakehold-complete"] == "true"
    assert pa.ipc.open_stream(io.BytesIO(rest.content)).read_all().column("id").to_pylist() == list(range(40, 50))


@pytest.mark.usefixtures("small_pages")
def test_a_page_needs_what_the_first_one_needed(here: MartsProject, api: Api, live: tuple[str, str]) -> None:
    mart = here.create_refreshed_mart({"by": "sql", "sql": SALES})
    report = here.report(mart, live[0], {"sort": [{"column": "id"}]})
    other = here.report(mart, live[0], {"sort": [{"column": "id"}]})
    first = json_body(pull(api, live, report))["next"]
    assert api.get(first, token=live[1]).status_code == 200
    problem(api.get(first.replace(report, other), token=live[1]), 409, "conflict")
    problem(api.get(first.replace("cursor=", "cursor=x"), token=live[1]), 422, "invalid_input")
    problem(api.get(first.replace("cursor=", "cursor=" + "0" * 32 + "-40&x="), token=live[1]), 409, "conflict")
    problem(api.get(first, "rita"), 401, "unauthorized")
    platform = here.inline_runs.shop.platform
    # A column that is hidden now was in the rows that were stored.
    with platform.write(ED) as ctx:
        columns = [{"name": "amount", "hidden": True}]
        resource_edit.apply_edit(ctx, mart, ResourceEdit(settings={"by": "sql", "sql": SALES, "columns": columns}))
    assert "was changed" in problem(api.get(first, token=live[1]), 409, "conflict")["detail"]
    again = json_body(pull(api, live, report))["next"]
    with platform.write(ED) as ctx:
        ctx.make(Remove(Attribute(mart, "shared_for_reporting", "true")))
    problem(api.get(again, token=live[1]), 403, "forbidden")


@pytest.mark.usefixtures("small_pages")
def test_stored_pulls_are_few_and_forgotten(here: MartsProject, api: Api, mart: str, live: tuple[str, str]) -> None:
    platform = here.inline_runs.shop.platform
    folder = platform.settings.data / "pulls"
    report = here.report(mart, live[0], {})
    small = here.report(mart, live[0], FIRST)
    first = json_body(pull(api, live, report))["next"]
    before = set(folder.iterdir())
    assert folder.stat().st_mode & 0o077 == 0
    assert json_body(pull(api, live, small))["complete"] is True
    assert set(folder.iterdir()) == before, "what fits one page is not kept"
    os.utime(next(file for file in before if file.stem in first and file.suffix == ".arrow"), (0, 0))
    for _ in range(5):
        pull(api, live, report)
    problem(api.get(first, token=live[1]), 409, "conflict")
    for file in folder.iterdir():
        os.utime(file, (0, 0))
    assert stored_results.delete_unused(platform) >= 5
    assert list(folder.iterdir()) == []
