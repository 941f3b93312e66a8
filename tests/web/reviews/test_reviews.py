"""Access reviews: begin one, decide row by row, close it, take the result."""

from __future__ import annotations

import csv
import io
import json
import re

import httpx
import pytest
from playwright.sync_api import Page, expect

from lakehold.access import Grant
from lakehold.catalog import campaign_decisions, campaigns, grants
from lakehold.catalog.campaign_table import CampaignRow
from lakehold.demo import company
from lakehold.directory.caller import Caller
from lakehold.kit.clock import DAY
from lakehold.ledger.audit import AuditFilter
from lakehold.runs.jobs import service
from lakehold.runs.jobs import table as job_table
from tests.web.conftest import Open, Violations
from tests.web.demo import Shop
from tests.web.forms import token

browser = pytest.mark.browser

ANA = Grant("ana", "viewer", "clean")
ANA_SAID = "Viewer on Clean for Ana, Analyst"


def by(member: str) -> Caller:
    return Caller(company.TENANT, member)


def begun(shop: Shop, who: str = "adam", workspace: str = "lake_house", name: str = "Spring") -> str:
    with shop.platform.write(by(who)) as ctx:
        return campaigns.start(ctx, workspace, name).campaign.uid


def rows(shop: Shop, uid: str, who: str = "adam") -> list[CampaignRow]:
    with shop.platform.read(by(who)) as ctx:
        return campaign_decisions.list_rows(ctx, uid)


def holds(shop: Shop, grant: Grant) -> bool:
    with shop.platform.read(by("olga")) as ctx:
        return grant in ctx.grants(grant.resource)


def sent(client: httpx.Client, path: str, page: str, **fields: str) -> httpx.Response:
    return client.post(path, data={**fields, "csrf_token": token(client, page)})


@browser
@pytest.mark.parametrize("scripts", [True, False])
def test_an_admin_begins_a_review_keeps_one_removes_one_and_gives_it_back(
    shop: Shop, open_as: Open, scripts: bool
) -> None:
    page = open_as("adam", "/reviews", scripts=scripts)
    page.get_by_role("link", name="New review").first.click()
    page.get_by_label("Workspace", exact=True).select_option(label="Store lake · Lakehouse")
    page.get_by_label("Name", exact=True).fill("Spring review")
    page.get_by_role("textbox", name="Due").fill("2199-05-04")
    page.get_by_role("button", name="Start review").click()
    expect(page.get_by_role("heading", name="Spring review", level=1)).to_be_visible()
    page.get_by_role("button", name=f"Remove {ANA_SAID}").click()
    expect(page.get_by_role("status").get_by_text("1 role removed.")).to_be_visible()
    assert not holds(shop, ANA)
    page.get_by_role("button", name="Undo").click()
    expect(page.get_by_role("status").get_by_text("1 role undecided again.")).to_be_visible()
    assert holds(shop, ANA)
    page.get_by_role("button", name=f"Keep {ANA_SAID}").click()
    expect(page.get_by_role("row", name="Ana, Analyst Viewer").get_by_text("Kept")).to_be_visible()
    page.goto("/reviews")
    expect(page.get_by_role("row", name="Spring review").get_by_text("1 of")).to_be_visible()


@browser
@pytest.mark.parametrize("scripts", [True, False])
def test_an_admin_filters_decides_about_many_and_closes(shop: Shop, open_as: Open, scripts: bool) -> None:
    uid = begun(shop)
    page = open_as("adam", f"/reviews/{uid}", scripts=scripts)
    page.get_by_label("Kind", exact=True).select_option("Lakehouse")
    apply(page, scripts)
    expect(page.get_by_role("row", name="Data stewards")).to_be_visible()
    expect(page.get_by_role("row", name="Ana, Analyst Viewer")).to_have_count(0)
    page.get_by_role("checkbox", name="Select Member on Store lake for Tim").check()
    page.get_by_role("checkbox", name="Select Member on Store lake for Data stewards").check()
    page.get_by_role("button", name="Remove selected").click()
    expect(page.get_by_role("heading", name="Remove 2 roles?")).to_be_visible()
    page.get_by_role("button", name="Remove").click()
    expect(page.get_by_text("2 roles removed.")).to_be_visible()
    assert not holds(shop, Grant("tim", "member", "lake_house"))
    assert "kind=lakehouse.lakehouse" in page.url
    page.get_by_role("checkbox", name="All on this page").check()
    page.get_by_role("button", name="Keep selected").click()
    expect(page.get_by_text("2 roles kept. 2 roles left as they were: The role was removed.")).to_be_visible()
    page.goto(f"/reviews/{uid}")
    page.get_by_role("button", name="Close review").click()
    page.get_by_role("button", name="Close", exact=True).click()
    expect(page.get_by_text("No more decisions can be made.")).to_be_visible()
    expect(page.get_by_role("button", name="Keep selected")).to_have_count(0)


