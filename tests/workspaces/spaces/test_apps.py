"""Apps: who sees their data, and that nobody sees what lies behind them."""

from __future__ import annotations

import pytest

from lakehold.access import Edge, Remove
from lakehold.catalog import resources
from lakehold.directory.caller import Caller
from lakehold.directory.errors import DeniedError, HiddenError
from lakehold.kit.errors import ForbiddenError
from lakehold.kit.settings_schema import InvalidSettingError
from lakehold.workspaces.spaces.apps import app_data
from tests.workspaces.spaces.dashboard import APP, DATASET, SOURCE_WORDS, Dashboard, sum_of
from tests.workspaces.spaces.space import CARL, ERIK, TENANT, VITO


def rows(charts: list[dict[str, object]]) -> list[object]:
    return [each["rows"] for each in charts]


def test_the_maker_and_those_whom_it_is_shared_with_see_the_data(board: Dashboard) -> None:
    app = board.app(None, "nora")
    for member in ("carl", "nora"):
        assert rows(board.data(member, app)) == [[["north", 15], ["o'west", 7], ["south", 30]]]


def test_every_type_of_chart_is_one_query(board: Dashboard) -> None:
    total, number = sum_of("amount", "total"), {"how": "count", "name": "orders"}
    charts = [
        board.chart("Line", type="line", group_by=["day"], period="month"),
        board.chart("Area", type="area", series=[total, number], sort="value", descending=True),
        board.chart("Scatter", type="scatter", series=[total, number]),
        board.chart("Number", type="number", group_by=[], series=[total, number]),
        board.chart("Table", type="table", group_by=["region", "fruit"], limit=2),
        board.chart("Rows", type="table", group_by=["fruit", "amount"], series=[]),
        board.chart("Tree", type="treemap", sort="value", descending=True, limit=1),
    ]
    found = board.data("carl", board.app(board.settings(*charts)))
    assert rows(found) == [
        [["2026-01-01", 10], ["2026-02-01", 35], ["2026-03-01", 7]],
        [["south", 30, 1], ["north", 15, 2], ["o'west", 7, 1]],
        [["north", 15, 2], ["o'west", 7, 1], ["south", 30, 1]],
        [[52, 4]],
        [["north", "apple", 10], ["north", "pear", 5]],
        [["apple", 10], ["apple", 30], ["fig", 7], ["pear", 5]],
        [["south", 30]],
    ]
    assert [each["complete"] for each in found] == [True, True, True, True, False, True, False]


def test_filters_act_on_all_charts_with_their_column(board: Dashboard) -> None:
    app = board.app(board.settings(board.chart(), board.chart("Sum", type="number", group_by=[])), "nora")
    assert rows(board.data("nora", app, Region="north")) == [[["north", 15]], [[15]]]
    assert rows(board.data("nora", app, Region="o'west")) == [[["o'west", 7]], [[7]]]
    assert rows(board.data("nora", app, Day="2026-02-01..2026-02-28")) == [[["north", 5], ["south", 30]], [[35]]]
    assert rows(board.data("nora", app, Day="2026-03-01..", Fruit="ig")) == [[["o'west", 7]], [[7]]]
    several = board.client("nora").get(
        f"/api/v1/apps/{app}/data", params={"filter": ["Region", "Region"], "value": ["north", "south"]}
    )
    assert several.json()["charts"][0]["rows"] == [["north", 15], ["south", 30]]


HOSTILE = (
    "' OR 1=1 --",
    "north') UNION SELECT 1, 2 --",
    "\\' OR true OR \\'",
    "`region`",
    "${x}",
    "\x27; DROP TABLE x",
)


@pytest.mark.parametrize("value", HOSTILE)
def test_a_filter_value_is_only_ever_a_value(board: Dashboard, shared: str, value: str) -> None:
    assert rows(board.data("nora", shared, Region=value)) == [[]]
    assert rows(board.data("nora", shared, Fruit=value)) == [[]]


@pytest.fixture(scope="module")
def shared(board: Dashboard) -> str:
    """An app that Nora views."""
    return board.app(None, "nora")


@pytest.mark.parametrize(
    ("name", "value"),
    [("Day", "x' OR 1=1..2"), ("Day", "2026-01-01"), ("amount", "1"), ("quantity", "1"), ("Fruit", "x" * 600)],
)
def test_a_filter_that_cannot_be_used_is_refused_by_name(board: Dashboard, shared: str, name: str, value: str) -> None:
    found = board.client("nora").get(f"/api/v1/apps/{shared}/data", params={"filter": name, "value": value})
    assert found.status_code == 422, found.text
    assert found.json()["field"] in {"filter", "value"}


def leaks(board: Dashboard, text: str) -> list[str]:
    """The names of what lies behind the app that a text has."""
    return [word for word in (*SOURCE_WORDS, board.task) if word in text]


def test_a_viewer_finds_nothing_of_the_source(board: Dashboard) -> None:
    gone = board.chart("Gone", group_by=["nothing_there"])
    app = board.app(board.settings(board.chart(), gone), "nora")
    client = board.client("nora")
    for path in (
        f"/api/v1/apps/{app}/data",
        f"/api/v1/apps/{app}/data?filter=Region&value=x",
        f"/api/v1/apps/{app}/data?filter=Nope&value=x",
        f"/api/v1/resources/{app}",
        f"/api/v1/lineage/{app}",
        f"/api/v1/access/who?resource={app}&action=view",
        "/api/v1/resources",
        "/api/v1/queries",
        "/api/v1/me",
    ):
        found = client.get(path)
        assert leaks(board, found.text) == [], path
    for action in ("view", "edit"):
        why = client.post("/api/v1/access/explain", json={"resource": app, "action": action})
        assert why.status_code == 200, why.text
        assert leaks(board, why.text) == [], why.text
    (_, broken) = board.data("nora", app)
    assert broken["error"] == {
        "code": "column_missing", "detail": "A column that it needs is gone.", "hint": "Ask the owner of the app.",
    }  # fmt: skip
    (_, own) = board.data("carl", app)
    assert "nothing_there" in str(own["error"])
    assert client.get(f"/api/v1/resources/{board.task}").status_code == 404


