"""A data mart at the end of a chain of joins that a member may not see is told to them by nothing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import httpx
import pytest

from lakehold.access import Add, Attribute, Grant, Remove
from lakehold.catalog import resource_edit
from lakehold.catalog.resource_edit import ResourceEdit
from lakehold.runs.runnable import RunOptions
from lakehold.runs.service import MANUAL_CAUSE
from tests.api.client import Api, serve_api
from tests.lake.shop import ADA, ED, RITA, TENANT
from tests.workspaces.lakehouse.inline_runs import RUNS
from tests.workspaces.marts.project import SALES, MartsProject

pytestmark = pytest.mark.slow
PEOPLE = {"by": "sql", "sql": "SELECT id, name FROM raw.customers"}


@pytest.fixture(scope="module")
def api(here: MartsProject) -> Iterator[Api]:
    with serve_api(here.inline_runs.shop.platform, TENANT) as found:
        yield found


class Chain(NamedTuple):
    """Three data marts, each joined to the one before; Rita does not see the last one."""

    first: str
    second: str
    hidden: str
    report: str

    def is_told(self, text: str) -> bool:
        return any(word in text for word in (self.hidden, "Zebra", "stripes"))


@pytest.fixture(scope="module")
def chain(here: MartsProject) -> Chain:
    hidden = here.mart(PEOPLE, name="Zebra")
    stripes = [{"mart": hidden, "name": "stripes", "on": {"id": "id"}}]
    second = here.mart({**PEOPLE, "joins": stripes}, joins=(hidden,))
    people = [{"mart": second, "name": "people", "on": {"customer": "id"}}]
    first = here.mart({"by": "sql", "sql": SALES, "joins": people}, joins=(second,))
    for mart in (hidden, second, first):
        assert here.run(mart, by=ED).state == "succeeded"
    report = here.report(first, here.destination({"to": "files", "kind": "csv"}), {"columns": ["id"]})
    with here.inline_runs.shop.platform.write(ED) as ctx:
        ctx.make(Remove(Attribute(hidden, "shared_for_reporting", "true")))
    return Chain(first, second, hidden, report)


def test_no_answer_tells_a_hidden_mart(api: Api, chain: Chain) -> None:
    preview = {"mart": chain.first, "settings": {"columns": ["id"]}}
    answers: list[httpx.Response] = [
        *(api.post("/api/v1/access/explain", "rita", {"action": "run", "resource": chain.report}),),
        *(api.post("/api/v1/runs", "rita", {"resource": chain.report}),),
        *(api.post("/api/v1/reports/preview", "rita", preview),),
        *(api.get(f"/api/v1/resources/{uid}", "rita") for uid in (chain.first, chain.second, chain.report)),
        *(api.get(f"/api/v1/lineage/{uid}?depth=5", "rita") for uid in (chain.first, chain.second)),
        *(api.get(f"/iceberg/v1/namespaces/Sales/tables/{chain.second}", "rita"),),
        *(api.get("/iceberg/v1/namespaces/Sales/tables", "rita"),),
    ]
    told = [(each.request.url.path, each.text) for each in answers if chain.is_told(each.text)]
    assert told == []
    assert [each.status_code for each in answers[:3]] == [200, 403, 403]
    assert answers[0].json()["allowed"] is False


def test_no_form_tells_a_hidden_mart(here: MartsProject, api: Api, chain: Chain) -> None:
    edges = {"data_mart": [chain.first], "destination": [here.destination({"to": "live"})]}
    body = {"kind": "marts.report", "name": "New", "edges": edges, "settings": {"columns": ["people.stripes.name"]}}
    made = api.post("/api/v1/resources", "rita", body)
    assert (made.status_code, chain.is_told(made.text.replace("people.stripes.name", ""))) == (403, False)
    joins = [{"mart": chain.hidden, "name": "other", "on": {"id": "id"}}]
    body = {"kind": "marts.data_mart", "name": "New", "edges": {"project": ["sales"], "storage": ["lake_storage"]}}
    refused = api.post("/api/v1/resources", "rita", {**body, "settings": {**PEOPLE, "joins": joins}})
    missing = [{"mart": "no_such_mart", "name": "other", "on": {"id": "id"}}]
    alike = api.post("/api/v1/resources", "rita", {**body, "settings": {**PEOPLE, "joins": missing}})
    told, known = refused.json(), alike.json()
    assert (told["status"], told["detail"].replace(chain.hidden, "no_such_mart")) == (known["status"], known["detail"])
    assert told["hint"] == known["hint"]


def test_no_run_tells_a_hidden_mart(here: MartsProject, chain: Chain) -> None:
    platform = here.inline_runs.shop.platform
    with platform.write(RITA) as ctx:
        run = RUNS.insert(ctx, chain.report, RunOptions(), cause=MANUAL_CAUSE)
    ended = here.inline_runs.execute(run)
    with platform.read(RITA) as ctx:
        lines = "\n".join(line.text for line in RUNS.log_lines(ctx, run))
    assert ended.state == "failed"
    assert not chain.is_told(ended.error + lines)


def test_a_join_that_was_not_saved_is_named_to_no_others(here: MartsProject, api: Api, chain: Chain) -> None:
    platform = here.inline_runs.shop.platform
    with platform.access.write(TENANT) as session:
        session.store.add(Grant("rita", "business_owner", chain.hidden))
    with platform.write(ADA) as ctx:
        resource_edit.apply_edit(ctx, chain.second, ResourceEdit(edges={"joins": []}))
    answer = api.post("/api/v1/reports/preview", "rita", {"mart": chain.first, "settings": {"columns": ["id"]}})
    assert (answer.status_code, "of a joined data mart was not saved" in answer.text) == (422, True)
    assert not chain.is_told(answer.text)
    with platform.write(ED) as ctx:
        ctx.make(Add(Attribute(chain.hidden, "shared_for_reporting", "true")))