def apply(page: Page, scripts: bool) -> None:
    if not scripts:
        page.get_by_role("button", name="Apply").click()


@browser
def test_by_keyboard_alone_a_role_is_removed_and_given_back(shop: Shop, open_as: Open) -> None:
    uid = begun(shop)
    page = open_as("adam", f"/reviews/{uid}?member=ana&kind=lakehouse.layer&q=viewer")
    page.get_by_role("searchbox", name="Search roles").focus()
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.getAttribute('aria-label')") == f"Remove {ANA_SAID}":
            break
    page.keyboard.press("Enter")
    expect(page.get_by_text("1 role removed.")).to_be_visible()
    assert not holds(shop, ANA)
    page.get_by_role("button", name=f"Restore {ANA_SAID}").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("1 role undecided again.")).to_be_visible()
    assert holds(shop, ANA)


@browser
def test_an_admin_lets_spark_work_it_out_watches_and_takes_the_file(shop: Shop, open_as: Open) -> None:
    """What the worker writes is written here in its place: the page only looks."""
    uid = begun(shop)
    page = open_as("adam", f"/reviews/{uid}")
    page.get_by_role("button", name="Create report").click()
    expect(page.get_by_text("Waiting for a worker")).to_be_visible()
    with shop.platform.read(by("adam")) as ctx:
        (job,) = service.list_jobs(ctx, kind="review")
        tenant = ctx.session.tenant
    assert job.options == {"format": "csv", "inside": "lake_house"}
    with shop.platform.database.write() as transaction:
        job_table.update_job(transaction, job.id, {"state": job_table.RUNNING, "progress": 40, "activity": "deciding"})
    expect(page.get_by_text("Running")).to_be_visible()
    expect(page.get_by_text("deciding")).to_be_visible()
    folder = job_table.results_folder(shop.platform.settings.data, tenant)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "found.csv").write_text("member,resource\nana,orders\n", encoding="utf-8")
    with shop.platform.database.write() as transaction:
        ended = {"state": job_table.DONE, "progress": 100, "result": "found.csv", "rows": 1, "ended_at": job.made_at}
        job_table.update_job(transaction, job.id, ended)
    with page.expect_download() as taken:
        page.get_by_role("link", name="Download csv").click()
    assert taken.value.path().read_text(encoding="utf-8").endswith("ana,orders\n")


@browser
@pytest.mark.rare
def test_axe_finds_nothing(shop: Shop, open_as: Open, violations: Violations) -> None:
    uid = begun(shop)
    with shop.platform.write(by("adam")) as ctx:
        found = campaign_decisions.list_rows(ctx, uid)
        campaign_decisions.keep(ctx, uid, [found[0].n])
        campaign_decisions.remove(ctx, uid, [row.n for row in found if row.grant == ANA])
        service.start_job(ctx, "review", {"format": "csv", "inside": "lake_house"})
    page = open_as("adam", "/reviews/new?workspace=lake_house")
    assert violations(page) == []
    for path in ("/reviews", f"/reviews/{uid}", f"/reviews/{uid}/worked-out"):
        page.goto(path)
        assert violations(page) == []
    assert violations(open_as("nils", "/reviews")) == []


def test_what_was_decided_is_a_file(shop: Shop) -> None:
    with shop.platform.write(by("mona")) as ctx:
        grants.give(ctx, Grant("nils", "viewer", "orders"), until=ctx.at + DAY)
    with shop.platform.write(by("adam")) as ctx:
        ctx.session.store.rename("nils", "=cmd()")
    uid = begun(shop)
    with shop.platform.write(by("adam")) as ctx:
        campaign_decisions.keep(ctx, uid, [row.n for row in campaign_decisions.list_rows(ctx, uid) if row.grant == ANA])
    with shop.client("adam") as client:
        table = client.get(f"/reviews/{uid}/result.csv")
        lines = client.get(f"/reviews/{uid}/result.jsonl")
    assert table.headers["content-disposition"].startswith("attachment")
    read = list(csv.DictReader(io.StringIO(table.text)))
    (kept,) = [row for row in read if (row["holder"], row["resource"]) == ("ana", "clean")]
    assert (kept["decision"], kept["decided_by"], kept["role"], kept["until"]) == ("kept", "adam", "Viewer", "")
    assert [row["holder_name"] for row in read if row["holder"] == "nils"] == ["'=cmd()"]
    lines_read = [json.loads(line) for line in lines.text.splitlines()]
    assert len(lines_read) == len(read) == len(rows(shop, uid))
    (timed,) = [line for line in lines_read if line["holder"] == "nils"]
    assert (timed["holder_name"], timed["decision"], timed["until"] > timed["since"]) == ("=cmd()", "undecided", True)
    with shop.platform.read(by("adam")) as ctx:
        assert len(ctx.audit.page(AuditFilter(action="take campaign"))) == 2


