"""Reports that speak: a real mail and a real chat, in the words of their message; and nobody is told what the one whom
a report runs as may no longer read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from email.message import EmailMessage

import pytest
from pydantic import SecretStr

from lakehold.access import Add, Attribute, Remove
from lakehold.kit.clock import DAY
from lakehold.kit.errors import LakeholdError
from lakehold.runs import worker_client
from lakehold.runs.scheduler.due import DueTriggers
from lakehold.runs.scheduler.schedule import TriggerSchedule
from lakehold.runs.scheduler.service import Triggers
from lakehold.workspaces.marts import insights
from tests.api.client import Api, json_body, problem, serve_api
from tests.lake.destinations.receiver import Answer, Receiver, run_receiver
from tests.lake.shop import ED, RITA, TENANT
from tests.smtp import MailServer, mail_server
from tests.workspaces.lakehouse.inline_runs import RUNS
from tests.workspaces.marts.project import SALES, MartsProject

pytestmark = pytest.mark.slow
SECRET = "/services/T0001/xyzzyx"
ASKED = {"columns": ["id", "amount"], "sort": [{"column": "id"}], "where": [{"column": "id", "is": "<", "value": "3"}]}
MESSAGE = "**{{ name }}**: {{ rows }} rows, the first is {{ id }}.\n\n{{ table }}\n\n{{ chart id amount }}"


@pytest.fixture(scope="module")
def mart(here: MartsProject) -> str:
    return here.create_refreshed_mart({"by": "sql", "sql": SALES})


@pytest.fixture
def room() -> Iterator[Receiver]:
    with run_receiver() as made:
        yield made


@pytest.fixture
def post(here: MartsProject) -> Iterator[MailServer]:
    platform = here.inline_runs.shop.platform
    before = platform.settings
    with mail_server() as made:
        platform.settings = before.model_copy(update={"smtp": SecretStr(made.url)})
        yield made
    platform.settings = before


@pytest.fixture(scope="module")
def api(here: MartsProject) -> Iterator[Api]:
    with serve_api(here.inline_runs.shop.platform, TENANT) as found:
        yield found


def chat(here: MartsProject, room: Receiver) -> str:
    return here.destination({"to": "chat"}, secrets={"address": f"http://127.0.0.1:{room.port}{SECRET}"})


def parts(mail: EmailMessage) -> dict[str, str]:
    found = {part.get_content_type(): part.get_content() for part in mail.walk() if not part.is_multipart()}
    return {kind: str(content) for kind, content in found.items()}


def test_a_chat_is_told_once_what_the_message_says(here: MartsProject, mart: str, room: Receiver) -> None:
    report = here.report(mart, chat(here, room), {**ASKED, "message": MESSAGE})
    run = here.run(report, by=RITA)
    assert (run.state, run.error, run.steps[0].rows) == ("succeeded", "", 3)
    (came,) = room.requests
    assert came.path == SECRET
    text = json.loads(came.body)["text"]
    assert text.startswith(f"*{report}*: 3 rows, the first is 0.\n\n```\nid  amount\n 0    0.00\n")
    assert f"2  {'█' * 24} 3.00" in text
    lines = here.lines(run)
    assert "3 rows delivered: a chat" in lines
    assert "127.0.0.1" not in lines
    assert "xyzzyx" not in lines
    with here.inline_runs.shop.platform.read(RITA) as ctx:
        sent = insights.report_insight(ctx, report).delivered
    assert (sent.times, sent.last_rows, sent.places, sent.sure) == (1, 3, ("a chat at 127.0.0.1",), True)


def test_without_a_message_a_chat_gets_a_small_table(here: MartsProject, mart: str, room: Receiver) -> None:
    report = here.report(mart, chat(here, room), {"columns": ["id"], "sort": [{"column": "id"}]})
    assert here.run(report, by=RITA).state == "succeeded"
    text = json.loads(room.requests[0].body)["text"]
    assert text.startswith(f"*{report}*: 100 rows")
    assert "… and 80 more rows" in text


def test_a_chat_that_refuses_fails_the_run_and_is_told_anew(here: MartsProject, mart: str, room: Receiver) -> None:
    room.answers = [Answer(403, b"invalid_token xyzzyx")]
    report = here.report(mart, chat(here, room), ASKED)
    run = here.run(report, by=RITA)
    assert (run.state, "403" in run.error, "xyzzyx" in run.error) == ("failed", True, False)
    with here.inline_runs.shop.platform.write(RITA) as ctx:
        RUNS.resume(ctx, run.id)
    done = here.inline_runs.execute(run.id)
    assert (done.state, len(room.requests)) == ("succeeded", 2)
    assert "twice" not in here.lines(done)


def test_a_mail_says_it_as_text_and_as_html(here: MartsProject, mart: str, post: MailServer) -> None:
    to = here.destination({"to": "mail", "receivers": ["ann@x.test"], "kind": "csv"})
    message = f"{MESSAGE}\n\n[Open](https://localhost/{{{{ id }}}})"
    report = here.report(mart, to, {**ASKED, "message": message, "delivery": {"subject": "Orders"}})
    run = here.run(report, by=RITA)
    assert (run.state, run.error) == ("succeeded", "")
    mail = post.next_mail()
    found = parts(mail)
    assert mail["Subject"] == "Orders"
    assert "3 rows, the first is 0." in found["text/plain"]
    assert found["text/plain"].count("█") > 24
    assert f"<p><strong>{report}</strong>: 3 rows, the first is 0.</p>" in found["text/html"]
    assert '<a href="https://localhost/0">Open</a>' in found["text/html"]
    assert found["text/html"].count("<table") == 2
    assert found["text/csv"].splitlines()[0] == "id,amount"
    assert post.accepted.empty()


def test_a_message_that_speaks_of_what_is_not_there_sends_nothing(
    here: MartsProject, mart: str, room: Receiver
) -> None:
    report = here.report(mart, chat(here, room), {**ASKED, "message": "{{ salary }}"})
    run = here.run(report, by=RITA)
    assert (run.state, room.requests) == ("failed", [])
    assert "'salary'" in run.error
    assert "id, amount" in run.error


def test_a_message_is_seen_before_it_is_sent(mart: str, api: Api) -> None:
    body = {"mart": mart, "name": "Orders", "settings": {**ASKED, "message": MESSAGE}}
    said = json_body(api.post("/api/v1/reports/preview-message", "rita", body))
    assert said["text"].startswith("**Orders**: 3 rows, the first is 0.")
    assert said["chat"].startswith("*Orders*: 3 rows")
    assert "<strong>Orders</strong>" in said["html"]
    every = {**body, "settings": {"message": "{{ rows }}"}}
    assert json_body(api.post("/api/v1/reports/preview-message", "rita", every))["text"] == "100"
    wrong = {**body, "settings": {**ASKED, "message": "{{ salary }}"}}
    refused = problem(api.post("/api/v1/reports/preview-message", "rita", wrong), 422, "invalid_input")
    assert "id, amount" in refused["hint"]
    assert api.post("/api/v1/reports/preview-message", "sam", body).status_code == 404


def test_a_destination_is_tried_out_without_a_word(here: MartsProject, room: Receiver) -> None:
    platform = here.inline_runs.shop.platform
    address = f"http://127.0.0.1:{room.port}{SECRET}"
    asked = {"project": "sales", "settings": {"to": "chat"}, "secrets": {"address": address}}
    assert "host was found" in worker_client.check_connection(platform, RITA, "marts.destination", asked)
    uid = chat(here, room)
    assert "host was found" in worker_client.check_connection(
        platform, RITA, "marts.destination", {**asked, "uid": uid, "secrets": {}}
    )
    assert "report.csv can be written" in worker_client.check_connection(
        platform, RITA, "marts.destination", {**asked, "settings": {"to": "files"}}
    )
    assert "pull the reports" in worker_client.check_connection(
        platform, RITA, "marts.destination", {**asked, "settings": {"to": "live"}}
    )
    with pytest.raises(LakeholdError, match="no address"):
        worker_client.check_connection(platform, RITA, "marts.destination", {**asked, "secrets": {}})
    with pytest.raises(LakeholdError):
        worker_client.check_connection(platform, ED, "marts.destination", {**asked, "uid": uid})
    assert room.requests == []


def test_a_scheduled_report_whose_owner_has_lost_the_mart_tells_nobody(here: MartsProject, post: MailServer) -> None:
    mart = here.create_refreshed_mart({"by": "sql", "sql": SALES})
    platform, triggers, firing = here.inline_runs.shop.platform, Triggers(RUNS), DueTriggers(RUNS)
    to = here.destination({"to": "mail", "receivers": ["ann@x.test"], "kind": "csv"})
    report = here.report(mart, to, ASKED)
    with platform.write(RITA) as ctx:
        triggers.save(ctx, report, TriggerSchedule("0 6 * * *"))
    assert firing.start_due(platform, platform.clock() + DAY) == 1
    assert _last(here, report) == ("succeeded", "")
    assert post.next_mail()["To"] == "ann@x.test"
    with platform.write(ED) as ctx:
        ctx.make(Remove(Attribute(mart, "shared_for_reporting", "true")))
    assert firing.start_due(platform, platform.clock() + 2 * DAY) == 1
    state, error = _last(here, report)
    assert state == "failed"
    assert "You may not run report" in error
    assert "Missing: " in error
    assert post.accepted.empty()
    with platform.write(ED) as ctx:
        ctx.make(Add(Attribute(mart, "shared_for_reporting", "true")))
    assert firing.start_due(platform, platform.clock() + 3 * DAY) == 1
    assert _last(here, report) == ("succeeded", "")
    assert post.next_mail()["To"] == "ann@x.test"
    with platform.write(RITA) as ctx:
        for each in triggers.for_resource(ctx, report):
            triggers.delete(ctx, each.id)


def test_files_of_a_destination_and_a_storage_over_rest(here: MartsProject, mart: str, api: Api) -> None:
    to = here.destination({"to": "files", "kind": "csv"})
    report = here.report(mart, to, {**ASKED, "delivery": {"name": "out"}})
    assert here.run(report, by=RITA).state == "succeeded"
    at = f"/api/v1/destinations/{to}/files"
    assert [file["path"] for file in json_body(api.get(at, "rita"))["items"]] == ["out.csv"]
    assert api.get(f"{at}/out.csv", "rita").text.splitlines()[0] == "id,amount"
    assert api.get(at, "ed").status_code == 404
    problem(api.get(f"{at}/other.csv", "rita"), 404, "not_found")
    other = here.destination({"to": "live"})
    problem(api.get(f"/api/v1/destinations/{other}/files", "rita"), 409, "conflict")

    storage = here.storage("inbox", {"kind": "files"})
    files = f"/api/v1/storages/{storage}/files"
    put = api.call("PUT", f"{files}/2031/words.csv", "ed", content=b"id,word\n1,a\n")
    assert json_body(put, 201)["path"] == "2031/words.csv"
    problem(api.call("PUT", f"{files}/2031/words.csv", "ed", content=b"x"), 409, "conflict")
    assert api.call("PUT", f"{files}/x.csv", "rita", content=b"x").status_code == 404
    assert api.get(f"{files}/2031/words.csv", "ed").content == b"id,word\n1,a\n"
    assert [file["path"] for file in json_body(api.get(files, "ed"))["items"]] == ["2031"]
    assert api.call("DELETE", f"{files}/2031/words.csv", "ed").status_code == 204
    assert json_body(api.get(files, "ed"))["items"] == []
    problem(api.call("PUT", f"/api/v1/storages/{mart}/files/x", "ed", content=b"x"), 422, "invalid_input")


def test_insights_of_a_project_are_those_of_the_reports_that_one_sees(here: MartsProject, mart: str, api: Api) -> None:
    to = here.destination({"to": "files", "kind": "csv"})
    report = here.report(mart, to, {**ASKED, "send": "rows", "where": [{"column": "id", "is": "<", "value": "0"}]})
    assert here.run(report, by=RITA).state == "succeeded"
    mine = json_body(api.get(f"/api/v1/reports/{report}/insights", "rita"))
    # Nothing was sent, as there were no rows.
    assert (mine["delivered"]["times"], mine["last_at"], mine["destination"]["id"]) == (0, None, to)
    assert json_body(api.get(f"/api/v1/reports/{report}/insights", "ed"))["destination"] is None
    assert api.get(f"/api/v1/reports/{report}/insights", "sam").status_code == 404
    found = json_body(api.get("/api/v1/projects/sales/insights", "rita"))["items"]
    assert report in [each["report"]["id"] for each in found]
    ended = [each["last_at"] for each in found if each["last_at"]]
    assert ended == sorted(ended, reverse=True)
    assert api.get("/api/v1/projects/sales/insights", "sam").status_code == 404
    # Nor is it told to a token that is for something else.
    narrow = api.token("rita", actions=frozenset({"run"}))
    for path in (f"/api/v1/reports/{report}/insights", "/api/v1/projects/sales/insights"):
        assert api.call("GET", path, token=narrow).status_code == 403
    problem(api.get(f"/api/v1/projects/{report}/insights", "rita"), 422, "invalid_input")


def _last(here: MartsProject, report: str) -> tuple[str, str]:
    """What became of the run that a trigger has just written down."""
    with here.inline_runs.shop.platform.read(ED) as ctx:
        run = RUNS.page(ctx, resource=report, limit=1)[0].id
    done = here.inline_runs.execute(run)
    return done.state, done.error
