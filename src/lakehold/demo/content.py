"""The texts of the demo company: descriptions, requests and saved queries, each with the member who wrote
it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SavedQueryText:
    """A saved query: its SQL and the tables that it reads."""

    reads: tuple[str, ...]
    sql: str


SAVED_QUERIES: dict[str, dict[str, SavedQueryText]] = {
    "ana": {
        "Best shops this month": SavedQueryText(
            ("sales_by_store",),
            "SELECT store, sum(sold) AS sold\nFROM shaped.sales_by_store\n"
            "WHERE day >= date_trunc('month', current_date())\nGROUP BY store\nORDER BY sold DESC\nLIMIT 10",
        ),
        "Customers we may lose": SavedQueryText(
            ("customers", "orders"),
            "SELECT c.name, max(o.day) AS last\nFROM clean.customers c\nJOIN clean.orders o ON o.customer = c.id\n"
            "GROUP BY c.name\nHAVING max(o.day) < current_date() - INTERVAL 90 DAYS",
        ),
        "Pairs worth a shelf": SavedQueryText(
            ("basket_pairs",), "SELECT one, other, times\nFROM shaped.basket_pairs\nORDER BY times DESC\nLIMIT 50"
        ),
        "Slow items": SavedQueryText(
            ("items", "stock"),
            "SELECT i.name, s.pieces, s.moved\nFROM clean.items i\nJOIN clean.stock s ON s.item = i.id\n"
            "WHERE s.moved < current_date() - INTERVAL 60 DAYS",
        ),
        "What a customer is worth": SavedQueryText(
            ("customer_value",), "SELECT percentile(value, array(0.1, 0.5, 0.9)) AS spread\nFROM shaped.customer_value"
        ),
        "Orders by hour": SavedQueryText(
            ("orders",),
            "SELECT hour(placed) AS hour, count(*) AS orders\nFROM clean.orders\nGROUP BY ALL\nORDER BY hour",
        ),
    },
    "erik": {
        "Receipts without lines": SavedQueryText(
            ("tills", "order_lines"),
            "SELECT t.receipt\nFROM raw.tills t\nLEFT ANTI JOIN clean.order_lines l ON l.receipt = t.receipt",
        ),
        "Orders that came twice": SavedQueryText(
            ("orders",), "SELECT id, count(*) AS times\nFROM clean.orders\nGROUP BY id\nHAVING count(*) > 1"
        ),
        "Rows by hour": SavedQueryText(
            ("web_orders", "web_clicks"),
            "SELECT 'orders' AS what, hour(at) AS hour, count(*) AS n FROM raw.web_orders GROUP BY ALL\n"
            "UNION ALL\nSELECT 'clicks', hour(at), count(*) FROM raw.web_clicks GROUP BY ALL",
        ),
        "Shops without stock": SavedQueryText(
            ("stores", "stock"),
            "SELECT s.name\nFROM clean.stores s\nLEFT ANTI JOIN clean.stock k ON k.store = s.id AND k.pieces > 0",
        ),
        "Late shipments": SavedQueryText(
            ("shipments",),
            "SELECT id, due, arrived\nFROM clean.shipments\nWHERE coalesce(arrived, current_date()) > due",
        ),
    },
    "mona": {
        "Items without a supplier": SavedQueryText(
            ("items", "supplier_feed"),
            "SELECT i.id, i.name\nFROM clean.items i\nLEFT ANTI JOIN raw.supplier_feed f ON f.item = i.id",
        ),
        "Shops that changed address": SavedQueryText(
            ("stores",),
            "SELECT name, street, changed\nFROM clean.stores\nWHERE changed > current_date() - INTERVAL 1 YEAR",
        ),
        "Customers seen twice": SavedQueryText(
            ("customers",),
            "SELECT lower(email) AS email, count(*) AS times\nFROM clean.customers\nGROUP BY ALL\nHAVING count(*) > 1",
        ),
        "Bills that do not add up": SavedQueryText(
            ("invoices",), "SELECT id, net, tax, total\nFROM clean.invoices\nWHERE net + tax <> total"
        ),
    },
    "bella": {
        "My shops yesterday": SavedQueryText(
            ("sales_by_day",), "SELECT *\nFROM shaped.sales_by_day\nWHERE day = current_date() - INTERVAL 1 DAY"
        ),
        "Margin of my items": SavedQueryText(
            ("margin_by_item",), "SELECT item, margin\nFROM shaped.margin_by_item\nORDER BY margin"
        ),
    },
    "boris": {
        "Shelves to fill": SavedQueryText(
            ("stock_cover",), "SELECT store, item, days\nFROM shaped.stock_cover\nWHERE days < 3\nORDER BY days"
        )
    },
}

INITIAL_QUERIES: dict[str, tuple[str, str]] = {
    "ana_query": ("ana", "SELECT day, sum(sold) AS sold\nFROM shaped.sales_by_day\nGROUP BY day\nORDER BY day DESC"),
    "erik_query": (
        "erik",
        "SELECT s.name, count(*) AS n\nFROM clean.orders o\nJOIN clean.stores s ON s.id = o.store\nGROUP BY s.name",
    ),
}
"""Those that are there from the beginning: whose, and the text."""


DESCRIPTIONS: dict[str, dict[str, str]] = {
    "adam": {
        "sales": "Numbers for the shops: data marts, and the reports that go out of them.",
        "lake_house": "Everything the tills, the web shop and the warehouse write, in three layers and a private one.",
        "raw": "As it came. Nothing is mended here.",
        "clean": "One row for each thing, with one name for it.",
        "shaped": "Ready to be read by people.",
        "private": "Only for those who are named.",
        "salaries": "One row for each employee and month.",
        "board_plan": "The plan of the board for the next three years.",
    },
    "tara": {
        "lake": "Reads from the shaped layer of Store lake.",
        "webshop_db": "A copy of the web shop's database, an hour old at most.",
        "daily_sales": "Sales by day, shop and item, without returns.",
        "store_targets": "What each shop should sell in a month, and how far it is.",
        "returns": "What came back, why, and what was done with it.",
        "margins": "What is left of a sale after purchase and freight.",
        "loyalty": "Points and levels of the loyalty card.",
        "stock_levels": "What is on the shelf and in the warehouse, every morning.",
        "suppliers": "Orders, deliveries and bills by supplier.",
        "store_sheets": "One sheet for each shop, filled at six in the morning.",
        "finance_table": "The table that finance closes the month with.",
        "margin_book": "Margins by item, for the Monday meeting.",
        "supplier_bill": "What is to be paid this week.",
    },
    "tim": {
        "till_files": "Files that old tills still write.",
        "web_sessions": "Visits to the web shop, without names.",
        "baskets": "What is bought together.",
        "campaigns": "Letters and vouchers, and what they sold.",
        "staffing": "Hours planned and worked, by shop.",
        "price_changes": "Every price that was changed, and by whom.",
        "session_funnel": "How many who look also buy.",
    },
    "bella": {
        "board_mail": "To the board, every Monday at seven.",
        "morning_sales": "Yesterday in five numbers.",
        "weekly_targets": "Where each shop stands.",
        "month_end": "What finance keeps of every month.",
        "sales_cockpit": "Today's sales on one screen, for the shops.",
    },
    "boris": {
        "chat": "The channel of the shops in EMEA.",
        "returns_watch": "Says so when one item comes back too often.",
        "stock_alert": "Says so before a shelf is empty.",
    },
    "mona": {
        "tills": "Every receipt, as the till wrote it.",
        "web_orders": "Orders of the web shop.",
        "weather": "By town and hour, for everybody.",
        "orders": "One row for each order, of tills and web.",
        "order_lines": "One row for each item of an order.",
        "customers": "Customers who have told us who they are.",
        "stores": "Our 42 shops, with address and opening hours.",
        "items": "What we sell, with size, colour and supplier.",
        "stock": "How much of what is where.",
        "invoices": "What we billed and what we were billed.",
        "sales_by_day": "The table behind most reports.",
        "sales_by_store": "Sales added up by shop.",
        "basket_pairs": "Items that are bought together more often than by chance.",
        "margin_by_item": "Margin of every item, by month.",
        "customer_value": "What a customer is worth to us in a year.",
        "stock_cover": "For how many days the stock will do.",
        "make_orders": "Puts receipts and web orders into one table, every hour.",
        "day_totals": "Adds up the day at midnight.",
        "basket_study": "Which items belong together.",
        "masters": "One record for each customer, item and shop.",
        "customer": "Customers of all shops, without doubles.",
        "item": "One name for what every supplier calls otherwise.",
        "store_master": "Shops, warehouses and offices.",
    },
    "petra": {
        "landing": "Where data from outside arrives.",
        "ingest": "Brings in tills, web shop and stock.",
        "lake_link": "Writes to the raw layer.",
        "land_tills": "Every ten minutes.",
        "land_web": "As it happens.",
        "suppliers_360": "All that we know of a supplier.",
        "supplier": "One record for each supplier.",
    },
    "stella": {
        "serving": "What is ready for others to use.",
        "publish": "Makes sales and stock ready for the shops.",
        "serve_sales": "Sales of today, five minutes old at most.",
    },
    "dana": {
        "sources": "Connections to what other departments run.",
        "shop_gateway": "Stands in the server room of the first shop.",
        "till_link": "To the till server.",
        "erp_link": "To the books.",
        "crm_link": "To the letters and their readers.",
    },
    "erik": {"replicate": "Copies of the books and of the customer list."},
    "olga": {"olgas": "Notes for the board."},
}

DISCOVERABLE: dict[str, tuple[str, ...]] = {
    "tara": ("daily_sales", "returns", "stock_levels"),
    "mona": ("orders", "customer_value", "sales_by_store", "customer"),
    "stella": ("serving",),
}
"""Who lets what be found by its name."""

REQUESTS = (
    ("ana", "edit", "sales_by_day", "I add the new shops in Lyon, and one column is wrong."),
    ("nils", "see", "daily_sales", "I am new in the Lyon shop and plan the week with it."),
    ("bella", "edit", "store_targets", "Targets change on Monday, and I am asked for them."),
    ("tim", "read", "orders", "To find out why campaigns and orders differ."),
)
"""Who asks for what, and why."""

USAGE = {
    "olga": ("sales", "daily_sales", "morning_sales", "lake_house"),
    "adam": ("sales", "landing", "masters", "lake_house", "orders"),
    "tara": ("daily_sales", "margins", "lake", "stock_levels", "margin_book", "raw", "clean"),
    "tim": ("web_sessions", "baskets", "session_funnel", "supplier"),
    "bella": ("daily_sales", "morning_sales", "weekly_targets", "sales_by_day", "customer"),
    "boris": ("baskets", "basket_mix", "returns_watch", "stock_cover"),
    "ana": ("customer_value", "sales_by_store", "orders", "customers", "basket_pairs", "sales_by_day"),
    "erik": ("make_orders", "orders", "tills", "web_orders", "replicate", "web_link"),
    "mona": ("clean", "customers", "items", "masters", "customer", "day_totals"),
    "otto": ("landing", "land_tills", "land_web", "tills"),
    "petra": ("landing", "ingest", "land_tills", "suppliers_360"),
    "stella": ("serving", "publish", "serve_sales"),
    "dana": ("sources", "till_link", "erp_link"),
    "carla": ("customer", "item", "salaries"),
    "nils": ("sales_cockpit",),
}
"""What each has used lately, the newest first: a day between one and the next."""