def test_a_link_alone_opens_nothing(board: Dashboard, shared: str) -> None:
    for member in ("liam", "olga", "erik", "vera"):
        found = board.client(member).get(f"/api/v1/apps/{shared}/data")
        assert found.status_code == 404, member
        assert APP not in found.text
    # That it exists and whose it is, not its data.
    assert board.client("ada").get(f"/api/v1/apps/{shared}/data").status_code == 403
    assert board.client("carl").get(f"/api/v1/apps/{board.task}/data").status_code in {403, 404, 422}


def test_it_is_shared_with_everybody_by_the_group_all(board: Dashboard) -> None:
    app = board.app()
    assert board.client("liam").get(f"/api/v1/apps/{app}/data").status_code == 404
    board.space.grant(f"{TENANT}/all", "viewer", app)
    assert rows(board.data("liam", app)) == [[["north", 15], ["o'west", 7], ["south", 30]]]


def test_it_shows_nothing_when_its_maker_loses_can_consume_data(board: Dashboard, shared: str) -> None:
    board.space.revoke("carl", "can_consume_data", "sales")
    # The right of a viewer does not stand in for it.
    board.space.grant("nora", "can_consume_data", "sales")
    try:
        for member in ("nora", "carl"):
            found = board.client(member).get(f"/api/v1/apps/{shared}/data")
            assert (found.status_code, found.json()["code"]) == (409, "app_without_data")
            assert "north" not in found.text
    finally:
        board.space.grant("carl", "can_consume_data", "sales")
        board.space.revoke("nora", "can_consume_data", "sales")
    assert board.data("nora", shared)


def test_a_narrowed_token_needs_the_right_to_view(board: Dashboard, shared: str) -> None:
    path = f"/api/v1/apps/{shared}/data"
    assert board.client("nora", frozenset({"see"})).get(path).status_code == 403
    found = board.client("nora", frozenset({"see", "view"})).get(path).json()
    assert rows(found["charts"]) == [[["north", 15], ["o'west", 7], ["south", 30]]]


def test_whoever_views_as_somebody_sees_no_data(board: Dashboard, shared: str) -> None:
    with (
        pytest.raises(ForbiddenError, match="shows no data"),
        board.space.platform.read(Caller(TENANT, "nora", impersonator="ada")) as ctx,
    ):
        app_data.need_view(ctx, shared)


def test_only_with_can_consume_data_on_every_task_is_it_made(board: Dashboard) -> None:
    for other in (VITO, ERIK):
        with pytest.raises(DeniedError):
            board.app(by=other)
    app = board.app()
    with board.space.platform.read(CARL) as ctx:
        assert [end.uid for end in resources.get(ctx, app).edges["uses"]] == [board.task]
    board.space.revoke("carl", "can_consume_data", "sales")
    board.space.grant("carl", "can_view", "sales")
    try:
        board.space.edit(app, {}, by=CARL)
        with pytest.raises(DeniedError):
            board.space.edit(app, board.settings(), by=CARL)
    finally:
        board.space.grant("carl", "can_consume_data", "sales")
        board.space.revoke("carl", "can_view", "sales")


def test_a_dataset_of_a_space_that_the_maker_does_not_know_is_refused_like_one_that_is_not(board: Dashboard) -> None:
    with board.space.platform.access.write(TENANT) as session:
        session.store.create("spaces.project", "depot", uid="depot", edges={"space": "sources"}, creator="zoe")
        session.store.create("spaces.task", "hidden", uid="hidden", edges={"project": "depot"}, creator="zoe")
    for task in ("hidden", "nothing"):
        with pytest.raises((InvalidSettingError, HiddenError), match=f"'{task}'"):
            board.app(board.settings(board.chart(source={"task": task, "dataset": "rows"})))


def test_what_an_app_does_not_use_by_an_edge_is_not_read(board: Dashboard) -> None:
    """The right that the model asks for is that on the ends of the edges."""
    with board.space.platform.access.write(TENANT) as session:
        session.store.create("spaces.task", "spare", uid="spare", edges={"project": "ingest"}, creator="petra")
    spare = board.chart("Spare", source={"task": "spare", "dataset": "rows"})
    app = board.app(board.settings(board.chart(), spare), "nora")
    with board.space.platform.access.write(TENANT) as session:
        session.store.apply(Remove(Edge("uses", app, board.task)))
    found = board.data("nora", app)
    assert [each["error"]["detail"] for each in found] == ["Its data is not prepared."] * 2  # type: ignore[index]


def test_an_app_without_charts_says_so(board: Dashboard) -> None:
    app = board.app()
    board.space.edit(app, {}, by=CARL)
    found = board.client("carl").get(f"/api/v1/apps/{app}/data")
    assert (found.status_code, found.json()["detail"]) == (409, "The app has no charts yet.")


def test_reads_are_audited_with_what_they_read(board: Dashboard, shared: str) -> None:
    board.data("nora", shared)
    board.space.platform.reads.flush()
    params = {"log": "reads", "member": "nora", "resource": shared}
    (entry, *_) = board.client("ada").get("/api/v1/access/audit", params=params).json()["items"]
    assert (entry["action"], entry["after"]["rows"]) == ("view", 3)
    assert board.space.dataset(board.task, DATASET) in str(entry)
