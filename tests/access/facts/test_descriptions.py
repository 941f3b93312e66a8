"""Facts in words, for a log and for a member who reads them."""

from __future__ import annotations

from pathlib import Path

from lakehold.access import AccessEngine, Attribute, Edge, Grant
from lakehold.access.facts.descriptions import describe_fact, describe_in_entry
from lakehold.access.facts.records import Fact
from lakehold.access.model.policy import MEMBER_OF
from lakehold.kit.database import Database
from tests.demo_company import TENANT, corner_file

__all__ = ["corner_file"]

WORDS: list[tuple[Fact, str, str, str]] = [
    (
        Grant("erik", "editor", "orders"),
        "Editor on table orders for member Erik, Engineer",
        "Editor on orders",
        "editor erik",
    ),
    (
        Edge(MEMBER_OF, "erik", "engineers"),
        "membership in group Engineers for member Erik, Engineer",
        "membership in Engineers",
        "member erik",
    ),
    (Edge("layer", "orders", "clean"), "layer of table orders: layer Clean", "layer of orders: Clean", "layer clean"),
    (
        Attribute("suppliers", "shared_for_reporting", "true"),
        "shared for reporting: on for data mart Suppliers",
        "shared for reporting: on for Suppliers",
        "shared_for_reporting true",
    ),
    (
        Attribute("sales", "scope", "selected_contexts", "erik"),
        "scope: selected contexts in project Sales marts for member Erik, Engineer",
        "scope: selected contexts in Sales marts",
        "scope selected_contexts of erik",
    ),
]


def test_facts_are_described_for_a_log_for_a_reader_and_in_an_entry(corner_file: Path) -> None:
    database = Database(f"sqlite:///{corner_file}")
    with AccessEngine(database).read(TENANT) as session:
        view = session.current_view()
        for fact, full, for_erik, in_entry in WORDS:
            assert describe_fact(view, fact) == full
            assert describe_fact(view, fact, "erik") == for_erik
            assert describe_fact(view, fact, "ana").endswith("for Erik, Engineer") == ("for member" in full)
            assert describe_in_entry(fact) == in_entry
    database.close()
