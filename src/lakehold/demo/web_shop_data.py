"""Generated data of the web shop, the same each time: order files, a customer database, and a local events API."""

import csv
import io
import json
import random
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import parse_qsl, urlsplit

_FIRST_DAY = datetime(2026, 9, 1, tzinfo=UTC)
_DAYS, _ORDERS, _CUSTOMERS, _EVENTS = 60, 2_400, 240, 1_500
_CITIES = ("Ulm", "Bonn", "Kiel", "Jena", "Graz", "Bern")
ITEMS = {"Lamp": 34.5, "Chair": 79.0, "Table": 240.0, "Shelf": 58.9, "Rug": 120.0, "Mirror": 45.0}
_TICKETS, _TOPICS = 600, ("Delivery", "Invoice", "Returns", "Account")
_PAGES = ("home", "search", "item", "basket", "pay")
_ORDER_FIELDS = ("order_id", "ordered_at", "customer_id", "item", "pieces", "price")


def generate_orders() -> Iterator[tuple[str, str]]:
    """Yield a file name and its CSV for each month."""
    chance = random.Random(_ORDERS)  # noqa: S311 - made up, and always the same
    months: dict[str, list[tuple[object, ...]]] = {}
    for number in range(_ORDERS):
        moment = _FIRST_DAY + timedelta(minutes=number * _DAYS * 1440 // _ORDERS + chance.randrange(30))
        item = chance.choice(list(ITEMS))
        row = (number, moment.isoformat(), chance.randrange(_CUSTOMERS), item, 1 + chance.randrange(3), ITEMS[item])
        months.setdefault(f"orders-{moment:%Y-%m}.csv", []).append(row)
    for name, rows in months.items():
        text = io.StringIO()
        csv.writer(text).writerows([_ORDER_FIELDS, *rows])
        yield name, text.getvalue()


def write_customers(file: Path) -> None:
    """Write a database with the customers and their support tickets."""
    chance = random.Random(_CUSTOMERS)  # noqa: S311 - as above
    rows = [(number, f"Customer {number}", chance.choice(_CITIES)) for number in range(_CUSTOMERS)]
    tickets = [_generate_ticket(chance, number) for number in range(_TICKETS)]
    connection = sqlite3.connect(file)
    with connection:
        connection.execute("CREATE TABLE customers (customer_id INTEGER PRIMARY KEY, name TEXT, city TEXT)")
        connection.executemany("INSERT INTO customers VALUES (?, ?, ?)", rows)
        connection.execute(
            "CREATE TABLE tickets (ticket_id INTEGER PRIMARY KEY, customer_id INTEGER, opened_on TEXT, topic TEXT,"
            " minutes INTEGER, solved INTEGER)"
        )
        connection.executemany("INSERT INTO tickets VALUES (?, ?, ?, ?, ?, ?)", tickets)
    connection.close()


def _generate_ticket(chance: random.Random, number: int) -> tuple[object, ...]:
    day = (_FIRST_DAY + timedelta(days=number * _DAYS // _TICKETS)).date().isoformat()
    return (
        number,
        chance.randrange(_CUSTOMERS),
        day,
        chance.choice(_TOPICS),
        5 + chance.randrange(55),
        chance.randrange(2),
    )


def generate_events(page: int, size: int = 200) -> list[dict[str, object]]:
    """Return a page of visitor events."""
    chance = random.Random(_EVENTS)  # noqa: S311 - as above
    events: list[dict[str, object]] = []
    for number in range(_EVENTS):
        moment = _FIRST_DAY + timedelta(minutes=55 * number + chance.randrange(50))
        step = {"id": number, "visit": f"v{number // 5:05}", "page": _PAGES[number % 5], "at": moment.isoformat()}
        events.append(step)
    return events[(page - 1) * size : page * size]


class _EventsHandler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        page = dict(parse_qsl(parts.query)).get("page", "1")
        found = parts.path == "/events" and page.isdecimal() and int(page) > 0
        payload = {"events": generate_events(int(page))} if found else {"error": "Ask for /events?page=1."}
        body = json.dumps(payload).encode()
        self.send_response(200 if found else 404)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Do not log requests."""


@contextmanager
def serve_events() -> Iterator[str]:
    """Serve the events API on this machine; yield its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _EventsHandler) as server:
        thread = Thread(target=server.serve_forever, daemon=True, name="events")
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
