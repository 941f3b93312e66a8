"""Resources and workspaces over HTTP."""

from __future__ import annotations

from tests.api.client import Api, Json, json_body, problem

ANY = {"If-Match": "*"}


def test_a_resource_from_its_making_to_its_end(api: Api) -> None:
    body = {
        "kind": "marts.data_mart",
        "name": "Footfall",
        "edges": {"project": ["sales"], "storage": ["lake"]},
        "attributes": {"shared_for_reporting": True},
        "description": "How many people come in.",
        "settings": {"by": "sql", "sql": "SELECT 6"},
    }
    made = api.post("/api/v1/resources", "tara", body)
    mart = json_body(made, 201)
    where = f"/api/v1/resources/{mart['id']}"
    assert (mart["parent"]["id"], mart["attributes"]["shared_for_reporting"]) == ("sales", "true")
    assert mart["owners"]["technical_owner"][0]["id"] == "tara"
    got = api.get(where, "tara")
    assert (json_body(got), got.headers["etag"]) == (mart, made.headers["etag"])
    assert json_body(api.get(where, "bella"))["settings"] is None

    tag = {"If-Match": made.headers["etag"]}
    changed = api.call("PATCH", where, "tara", json={"name": "Visitors", "edges": {"contexts": ["emea"]}}, headers=tag)
    assert (json_body(changed)["name"], json_body(changed)["revision"]) == ("Visitors", 2)
    assert changed.headers["etag"] != made.headers["etag"]

    assert json_body(api.call("DELETE", where, "tara")) == {"restorable": False}
    problem(api.get(where, "tara"), 404, "not_found")


def test_two_edits_at_once(api: Api) -> None:
    where = "/api/v1/resources/orders"
    tag = {"If-Match": api.get(where, "erik").headers["etag"]}
    json_body(api.call("PATCH", where, "erik", json={"description": "First."}, headers=tag))
    problem(api.call("PATCH", where, "erik", json={"description": "Second."}, headers=tag), 412, "changed_meanwhile")
    problem(api.call("PATCH", where, "erik", json={"description": "Third."}), 428, "precondition_required")
    assert json_body(api.get(where, "erik"))["description"] == "First."


def test_the_right_comes_before_the_state(api: Api) -> None:
    where = "/api/v1/resources/orders"
    denied = problem(api.call("PATCH", where, "ana", json={"name": "Mine"}), 403, "forbidden")
    assert "editor" in denied["hint"].casefold()
    problem(api.call("PATCH", where, "nils", json={"name": "Mine"}), 404, "not_found")


def test_whoever_looks_the_tag_is_the_same(api: Api) -> None:
    tags = {api.get("/api/v1/resources/daily_sales", who).headers["etag"] for who in ("tara", "bella", "adam")}
    assert len(tags) == 1


def test_lists(api: Api) -> None:
    def ids(by: str, **params: object) -> list[str]:
        return [item["id"] for item in json_body(api.get("/api/v1/resources", by, params=params))["items"]]

    assert ids("ana", kind="lakehouse.table", search="sales", sort="-name") == ["sales_by_store", "sales_by_day"]
    assert ids("ana", kind="lakehouse.table", action="write") == ["customer_value"]
    assert ids("ana", kind=["lakehouse.table", "lakehouse.layer"], search="sha") == ["shaped"]
    assert ids("nils") == ["sales_cockpit"]
    assert set(ids("bella", within="sales", kind="marts.report")) >= {"morning_sales", "weekly_targets"}
    problem(api.get("/api/v1/resources", "bella", params={"within": "private"}), 404, "not_found")
    problem(api.get("/api/v1/resources", "bella", params={"kind": "marts.martian"}), 422, "invalid_input")


def test_pages_follow_each_other(api: Api) -> None:
    seen: list[str] = []
    params: Json = {"within": "lake_house", "limit": 5}
    while True:
        page = json_body(api.get("/api/v1/resources", "olga", params=params))
        seen += [item["id"] for item in page["items"]]
        if page["next"] is None:
            break
        params["after"] = page["next"]
    assert len(seen) == len(set(seen)) > 50


def test_a_destination_is_deleted_and_restored(api: Api) -> None:
    where = "/api/v1/resources/chat"
    assert json_body(api.call("DELETE", where, "boris")) == {"restorable": True}
    assert json_body(api.get(where, "boris"))["actions"] == ["see", "restore"]
    assert json_body(api.post(f"{where}/restore", "tim"))["attributes"]["deleted"] == "false"
    problem(api.post(f"{where}/restore", "tim"), 409, "conflict")


