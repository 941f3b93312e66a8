"""Forms whose fields no browser sends: each is refused or left out, and none is an error of the server."""

from __future__ import annotations

import pytest

from tests.web.demo import Shop
from tests.web.forms import token

TASK = "/resources/land_web/task/edit?type="
MANY_DIGITS, DEEP = "9" * 5000, "[" * 200_000
RECORD = {"name": "x", "datasets.0.name": "one", "datasets.0.how": "steps", "datasets.0.start": "a.b"}


@pytest.mark.parametrize(
    ("word", "fields"),
    [
        ("transform", {f"datasets.{MANY_DIGITS}.name": "x"}),
        ("transform", {"datasets.0.name": "x", "do": f"remove:datasets.{MANY_DIGITS}"}),
        ("transform", {"datasets.0.name": "x", "do": "remove:datasets.².steps.0"}),
        ("transform", {"datasets.0.name": "x", "do": f"up:datasets.{MANY_DIGITS}.steps.0"}),
        ("transform", {**RECORD, "do": f"preview:datasets.{MANY_DIGITS}"}),
        ("transform", {**RECORD, "do": f"add:datasets.{MANY_DIGITS}.steps"}),
        ("transform", {**RECORD, "datasets.0.kept": DEEP}),
        ("transform", {**RECORD, "datasets.0.kept": '{"steps": 1, "name": {}}'}),
        ("transform", {**RECORD, "datasets.0.steps.0.nothing": "x"}),
        ("transform", {**RECORD, "datasets.0.steps.0.step": "magic", "do": "add:datasets"}),
        ("transform", {**RECORD, "datasets.0.steps.0.step.x": "magic", "do": "add:datasets"}),
        ("transform", {**RECORD, "datasets.0.steps": "text", "do": "add:datasets.0.steps"}),
        ("transform", {**RECORD, "datasets.0.mode.x": "text", "datasets.0.sql.x": "y"}),
        ("transform", {"name.x": "y", "description[]": "z", "reads": "one", "version.x": "1"}),
        ("transform", {"name[]": "y", "reads.x": "one", "do.x": "save", "datasets[]": "x"}),
        ("landing", {"name": "x", "connection[]": "erp_link", "do": "streams"}),
        ("landing", {"name": "x", "connection.x": "erp_link", "schema_changes.x": "y", "datasets.x": "y"}),
        ("landing", {"name": "x", "do": "take", "chosen[]": DEEP}),
        ("landing", {"name": "x", "do": "take", "chosen[]": '{"stream": "s", "keys": 5}'}),
        ("landing", {"name": "x", "do": "take", "chosen[]": "[1]"}),
        ("landing", {"name": "x", "datasets": "text", "do": "take", "chosen[]": '{"stream": "s", "keys": []}'}),
        ("storage", {"name": "x", "datasets.0.source.x": "y", "datasets.0.keys[]": "y", "datasets.0.history.x": "1"}),
        ("data_mart", {"name": "x", "facts.0.links.0.x": "y", "views.0.dimensions": "y", "facts.0.unknown": "text"}),
        ("replication", {"name": "x", "tables.0.source": "one", "tables.0.mode": "x", "tables.x.y.z": "x"}),
    ],
)
def test_the_designer_takes_any_form(shop: Shop, word: str, fields: dict[str, str]) -> None:
    erik = shop.client("petra")
    answer = erik.post(TASK + word, data={"csrf_token": token(erik, TASK + word), **fields})
    assert answer.status_code in {200, 303, 422}


@pytest.mark.parametrize(
    "fields",
    [
        {"charts": MANY_DIGITS, "filters": "²", "do": "save"},
        {"charts": "1", "c0_type": "magic", "c0_limit": MANY_DIGITS, "c0_how": "magic", "do": "save"},
        {"charts": "1", "c0_type": "table", "c0_groups": "x", "c0_sort": "y", "do": f"chart-drop-{MANY_DIGITS}"},
        {"charts": "1", "filters": "1", "c0_task": "hidden", "c0_dataset": "Not One", "do": "preview"},
        {"new_chart": DEEP, "do": "chart"},
        {"new_chart": '["task", "data"]', "new_type": "magic", "do": "chart"},
        {"new_filter": '["task", "data", "column"]', "do": "filter"},
        {"filters": "1", "f0_control": "magic", "f0_column": "x", "do": "filter-up-0"},
    ],
)
def test_the_form_of_an_app_takes_any_form(shop: Shop, fields: dict[str, str]) -> None:
    to, petra = "/workspaces/landing/apps/new", shop.client("petra")
    answer = petra.post(to, data={"csrf_token": token(petra), "name": "x", **fields})
    assert answer.status_code in {200, 422}
