"""What people of the company have kept of what they ask: the text, and the tables that it reads."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Kept:
    """A query that somebody keeps."""

    reads: tuple[str, ...]
    sql: str


QUERIES: dict[str, dict[str, Kept]] = {
    "ana": {
        "Best shops this month": Kept(
            ("sales_by_store",),
            "SELECT store, sum(sold) AS sold\nFROM shaped.sales_by_store\n"
            "WHERE day >= date_trunc('month', current_date())\nGROUP BY store\nORDER BY sold DESC\nLIMIT 10",
        ),
        "Customers we may lose": Kept(
            ("customers", "orders"),
            "SELECT c.name, max(o.day) AS last\nFROM clean.customers c\nJOIN clean.orders o ON o.customer = c.id\n"
            "GROUP BY c.name\nHAVING max(o.day) < current_date() - INTERVAL 90 DAYS",
        ),
        "Pairs worth a shelf": Kept(
            ("basket_pairs",), "SELECT one, other, times\nFROM shaped.basket_pairs\nORDER BY times DESC\nLIMIT 50"
        ),
        "Slow items": Kept(
            ("items", "stock"),
            "SELECT i.name, s.pieces, s.moved\nFROM clean.items i\nJOIN clean.stock s ON s.item = i.id\n"
            "WHERE s.moved < current_date() - INTERVAL 60 DAYS",
        ),
        "What a customer is worth": Kept(
            ("customer_value",), "SELECT percentile(value, array(0.1, 0.5, 0.9)) AS spread\nFROM shaped.customer_value"
        ),
        "Orders by hour": Kept(
            ("orders",),
            "SELECT hour(placed) AS hour, count(*) AS orders\nFROM clean.orders\nGROUP BY ALL\nORDER BY hour",
        ),
    },
    "erik": {
        "Receipts without lines": Kept(
            ("tills", "order_lines"),
            "SELECT t.receipt\nFROM raw.tills t\nLEFT ANTI JOIN clean.order_lines l ON l.receipt = t.receipt",
        ),
        "Orders that came twice": Kept(
            ("orders",), "SELECT id, count(*) AS times\nFROM clean.orders\nGROUP BY id\nHAVING count(*) > 1"
        ),
        "Rows by hour": Kept(
            ("web_orders", "web_clicks"),
            "SELECT 'orders' AS what, hour(at) AS hour, count(*) AS n FROM raw.web_orders GROUP BY ALL\n"
            "UNION ALL\nSELECT 'clicks', hour(at), count(*) FROM raw.web_clicks GROUP BY ALL",
        ),
        "Shops without stock": Kept(
            ("stores", "stock"),
            "SELECT s.name\nFROM clean.stores s\nLEFT ANTI JOIN clean.stock k ON k.store = s.id AND k.pieces > 0",
        ),
        "Late shipments": Kept(
            ("shipments",),
            "SELECT id, due, arrived\nFROM clean.shipments\nWHERE coalesce(arrived, current_date()) > due",
        ),
    },
    "mona": {
        "Items without a supplier": Kept(
            ("items", "supplier_feed"),
            "SELECT i.id, i.name\nFROM clean.items i\nLEFT ANTI JOIN raw.supplier_feed f ON f.item = i.id",
        ),
        "Shops that changed address": Kept(
            ("stores",),
            "SELECT name, street, changed\nFROM clean.stores\nWHERE changed > current_date() - INTERVAL 1 YEAR",
        ),
        "Customers seen twice": Kept(
            ("customers",),
            "SELECT lower(email) AS email, count(*) AS times\nFROM clean.customers\nGROUP BY ALL\nHAVING count(*) > 1",
        ),
        "Bills that do not add up": Kept(
            ("invoices",), "SELECT id, net, tax, total\nFROM clean.invoices\nWHERE net + tax <> total"
        ),
    },
    "bella": {
        "My shops yesterday": Kept(
            ("sales_by_day",), "SELECT *\nFROM shaped.sales_by_day\nWHERE day = current_date() - INTERVAL 1 DAY"
        ),
        "Margin of my items": Kept(
            ("margin_by_item",), "SELECT item, margin\nFROM shaped.margin_by_item\nORDER BY margin"
        ),
    },
    "boris": {
        "Shelves to fill": Kept(
            ("stock_cover",), "SELECT store, item, days\nFROM shaped.stock_cover\nWHERE days < 3\nORDER BY days"
        )
    },
}

FIRST: dict[str, tuple[str, str]] = {
    "ana_query": ("ana", "SELECT day, sum(sold) AS sold\nFROM shaped.sales_by_day\nGROUP BY day\nORDER BY day DESC"),
    "erik_query": (
        "erik",
        "SELECT s.name, count(*) AS n\nFROM clean.orders o\nJOIN clean.stores s ON s.id = o.store\nGROUP BY s.name",
    ),
}
"""Those that are there from the beginning: whose, and the text."""
