"""Settings of resources over HTTP: validated by the schema of their kind, and described by it."""

from __future__ import annotations

from typing import Any

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
        ({**SQL, "columns": [{"name": "a", "type": "nonsense"}]}, "columns.0.type"),
        ({**SQL, "keys": ["a"], "columns": [{"name": "a", "hidden": True}]}, "columns"),
        ({**SQL, "checks": [{"check": "not null", "name": "a", "fields": ["a"]}] * 2}, "checks"),
        ({**SQL, "joins": [{"mart": "store_targets", "name": "two words", "on": {"a": "a"}}]}, "joins.0.name"),
        ({**SQL, "joins": [{"mart": "store_targets", "name": "b", "on": {}}]}, "joins.0.on"),
        ({**SQL, "joins": [{"mart": "store_targets", "name": "b", "on": {"a": "a"}}] * 2}, "joins"),
        ({**SQL, "failure_webhook": "ftp://hooks.example/runs"}, "failure_webhook"),
        ({**SQL, "failure_webhook": "https://" + "user:secret@127.0.0.1/runs"}, "failure_webhook"),
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


def test_settings_name_only_what_is_there_of_the_right_kind_and_in_sight(api: Api) -> None:
    def patched(where: str, who: str, settings: dict[str, object]) -> dict[str, Any]:
        answer = api.call("PATCH", f"/api/v1/resources/{where}", who, json={"settings": settings}, headers=ANY)
        refused: dict[str, Any] = problem(answer, 422, "invalid_input")
        return refused

    def joined(mart: str) -> dict[str, object]:
        return {**SQL, "joins": [{"mart": mart, "name": "other", "on": {"day": "day"}}]}

    # Missing, of another kind, and itself. What is hidden answers like what is missing.
    for mart in ("no_such_mart", "lake", "daily_sales"):
        refused = patched("daily_sales", "tara", joined(mart))
        assert (refused["field"], refused["detail"]) == ("joins.0.mart", f"There is no data mart '{mart}'.")
    assert api.get("/api/v1/resources/margins", "tim").status_code == 404
    assert patched("web_sessions", "tim", joined("margins"))["detail"] == "There is no data mart 'margins'."
    assert patched("lake", "tara", {"kind": "lake", "lakehouse": "no_such"})["field"] == "lakehouse"
    source = {"kind": "lakehouse.source", "name": "s", "edges": {"lakehouse": ["lake_house"], "into": ["raw"]}}
    settings = {"connector": "files", "volume": "no_such_volume"}
    refused = problem(api.post("/api/v1/resources", "erik", {**source, "settings": settings}), 422, "invalid_input")
    assert refused["field"] == "volume"


def test_a_reference_that_was_there_before_stays_when_it_is_gone(api: Api) -> None:
    joins = [{"mart": "gone_mart", "name": "other", "on": {"day": "day"}}]
    with api.platform.write(as_member("tara")) as ctx:
        resource_metadata.save(ctx, "daily_sales", settings={**SQL, "joins": joins})
    changed = {**SQL, "sql": "SELECT 2", "joins": joins}
    assert json_body(api.call("PATCH", MART, "tara", json={"settings": changed}, headers=ANY))["settings"] == changed


def test_a_kind_without_settings_takes_none(api: Api) -> None:
    for where, who in (("sales", "olga"), ("raw", "olga")):
        answer = api.call("PATCH", f"/api/v1/resources/{where}", who, json={"settings": {"any": 1}}, headers=ANY)
        assert problem(answer, 422, "invalid_input")["field"] == "any"


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
    assert mart["properties"]["kept_as"]["description"].startswith("The name of a copy of its rows")
    assert kinds["lakehouse.source"]["discriminator"]["propertyName"] == "connector"
    assert kinds["spaces.task"]["discriminator"]["propertyName"] == "type"
    assert kinds["products.entity_table"]["properties"] == {}
    document = json_body(api.get("/api/v1/openapi.json", "tara"))
    assert "settings.marts.data_mart" in document["components"]["schemas"]
