"""A create with an id of one's own does not tell which ids are taken."""

from __future__ import annotations

import pytest

from tests.api.client import Api, json_body, problem

HIDDEN, VISIBLE, DELETED, FREE = "salaries", "daily_sales", "gone_mart", "never_used"
MART: dict[str, object] = {
    "kind": "marts.data_mart",
    "name": "Footfall",
    "edges": {"project": ["sales"], "storage": ["lake"]},
    "settings": {"by": "sql", "sql": "SELECT 6"},
}


@pytest.fixture
def deleted(api: Api) -> None:
    """An id that was used once."""
    json_body(api.post("/api/v1/resources", "olga", {**MART, "id": DELETED}), 201)
    json_body(api.call("DELETE", f"/api/v1/resources/{DELETED}", "olga"))


@pytest.mark.usefixtures("deleted")
def test_every_id_is_answered_alike(api: Api) -> None:
    problem(api.get(f"/api/v1/resources/{HIDDEN}", "tara"), 404, "not_found")
    answers = [
        problem(api.post("/api/v1/resources", "tara", {**MART, "id": uid}), 403, "forbidden")
        for uid in (HIDDEN, VISIBLE, DELETED, FREE, "corner")
    ]
    alike = [{name: value for name, value in each.items() if name != "request_id"} for each in answers]
    assert alike == [alike[0]] * 5
    assert "choose the id" in str(alike[0]["detail"])


@pytest.mark.parametrize(
    ("path", "body", "who"),
    [
        ("/api/v1/workspaces", {"model": "spaces", "name": "Lab"}, "dana"),
        ("/api/v1/resources", MART, "tara"),
    ],
)
def test_the_platform_gives_ids(api: Api, path: str, body: dict[str, object], who: str) -> None:
    for uid in (HIDDEN, FREE):
        problem(api.post(path, who, {**body, "id": uid}), 403, "forbidden")
    once = {"Idempotency-Key": "lab-1"}
    made = [json_body(api.call("POST", path, who, json=body, headers=once), 201)["id"] for _ in range(2)]
    assert made[0] == made[1]


def test_those_who_see_the_audit_log_choose_ids(api: Api) -> None:
    """They can read there which ids are taken."""
    for path, body in (
        ("/api/v1/members", {"name": "Nia"}),
        ("/api/v1/groups", {"name": "Night shift"}),
        ("/api/v1/service-accounts", {"name": "Nightly"}),
        ("/api/v1/workspaces", {"model": "lakehouse", "name": "New lake"}),
    ):
        uid = f"own_{path.rpartition('/')[2]}"
        assert json_body(api.post(path, "adam", {**body, "id": uid}), 201)["id"] == uid
        taken = [problem(api.post(path, "adam", {**body, "id": each}), 409, "conflict") for each in (uid, HIDDEN)]
        assert {str(each["detail"]).replace(uid, HIDDEN) for each in taken} == {f"The id {HIDDEN!r} is taken."}