def test_a_move_tells_first_what_it_would_do(api: Api) -> None:
    where = "/api/v1/resources/orders/move"
    effects = json_body(api.post(f"{where}/preview", "mona", {"to": "shaped"}))
    assert any(group["kind"] == "lakehouse.table" and not group["gained"] for group in effects["groups"])
    problem(api.post(f"{where}/preview", "erik", {"to": "raw"}), 403, "forbidden")
    problem(api.post(where, "mona", {"to": "shaped"}), 428, "precondition_required")
    moved = json_body(api.post(where, "mona", {"to": "shaped"}, headers=ANY))
    assert moved["parent"]["id"] == "shaped"


def test_an_owner_hands_over(api: Api) -> None:
    where = "/api/v1/resources/lake/transfer"
    moved = json_body(api.post(where, "tara", {"role": "owner", "to": "tim"}))
    assert [who["id"] for who in moved["owners"]["owner"]] == ["tim"]
    problem(api.post(where, "boris", {"role": "owner", "to": "boris"}), 404, "not_found")


def test_workspaces(api: Api) -> None:
    made = json_body(api.post("/api/v1/workspaces", "adam", {"model": "marts", "name": "Second marts"}), 201)
    assert made["kind"] == "marts.project"
    listed = json_body(api.get("/api/v1/workspaces", "adam", params={"model": "marts"}))["items"]
    assert {item["id"] for item in listed} == {"sales", made["id"]}
    problem(api.post("/api/v1/workspaces", "bella", {"model": "marts", "name": "No"}), 403, "forbidden")
    where = f"/api/v1/workspaces/{made['id']}/members"
    body = {"subject": "ana", "roles": ["technical_user"], "attributes": {"scope": "selected_contexts"}}
    members = json_body(api.call("PUT", where, "adam", json=body))["items"]
    (ana,) = [one for one in members if one["subject"]["id"] == "ana"]
    assert ([role["role"] for role in ana["roles"]], ana["attributes"]) == (
        ["technical_user"],
        {"scope": "selected_contexts"},
    )
    assert ana["roles"][0]["until"] is None
    json_body(api.call("DELETE", where, "adam", params={"subject": "ana"}), 204)
    assert [one["subject"]["id"] for one in json_body(api.get(where, "adam"))["items"]] == ["adam"]


def test_kinds(api: Api) -> None:
    kinds = {kind["id"]: kind for kind in json_body(api.get("/api/v1/kinds", "nils"))["items"]}
    table = kinds["lakehouse.table"]
    assert (table["parent"], table["is_workspace"], kinds["lakehouse.lakehouse"]["is_workspace"]) == (
        "layer",
        False,
        True,
    )
    assert {edge["name"]: edge["to"] for edge in table["edges"]}["layer"] == ["lakehouse.layer"]
    assert kinds["marts.project"]["membership"][0]["name"] == "scope"
    assert not any(kind.startswith("tenant.") for kind in kinds)
    only = json_body(api.get("/api/v1/kinds", "nils", params={"model": "spaces"}))["items"]
    assert {kind["model"] for kind in only} == {"spaces"}


def test_made_once_with_one_key(api: Api) -> None:
    body = {"kind": "marts.destination", "name": "Pigeon", "edges": {"project": ["sales"]}}
    first, second = (api.post("/api/v1/resources", "bella", body, headers={"Idempotency-Key": "k1"}) for _ in range(2))
    assert json_body(first, 201) == json_body(second, 201)


def test_bad_input(api: Api) -> None:
    good = {"kind": "marts.storage", "name": "Disk", "edges": {"project": ["sales"]}}
    bad: list[Json] = [
        {"kind": "marts.martian"},
        {"name": ""},
        {"edges": {}},
        {"edges": {"project": "sales"}},
        {"edges": {"project": ["sales"], "moon": []}},
        {"attributes": {"discoverable": "perhaps"}},
        {"attributes": {"discoverable": 3}},
        {"description": "a\u0000b"},
        {"settings": []},
        {"colour": "red"},
    ]
    for wrong in bad:
        problem(api.post("/api/v1/resources", "tara", {**good, **wrong}), 422, "invalid_input")
