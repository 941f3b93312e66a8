"""Settings of resources over HTTP: validated by the schema of their kind, and described by it."""

from __future__ import annotations

from lakehold.catalog import resource_edit, resource_metadata
from lakehold.catalog.resource_edit import ResourceEdit
from tests.api.client import Api, json_body, problem
from tests.demo_company import as_member

MART = "/api/v1/resources/daily_sales"
ANY = {"If-Match": "*"}
SQL = {"by": "sql", "sql": "SELECT 1"}


def test_settings_that_cannot_be_used_are_refused_by_their_field(api: Api) -> None:
    before = json_body(api.get(MART, "tara"))
    for settings, field in (
        ({**SQL, "mode": "merge"}, "keys"),
        ({"by": "sql"}, "sql"),
        ({**SQL, "columns": [{"name": "a"}, {"alias": "b"}]}, "columns.1.name"),
        ({**SQL, "sqll": "SELECT 2"}, "sqll"),
    ):
        refused = problem(
            api.call("PATCH", MART, "tara", json={"settings": settings}, headers=ANY), 422, "invalid_input"
        )
        assert refused["field"] == field
    body = {"kind": "marts.data_mart", "name": "New", "edges": {"project": ["sales"], "storage": ["lake"]}}
    refused = problem(
        api.post("/api/v1/resources", "tara", {**body, "settings": {"by": "table"}}), 422, "invalid_input"
    )
    assert refused["field"] == "table"
    assert json_body(api.get(MART, "tara")) == before, "nothing of it was saved"


def test_a_draft_is_saved_and_completed_later(api: Api) -> None:
    body = {"kind": "lakehouse.source", "name": "later", "edges": {"lakehouse": ["lake_house"], "into": ["raw"]}}
    made = json_body(api.post("/api/v1/resources", "erik", body), 201)
    where = f"/api/v1/resources/{made['id']}"
    settings = {"connector": "database", "address": "jdbc:postgresql://127.0.0.1/shop"}
    assert json_body(api.call("PATCH", where, "erik", json={"settings": settings}, headers=ANY))["settings"] == settings


def test_what_actions_change_is_not_set_as_a_setting_and_is_not_lost(api: Api) -> None:
    for settings in ({**SQL, "published": True}, {**SQL, "reads": ["orders"]}):
        refused = problem(
            api.call("PATCH", MART, "tara", json={"settings": settings}, headers=ANY), 422, "invalid_input"
        )
        assert refused["field"] in {"published", "reads"}
    with api.platform.write(as_member("tara")) as ctx:
        managed = {"published": True, "reads": ["orders"]}
        resource_edit.apply_edit(ctx, "daily_sales", ResourceEdit(settings=SQL, managed=managed))
    # Who sends back what they read changes nothing of it, and who leaves it out neither.
    whole = json_body(api.get(MART, "tara"))["settings"]
    changed = {**whole, "sql": "SELECT 2"}
    assert json_body(api.call("PATCH", MART, "tara", json={"settings": changed}, headers=ANY))["settings"] == changed
    left_out = {**SQL, "sql": "SELECT 3"}
    kept = json_body(api.call("PATCH", MART, "tara", json={"settings": left_out}, headers=ANY))["settings"]
    assert kept == {**left_out, **managed}


def test_stored_settings_that_cannot_be_used_are_listed_with_what_is_wrong(api: Api) -> None:
    with api.platform.write(as_member("tara")) as ctx:
        resource_metadata.save(ctx, "daily_sales", settings={**SQL, "mode": "merge"})
    wrong = [{"field": "keys", "message": "To merge, the data mart needs a primary key.", "hint": "Set keys."}]
    assert json_body(api.get(MART, "tara"))["settings_problems"] == wrong
    params = {"kind": "marts.data_mart", "search": "Daily sales"}
    (listed,) = json_body(api.get("/api/v1/resources", "tara", params=params))["items"]
    assert listed["settings_problems"] == wrong
    # For those who may edit it: it says what the settings are.
    (seen,) = json_body(api.get("/api/v1/resources", "bella", params=params))["items"]
    assert (seen["settings_problems"], json_body(api.get(MART, "bella"))["settings_problems"]) == ([], [])
    renamed = json_body(api.call("PATCH", MART, "tara", json={"description": "Still wrong."}, headers=ANY))
    assert renamed["settings_problems"] == wrong
    repaired = {"settings": {**SQL, "mode": "merge", "keys": ["id"]}}
    assert json_body(api.call("PATCH", MART, "tara", json=repaired, headers=ANY))["settings_problems"] == []


def test_the_kinds_tell_their_schemas(api: Api) -> None:
    kinds = {kind["id"]: kind["settings"] for kind in json_body(api.get("/api/v1/kinds", "tara"))["items"]}
    mart = kinds["marts.data_mart"]
    assert mart["properties"]["sql"] == {"type": "string", "default": "", "title": "Sql"}
    assert mart["properties"]["kept_as"]["description"].startswith("What a copy of its rows is called")
    assert kinds["lakehouse.source"]["discriminator"]["propertyName"] == "connector"
    assert kinds["spaces.task"] is None, "its settings are free"
    document = json_body(api.get("/api/v1/openapi.json", "tara"))
    assert "settings.marts.data_mart" in document["components"]["schemas"]
