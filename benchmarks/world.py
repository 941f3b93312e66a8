"""Everything that a benchmark run needs, set up once and released at the end."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.databases import LoadedDatabase, load
from benchmarks.facts import Facts, company
from benchmarks.floor import Floor
from benchmarks.oso_listing import OsoListing
from benchmarks.peers import Peer, peers
from benchmarks.postgres import server
from benchmarks.questions import Questions, questions


@dataclass(frozen=True, slots=True)
class World:
    """The company in both databases, with all contenders."""

    folder: Path
    facts: Facts
    questions: Questions
    databases: dict[str, LoadedDatabase]
    """`SQLite` and `PostgreSQL`."""
    urls: dict[str, str]
    floor: Floor
    peers: dict[str, Peer]
    oso: dict[str, OsoListing]


@contextmanager
def world(say: Callable[[str], None]) -> Iterator[World]:
    """Set up, which takes about a minute."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="lakehold-bench-")))
        say("making up the company")
        facts = company()
        asked = questions(facts)
        urls = {"SQLite": f"sqlite:///{folder / 'lakehold.sqlite'}", "PostgreSQL": stack.enter_context(server())}
        databases: dict[str, LoadedDatabase] = {}
        for name, url in urls.items():
            say(f"loading it into {name}")
            databases[name] = load(url, facts)
            stack.callback(databases[name].access.database.close)
        floor = Floor(folder / "lakehold.sqlite", databases["SQLite"].numbers)
        stack.callback(floor.close)
        say("loading it into the peers")
        oso_urls = {
            "SQLite": f"sqlite:///{folder / 'oso.sqlite'}",
            "PostgreSQL": str(databases["PostgreSQL"].access.database.url),
        }
        oso = {name: OsoListing(url, facts) for name, url in oso_urls.items()}
        for listing in oso.values():
            stack.callback(listing.close)
        yield World(folder, facts, asked, databases, urls, floor, peers(facts, asked.wide), oso)