def test_a_form_that_is_not_right_is_shown_again_with_what_was_filled_in(shop: Shop) -> None:
    with shop.client("adam") as client:
        empty_platform = sent(client, "/reviews/new", "/reviews/new", workspace="", name="", asks="everything", due="")
        late = sent(
            client, "/reviews/new", "/reviews/new", workspace="sales", name="Mine", asks="everything", due="2001-01-01"
        )
        wrong = sent(client, "/reviews/new", "/reviews/new", workspace="sales", name="Mine", asks="x", due="")
    assert [answer.status_code for answer in (empty_platform, late, wrong)] == [422, 422, 422]
    assert "Select a workspace." in empty_platform.text
    assert "This date is in the past" in late.text
    assert 'value="Mine"' in late.text
    assert "cannot review" in wrong.text


def test_it_is_searched_filtered_and_sorted_by_the_address(shop: Shop) -> None:
    uid = begun(shop)
    with shop.client("adam") as client:

        def listed(query: str) -> list[str]:
            return re.findall(r'aria-label="Select ([^"]+)"', client.get(f"/reviews/{uid}?{query}").text)

        assert listed("q=ana clean viewer") == [ANA_SAID]
        assert listed("member=ana&kind=lakehouse.layer") == [ANA_SAID]
        assert listed("state=removed") == []
        assert listed("member=nobody") == listed("")
        assert listed("sort=-resource") != listed("")
        assert sorted(listed("sort=-resource")) == sorted(listed(""))


def test_who_may_not_take_it_away_is_told_who_can(shop: Shop) -> None:
    uid = begun(shop, "petra", "landing")
    theirs = next(row for row in rows(shop, uid, "petra") if row.grant == Grant("erik", "owner", "copy_crm"))
    with shop.client("petra") as client:
        page = client.get(f"/reviews/{uid}").text
        assert f'name="remove" value="{theirs.n}"' not in page
        assert f"remove-{theirs.n}-why" in page
        answer = sent(client, f"/reviews/{uid}/decide", f"/reviews/{uid}", remove=str(theirs.n))
        assert answer.status_code == 303
        assert "1 role left as it was" in client.get(answer.headers["location"]).text
        # What everybody could do is for others to ask.
        refused = sent(client, f"/reviews/{uid}/work-out", f"/reviews/{uid}", format="csv")
        assert refused.status_code == 403
    assert holds(shop, theirs.grant)


def test_who_gives_no_roles_there_finds_nothing(shop: Shop) -> None:
    uid = begun(shop, name="A secret plan")
    for who in ("nils", "ana", "bella"):
        with shop.client(who) as client:
            listed = client.get("/reviews")
            assert listed.status_code == 200
            assert "A secret plan" not in listed.text
            for path in ("", "/result.csv", "/result.jsonl", "/worked-out", "/worked-out/job_1"):
                assert client.get(f"/reviews/{uid}{path}").status_code == 404
            for path in ("decide", "close", "reopen", "work-out"):
                assert sent(client, f"/reviews/{uid}/{path}", "/reviews", keep="1").status_code == 404
            assert client.get("/reviews/new").status_code == 403


def test_each_sees_only_what_they_may_know_of(shop: Shop) -> None:
    uid = begun(shop, "adam", "serving")
    pages = {}
    for who in ("adam", "mona"):
        with shop.client(who) as client:
            pages[who] = client.get(f"/reviews/{uid}").text
    assert "sales_cockpit" in pages["adam"]
    assert "sales_cockpit" not in pages["mona"]


def test_nonsense_is_refused(shop: Shop) -> None:
    uid = begun(shop)
    with shop.client("adam") as client:
        for fields, status in (({"keep": "x"}, 422), ({"do": "dance"}, 422), ({"keep": "99999"}, 404), ({}, 422)):
            assert sent(client, f"/reviews/{uid}/decide", f"/reviews/{uid}", **fields).status_code == status
        nothing = sent(client, f"/reviews/{uid}/decide", f"/reviews/{uid}", do="keep")
        assert nothing.status_code == 303
        assert "Select at least one role." in client.get(nothing.headers["location"]).text


def test_who_takes_away_their_own_right_is_led_out(shop: Shop) -> None:
    uid = begun(shop, "mona", "serving")
    (own,) = [row for row in rows(shop, uid, "mona") if row.grant == Grant("mona", "can_manage", "serving")]
    with shop.client("mona") as client:
        answer = sent(client, f"/reviews/{uid}/decide", f"/reviews/{uid}", remove=str(own.n))
    assert answer.headers["location"] == "/reviews"


def test_a_cursor_that_no_row_has_is_ignored(shop: Shop) -> None:
    assert shop.client("olga").get(f"/reviews?after={10**20}").status_code == 200
