"""Made-up orders, customers and visits of a web shop: the same each time."""

from __future__ import annotations

import csv
import io
import random
import sqlite3
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

_FIRST = datetime(2026, 9, 1, tzinfo=UTC)
_DAYS, _ORDERS, _CUSTOMERS, _EVENTS = 60, 2_400, 240, 1_500
_CITIES = ("Ulm", "Bonn", "Kiel", "Jena", "Graz", "Bern")
_ITEMS = {"Lamp": 34.5, "Chair": 79.0, "Table": 240.0, "Shelf": 58.9, "Rug": 120.0, "Mirror": 45.0}
_PAGES = ("home", "search", "item", "basket", "pay")
_FIELDS = ("order_id", "ordered_at", "customer_id", "item", "pieces", "price")


def orders() -> Iterator[tuple[str, str]]:
    """Files: a name and CSV for each month."""
    chance = random.Random(_ORDERS)  # noqa: S311 - made up, and always the same
    months: dict[str, list[tuple[object, ...]]] = {}
    for number in range(_ORDERS):
        moment = _FIRST + timedelta(minutes=number * _DAYS * 1440 // _ORDERS + chance.randrange(30))
        item = chance.choice(list(_ITEMS))
        row = (number, moment.isoformat(), chance.randrange(_CUSTOMERS), item, 1 + chance.randrange(3), _ITEMS[item])
        months.setdefault(f"orders-{moment:%Y-%m}.csv", []).append(row)
    for name, rows in months.items():
        text = io.StringIO()
        csv.writer(text).writerows([_FIELDS, *rows])
        yield name, text.getvalue()


def customers(file: Path) -> None:
    """A database with one table."""
    chance = random.Random(_CUSTOMERS)  # noqa: S311 - as above
    rows = [(number, f"Customer {number}", chance.choice(_CITIES)) for number in range(_CUSTOMERS)]
    connection = sqlite3.connect(file)
    with connection:
        connection.execute("CREATE TABLE customers (customer_id INTEGER PRIMARY KEY, name TEXT, city TEXT)")
        connection.executemany("INSERT INTO customers VALUES (?, ?, ?)", rows)
    connection.close()


def events(page: int, size: int = 200) -> list[dict[str, object]]:
    """A page of what visitors did."""
    chance = random.Random(_EVENTS)  # noqa: S311 - as above
    made: list[dict[str, object]] = []
    for number in range(_EVENTS):
        moment = _FIRST + timedelta(minutes=55 * number + chance.randrange(50))
        step = {"id": number, "visit": f"v{number // 5:05}", "page": _PAGES[number % 5], "at": moment.isoformat()}
        made.append(step)
    return made[(page - 1) * size : page * size]
