"""Lineage over HTTP: as far as the caller sees, and of the rest only that there is more."""

from __future__ import annotations

import pytest

from tests.api.client import Api, Json


def lineage(api: Api, by: str, uid: str, path: str = "", **params: int) -> Json:
    answer = api.get(f"/api/v1/lineage/{uid}{path}", by, params=params)
    assert answer.status_code == 200, answer.text
    return answer.json()


def steps(side: Json) -> dict[str, int]:
    return {item["id"]: item["steps"] for item in side["items"]}


def test_an_owner_sees_all_of_it_both_ways(corner: Api) -> None:
    found = lineage(corner, "olga", "orders")
    assert steps(found["up"]) == {"make_orders": 1, "tills": 2, "web_orders": 2, "till_source": 3, "shop_source": 3}
    down = steps(found["down"])
    assert (down["day_totals"], down["sales_by_day"], down["to_finance"]) == (1, 2, 3)
    assert not found["up"]["more"]
    assert {"source": "tills", "target": "make_orders"} in found["up"]["links"]
    assert {"source": "day_totals", "target": "sales_by_day"} in found["down"]["links"]


def test_what_one_may_not_see_is_more_and_nothing_else(corner: Api) -> None:
    found = lineage(corner, "ana", "orders")
    assert found["up"] == {"items": [], "links": [], "more": True, "cut": False}
    assert found["down"]["more"]
    text = str(found)
    for hidden in ("tills", "make_orders", "till_source", "erik_query"):
        assert hidden not in text


def test_so_many_steps_are_looked_at_as_were_asked_for(corner: Api) -> None:
    assert steps(lineage(corner, "olga", "orders", depth=1)["up"]) == {"make_orders": 1}
    near = steps(lineage(corner, "olga", "orders", "/impact", depth=1))
    assert set(near.values()) == {1}
    assert {"day_totals", "store_totals"} <= near.keys()


def test_a_source_leads_to_what_its_streams_write(corner: Api) -> None:
    down = steps(lineage(corner, "olga", "till_source")["down"])
    assert (down["tills"], down["payments"], down["make_orders"]) == (1, 1, 2)


@pytest.mark.parametrize(("by", "uid", "status"), [("ana", "salaries", 404), ("olga", "clean", 422)])
def test_what_is_hidden_or_has_no_lineage_is_refused(corner: Api, by: str, uid: str, status: int) -> None:
    assert corner.get(f"/api/v1/lineage/{uid}", by).status_code == status
    assert corner.get(f"/api/v1/lineage/{uid}/impact", by).status_code == status
