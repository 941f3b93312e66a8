"""A change made in one process holds for the very next decision in every other."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from lakehold.access import AccessEngine
from lakehold.kit.clock import DAY, now
from lakehold.kit.database import Database
from tests.access.company import BOB_SEES, TENANT, create_company

# Answers one question for each line it is sent, from an index of its own that it keeps.
OTHER = """
import sys
from lakehold.access import AccessEngine
from lakehold.kit.database import Database

access = AccessEngine(Database(sys.argv[1]))
for line in sys.stdin:
    with access.read("acme") as session:
        answers = {
            session.check("bob", "see", "orders"),
            bool(session.list("bob", "see", "lakehouse.table").items),
            "bob" in session.who("see", "orders"),
        }
    print(*answers, flush=True)
"""


class OtherProcess:
    """Another process with the same database."""

    def __init__(self, url: str) -> None:
        self.process = subprocess.Popen(  # noqa: S603 - our own interpreter and text
            [sys.executable, "-c", OTHER, url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def answer(self) -> str:
        """Whether bob sees the table, as the other process decides now."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write("?\n")
        self.process.stdin.flush()
        return self.process.stdout.readline().strip()

    def end(self) -> None:
        """It ends when nobody asks any more."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.close()
        assert self.process.wait(30) == 0
        self.process.stdout.close()


@pytest.fixture
def other(database: Database, database_url: str) -> Iterator[tuple[AccessEngine, OtherProcess]]:
    access = create_company(database)
    process = OtherProcess(database_url)
    yield access, process
    process.end()


def test_a_grant_and_its_revoke_hold_at_once_elsewhere(other: tuple[AccessEngine, OtherProcess]) -> None:
    access, process = other
    assert process.answer() == "False"
    for _ in range(5):
        with access.write(TENANT) as session:
            session.store.add(BOB_SEES)
        assert process.answer() == "True"
        with access.write(TENANT) as session:
            session.store.remove(BOB_SEES)
        assert process.answer() == "False"


def test_a_reader_whose_clock_lags_does_not_bring_back_what_was_taken(database: Database) -> None:
    writer, late = create_company(database), AccessEngine(database, clock=lambda: now() - DAY)
    with writer.write(TENANT) as session:
        session.store.add(BOB_SEES)
    with late.read(TENANT) as session:
        assert session.check("bob", "see", "orders")
    with writer.write(TENANT) as session:
        session.store.remove(BOB_SEES)
    with late.read(TENANT) as session:
        assert not session.check("bob", "see", "orders")
        assert not session.list("bob", "see", "lakehouse.table").items
