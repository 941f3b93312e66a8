"""What a source says goes to those who may edit its connection; others learn what they can do about it."""

from __future__ import annotations

import pytest

from lakehold.catalog import resources
from lakehold.kit.errors import LakeholdError
from lakehold.runs import worker_client
from tests.workspaces.spaces.space import ERIK, OTTO, ZOE, InlineSpace
from tests.workspaces.spaces.test_tasks import landing


@pytest.fixture(scope="module")
def broken(space: InlineSpace) -> str:
    """A connection whose user the database does not know."""
    with space.platform.write(ZOE) as ctx:
        items = ctx.session.list("zoe", "list", "spaces.connection", within="sources").items
        shop = next(ctx.view.uid(each.id) for each in items if each.name == "shop")
        settings = {**resources.get(ctx, shop).settings, "user": "nobody"}  # type: ignore[dict-item]
        return resources.create(ctx, "spaces.connection", "broken", edges={"space": "sources"}, settings=settings)


def test_whoever_designs_a_task_is_not_told_what_the_source_says(space: InlineSpace, broken: str) -> None:
    task = space.task("asks_broken", landing(broken, "any"))
    streams = {"connection": broken, "project": "ingest"}
    for who, name, request in (
        (OTTO, "spaces.prepare", {"task": task}),
        (ERIK, "spaces.prepare", {"task": task}),
        (ERIK, "spaces.streams", streams),
    ):
        with pytest.raises(LakeholdError) as found:
            worker_client.probe(space.platform, who, name, request)
        assert "denied access: …" in found.value.message


def test_the_owner_of_the_connection_is_told(space: InlineSpace, broken: str) -> None:
    with pytest.raises(LakeholdError, match="FATAL: role"):
        worker_client.probe(
            space.platform, ZOE, "spaces.connection", {"connection": broken, "settings": _stored(space, broken)}
        )


def _stored(space: InlineSpace, connection: str) -> object:
    with space.platform.read(ZOE) as ctx:
        return dict(resources.get(ctx, connection).settings or {})
