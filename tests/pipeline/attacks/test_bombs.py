"""A query that wants all memory fails, and it alone: somebody else's is answered meanwhile and afterwards."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from itertools import count

import pytest

from tests.pipeline.attacks.texts import answered, leaked
from tests.pipeline.shop import ED, Shop

BOMBS = {
    "a text, worked out before it runs": "SELECT length(repeat('x', 2000000000))",
    "a text of each row": "SELECT length(repeat(name, 200000000)) FROM raw.customers",
    "a result": "SELECT repeat('x', 100000000) FROM raw.orders",
    "an array": "SELECT size(array_repeat(name, 2000000000)) FROM raw.customers",
    "a sequence": "SELECT size(sequence(1, 2000000000 + id)) FROM raw.customers",
    "arrays of arrays": "SELECT size(flatten(array_repeat(sequence(1, 1000000 + id), 1000))) FROM raw.customers",
    "a text that doubles": "SELECT length(aggregate(sequence(1, 40), name, (s, x) -> s || s)) FROM raw.customers",
}
_numbers = count()


def others(shop: Shop) -> None:
    assert shop.ask(ED, f"SELECT count(*), {next(_numbers)} FROM raw.customers")[0][0] == 5


@pytest.mark.parametrize("text", BOMBS.values(), ids=BOMBS)
def test_a_bomb_takes_nobody_else_down(shop: Shop, text: str) -> None:
    others(shop)
    with ThreadPoolExecutor(1) as pool:
        bomb = pool.submit(answered, shop, text)
        others(shop)
        became, told = bomb.result(120)
    assert became == "limit_reached"
    assert leaked(shop, text, told) == []
    others(shop)


def test_what_is_not_too_much_is_answered(shop: Shop) -> None:
    assert answered(shop, "SELECT length(repeat('x', 1000000)), size(sequence(1, 1000000))")[0] == "harmless"
    assert answered(shop, "SELECT count(*) FROM range(3000) a JOIN range(3000) b ON a.id <> b.id")[0] == "harmless"


def test_a_result_that_is_too_large_is_not_sent(shop: Shop) -> None:
    became, told = answered(shop, "SELECT repeat('x', 100000) FROM range(900)")
    assert (became, "larger than 64 MB" in told) == ("limit_reached", True)
