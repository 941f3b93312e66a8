"""Notifications over REST."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lakehold.access import Grant
from lakehold.directory.platform import Platform
from tests.access.company import TENANT
from tests.api.client import Api, json_body, problem, serve_api
from tests.workspaces.marts.notifications.sales_project import MART, SalesProject

HERE = "/api/v1/projects/sales/notifications"
DEFAULT_ON, DEFAULT_OFF = {"on": True, "by": "default"}, {"on": False, "by": "default"}


@pytest.fixture
def api(platform: Platform, sales_project: SalesProject) -> Iterator[Api]:
    assert sales_project.platform is platform
    with serve_api(platform, TENANT) as found:
        yield found


def receivers(api: Api, by: str, **asked: object) -> dict[str, dict[str, bool]]:
    items = json_body(api.get(f"{HERE}/receivers", by, params=asked))["items"]
    return {
        each["member"]["id"]: {name: way["on"] for name, way in each["channels"].items() if way["on"]} for each in items
    }


def test_channels_are_switched_by_who_keeps_the_settings(api: Api) -> None:
    channels = {"failed_runs": True, "broken_checks": True, "succeeded_runs": False}
    found = json_body(api.get(HERE, "ben"))
    assert found == {"channels": channels, "mails": True, "may_manage": False, "owners_too_low": []}
    refused = problem(api.call("PUT", HERE, "tess", json={"failed_runs": False}), 403, "forbidden")
    assert "Project Admin" in refused["missing"]
    changed = json_body(api.call("PUT", HERE, "pam", json={"succeeded_runs": True, "failed_runs": False}))
    assert changed["channels"] == {"failed_runs": False, "broken_checks": True, "succeeded_runs": True}
    assert (changed["may_manage"], json_body(api.get(HERE, "ben"))["channels"]) == (True, changed["channels"])
    problem(api.call("PUT", HERE, "pam", json={"failed_rums": False}), 422, "invalid_input")
    problem(api.call("PUT", HERE, "pam", json={"failed_runs": "maybe"}), 422, "invalid_input")
    problem(api.get(HERE, "ned"), 404, "not_found")
    problem(api.call("PUT", HERE, "ned", json={}), 404, "not_found")
    problem(api.get(f"/api/v1/projects/{MART}/notifications", "pam"), 422, "invalid_input")


def test_receivers_are_listed_searched_and_paged(api: Api) -> None:
    both = {"failed_runs": True, "broken_checks": True, "succeeded_runs": True}
    # The project does not tell of success yet, and technical people would be told.
    assert receivers(api, "pam") == {"ada": {}, "ann": {}, "ben": {}, "pam": both, "tess": both}
    assert receivers(api, "pam", search="TE") == {"tess": both}
    assert receivers(api, "ben") == {"ben": {}}
    first = json_body(api.get(f"{HERE}/receivers", "pam", params={"limit": 3}))
    second = json_body(api.get(f"{HERE}/receivers", "pam", params={"limit": 3, "after": first["next"]}))
    assert [each["member"]["id"] for each in (*first["items"], *second["items"])] == [
        "ada",
        "ann",
        "ben",
        "pam",
        "tess",
    ]
    assert second["next"] is None
    (ada, _, ben) = first["items"]
    assert (ada["role"], ada["joined"], ben["role"], ben["joined"]) == ("admin", False, "business_user", True)
    assert (ada["reachable"], ben["channels"]["failed_runs"]) == (True, DEFAULT_OFF)


def test_one_chooses_for_oneself_and_who_keeps_the_settings_for_all(api: Api) -> None:
    ben, tess = f"{HERE}/receivers/ben", f"{HERE}/receivers/tess"
    chosen = json_body(api.call("PUT", ben, "ben", json={"failed_runs": True}))
    assert chosen["channels"]["failed_runs"] == {"on": True, "by": "choice"}
    assert chosen["channels"]["broken_checks"] == DEFAULT_OFF
    problem(api.call("PUT", tess, "ben", json={"failed_runs": False}), 403, "forbidden")
    kept = json_body(api.call("PUT", ben, "pam", json={"broken_checks": True}))
    assert kept["channels"]["failed_runs"] == {"on": True, "by": "choice"}
    back = json_body(api.call("PUT", ben, "pam", json={"failed_runs": None, "broken_checks": None}))
    assert back["channels"] == dict.fromkeys(back["channels"], DEFAULT_OFF)
    off = json_body(api.call("PUT", tess, "pam", json={"failed_runs": False}))
    assert off["channels"]["failed_runs"] == {"on": False, "by": "choice"}
    assert off["channels"]["broken_checks"] == DEFAULT_ON
    missing = problem(api.call("PUT", f"{HERE}/receivers/ned", "pam", json={"failed_runs": True}), 422, "invalid_input")
    assert "not in the project" in missing["detail"]
    problem(api.call("PUT", f"{HERE}/receivers/nobody", "pam", json={"failed_runs": True}), 404, "not_found")
    problem(api.call("PUT", f"{HERE}/receivers/ned", "ned", json={"failed_runs": True}), 404, "not_found")


def test_a_narrowed_token_changes_nothing_of_its_member(api: Api) -> None:
    token = api.token("ben", actions=frozenset({"see"}))
    there = f"{HERE}/receivers/ben"
    problem(api.call("PUT", there, token=token, json={"failed_runs": True}), 403, "forbidden")


def test_owners_whose_role_is_too_low_are_named(api: Api, sales_project: SalesProject) -> None:
    sales_project.add_grants(Grant("ben", "technical_owner", MART))
    (found,) = json_body(api.get(HERE, "pam"))["owners_too_low"]
    assert (found["mart"]["name"], found["owner"]["name"]) == ("Orders", "Ben")
    assert json_body(api.get(HERE, "ben"))["owners_too_low"] == [found]
    assert json_body(api.get(HERE, "tess"))["owners_too_low"] == []
