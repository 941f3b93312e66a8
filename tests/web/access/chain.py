"""A right that nobody can give."""

from __future__ import annotations

from itertools import pairwise

from lakehold.access.facts.records import Edge
from lakehold.directory.caller import Caller
from tests.web.demo import Shop


def join_too_many(shop: Shop) -> None:
    """Join so many data marts to Daily sales, one behind the other, that no report of it can be run."""
    with shop.platform.write(Caller("corner", "olga")) as ctx:
        store = ctx.session.store
        chain = [
            "daily_sales",
            *(store.create("marts.data_mart", f"Joined {n}", edges={"project": "sales"}) for n in range(6)),
        ]
        for mart, joined in pairwise(chain):
            store.add(Edge("joins", mart, joined))
