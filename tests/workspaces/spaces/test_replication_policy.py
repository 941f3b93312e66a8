"""What a task replicates is data that is sent: the tenant's network policy decides where to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import psycopg

from lakehold.catalog import network_policy
from lakehold.kit.network_policy import SCHEMA
from tests.workspaces.spaces.space import ADA, PREPARE, InlineSpace
from tests.workspaces.spaces.test_tasks import fill, landing, reference


@contextmanager
def policy(space: InlineSpace, **lists: object) -> Iterator[None]:
    """The tenant's network policy is this for a while."""

    def set_policy(settings: Mapping[str, object]) -> None:
        with space.platform.write(ADA) as ctx:
            network_policy.save(ctx, SCHEMA.parse(settings))

    set_policy(lists)
    try:
        yield
    finally:
        set_policy({})


def test_rows_go_to_no_host_that_data_may_only_be_read_from(
    space: InlineSpace, source: psycopg.Connection, shop: str
) -> None:
    fill(source, "kept")
    with policy(space, source_hosts=["127.0.0.1"], destination_hosts=["elsewhere.example.org"]):
        land = space.make("kept", landing(shop, "kept"))
        space.run(land)
        tables = [{"source": reference(land, "kept"), "table": "sent_away"}]
        settings = {"type": "replication", "connection": shop, "tables": tables}
        sending = space.task("sends", settings)
        refused = space.start(sending, PREPARE)
        assert (refused.state, "does not allow data to be sent" in refused.error) == ("failed", True)
    space.prepare(sending)
    with policy(space, source_hosts=["127.0.0.1"], destination_hosts=["elsewhere.example.org"]):
        refused = space.start(sending)
        assert (refused.state, "does not allow data to be sent" in refused.error) == ("failed", True)
    assert source.execute("SELECT to_regclass('sent_away')").fetchone() == (None,)
    with policy(space, destination_hosts=["127.0.0.1"]):
        space.run(sending)
    assert source.execute("SELECT count(*) FROM sent_away").fetchone() == (3,)
