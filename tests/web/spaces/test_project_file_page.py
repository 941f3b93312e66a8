"""The page of a data project's file: read by those who may open it, applied by those who may update it."""

from __future__ import annotations

from lakehold.catalog import resources
from lakehold.demo import company
from lakehold.directory.caller import Caller
from tests.web.demo import Shop
from tests.web.forms import send

ERIK = Caller(company.TENANT, "erik")
FILE = """project: another
description: Counted each night.
tasks:
  one:
    settings: {type: transform, datasets: [{name: n, sql: SELECT 1 AS n}]}
"""


def create(shop: Shop) -> str:
    with shop.platform.write(ERIK) as ctx:
        uid = resources.create(ctx, "spaces.project", "Counts", edges={"space": "landing"})
        resources.create(ctx, "spaces.task", "old", edges={"project": uid})
        return uid


def tasks(shop: Shop, project: str) -> set[str]:
    with shop.platform.read(ERIK) as ctx:
        return {each.name for each in resources.find(ctx, among=["spaces.task"], within=project).items}


def test_a_file_is_planned_and_applied(shop: Shop) -> None:
    uid, erik = create(shop), shop.client("erik")
    here = f"/resources/{uid}/project-file"
    assert here in erik.get(f"/resources/{uid}/runs").text
    assert "Take over" not in erik.get(f"/resources/{uid}/runs").text
    assert "project: Counts" in erik.get(here).text
    found = erik.get(f"{here}/download")
    assert (found.headers["content-disposition"], found.text.splitlines()[0]) == (
        *('attachment; filename="counts.yaml"', "project: Counts"),
    )
    planned = send(erik, here, here, file=FILE, do="plan", remove="1").text
    assert all(text in planned for text in ("Change project Counts", "Create task one", "Delete task old"))
    assert tasks(shop, uid) == {"old"}
    assert send(erik, here, here, file=FILE, do="apply").status_code == 303
    assert tasks(shop, uid) == {"old", "one"}
    assert send(erik, here, here, file=FILE, do="apply", remove="1").status_code == 303
    assert tasks(shop, uid) == {"one"}


def test_what_is_wrong_is_named_and_the_text_stays(shop: Shop) -> None:
    uid, erik = create(shop), shop.client("erik")
    here = f"/resources/{uid}/project-file"
    for text, said in (("tasks: [", "not YAML"), (FILE.replace("transform", "magic"), "magic")):
        answer = send(erik, here, here, file=text, do="apply")
        assert answer.status_code == 422
        assert said in answer.text
        assert "tasks:" in answer.text
    assert erik.get("/resources/erp_link/project-file").status_code == 404
