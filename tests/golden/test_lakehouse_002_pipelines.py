"""Seed 002, sentences on sources, queries, notebooks, histories, destinations and integrations, with the bullets of
access-models.md (lakehouse). Each row: what mia holds, what she asks, and the answer."""

from __future__ import annotations

from collections.abc import Iterator

from lakehold.access.facts.records import Add, Attribute, Draft, Edge
from tests.golden.grid import AccessQuestion, rows
from tests.golden.lakehouse_world import PIPELINES, lakehouse, new, with_levels
from tests.world import World

Levels = dict[str, str]
Case = tuple[str, Levels, AccessQuestion, bool]

ALL_ACTIONS = {"see", "see_runs", "edit", "activate", "deactivate", "trigger", "stop", "delete"}
# One action that each level adds, for rows in which any action of the level will do.
ADDS = {"viewer": "see", "editor": "edit", "manager": "delete"}


def works(**levels: str) -> World:
    """The lakehouse with pipelines that have something missing, switched off or elsewhere."""
    world = with_levels(**levels)
    world.add("lakehouse.query", "cross", lakehouse="lh", reads=["orders", "totals"], writes="items", into="bronze")
    world.add("lakehouse.query", "planned", lakehouse="lh", reads="orders", writes="gold", into="gold")
    world.add("lakehouse.query", "bare", lakehouse="lh", into="gold")
    world.add("lakehouse.query", "loose", lakehouse="lh")
    world.add("lakehouse.destination", "nowhere", lakehouse="lh")
    _source(world, "feed", "bronze", orders=True, totals=False)
    _source(world, "idle", "gold", orders=False, items=False)
    _source(world, "empty", "gold")
    world.add("lakehouse.source", "adrift", lakehouse="lh")
    world.add("lakehouse.source", "filed", lakehouse="lh", reads="files", into="bronze")
    world.add("lakehouse.stream", "filed_orders", source="filed", writes="orders")
    world.add("lakehouse.source", "fresh", lakehouse="lh", into="gold")
    world.add("lakehouse.stream", "fresh_new", source="fresh")
    world.add("lakehouse.stream", "fresh_off", source="fresh", writes="gold")
    world.set("fresh_off", enabled=False)
    return world


def _source(world: World, uid: str, into: str, **streams: bool) -> None:
    """A source with a stream for each table, on or off."""
    world.add("lakehouse.source", uid, lakehouse="lh", into=into)
    for table, enabled in streams.items():
        world.add("lakehouse.stream", f"{uid}_{table}", source=uid, writes=table)
        world.set(f"{uid}_{table}", enabled=enabled)


def ladder(what: str, target: str, *places: str) -> Iterator[Case]:
    """The pipeline asks each level at just these places."""
    for level, action in ADDS.items():
        yield f"{what} | {target} | {level}", dict.fromkeys(places, level), AccessQuestion(action, target), True
    for missing in places:
        held = {place: "manager" for place in places if place != missing}
        yield f"{what} | {target} | nothing on {missing}", held, AccessQuestion("see", target), False
        yield (
            f"{what} | {target} | Viewer on {missing}",
            {**held, missing: "viewer"},
            AccessQuestion("edit", target),
            False,
        )
        yield (
            f"{what} | {target} | Editor on {missing}",
            {**held, missing: "editor"},
            AccessQuestion("delete", target),
            False,
        )


def derived() -> Iterator[Case]:
    yield from ladder("002 Permission levels | level on all of its tables", "cross", "orders", "totals", "items")
    yield from ladder("002 Permission levels | level on all of its tables", "destination", "orders", "items")
    yield from ladder("002 Permission levels | volumes count as well", "notebook", "orders", "files", "items")
    yield from ladder("002 Permission levels | volumes count as well", "filed", "orders", "files")
    yield from ladder("002 Permission levels | disabled streams do not count", "feed", "orders")
    yield from ladder("002 settled | an output that does not exist counts as its layer", "planned", "orders", "gold")
    yield from ladder("002 settled | a stream without a table counts as its layer", "fresh", "gold")
    yield from ladder("002 settled | nothing left to count: the output layer", "idle", "gold")
    yield from ladder("002 settled | nothing left to count: the output layer", "empty", "gold")
    yield from ladder("002 settled | nothing left to count: the output layer", "bare", "gold")


@rows("levels ask expected", derived())
def test_level_is_derived(levels: Levels, ask: AccessQuestion, expected: bool) -> None:
    assert ask(works(**levels), "mia") is expected


ADMIN_ONLY = ("loose", "nowhere", "adrift")
WITHOUT_OUTPUT = [(f"002 settled | no output layer either: admin only | {name}", name) for name in ADMIN_ONLY]


@rows("target", WITHOUT_OUTPUT)
def test_nothing_to_ask_is_for_admins(target: str) -> None:
    world = works(bronze="manager", gold="manager")
    assert world.actions("mia", target) == set()
    assert world.actions("admin", target) == ALL_ACTIONS
    assert world.actions("owner", target) == ALL_ACTIONS


BARE = [(f"002 Owners and admins are not restricted | add a bare {kind} | {who}", kind, who)
        for kind in PIPELINES for who in ("admin", "owner")]  # fmt: skip


@rows("kind who", BARE)
def test_admins_add_what_has_nothing_to_ask(kind: str, who: str) -> None:
    assert AccessQuestion("create", new(kind))(lakehouse(), who)


@rows("who", [(f"002 Owners and admins are not restricted | add a stream to a source without a layer | {who}", who)
              for who in ("admin", "owner")])  # fmt: skip
def test_admins_add_a_stream_anywhere(who: str) -> None:
    assert AccessQuestion("create", Draft("lakehouse.stream", {"source": "adrift"}))(works(), who)


@rows("kind", [(f"002 settled | members add nothing that has nothing to ask | {kind}", kind) for kind in PIPELINES])
def test_members_add_nothing_bare(kind: str) -> None:
    assert not AccessQuestion("create", new(kind))(with_levels(bronze="manager", gold="manager"), "mia")


EXAMPLES: list[Case] = [
    ("002 Examples | a Manager of every layer creates no layer",
     {"bronze": "manager", "gold": "manager"}, AccessQuestion("create", new("layer")), False),
    ("002 Examples | a Manager of every layer has no create_layer",
     {"bronze": "manager", "gold": "manager"}, AccessQuestion("create_layer", "lh"), False),
    ("002 Examples | no Viewer on a layer: not the layer", {"gold": "manager"}, AccessQuestion("see", "bronze"), False),
    *((f"002 Examples | no Viewer on a layer: no {kind} that uses only its tables",
       {"gold": "manager"}, AccessQuestion("see", kind), False) for kind in PIPELINES),
    ("002 Examples | a new source: Editor on the output layer",
     {"bronze": "editor"}, AccessQuestion("create", new("source", into="bronze")), True),
    ("002 Examples | a new source: or higher",
     {"bronze": "manager"}, AccessQuestion("create", new("source", into="bronze")), True),
    ("002 Examples | a new source: not with Viewer",
     {"bronze": "viewer"}, AccessQuestion("create", new("source", into="bronze")), False),
    ("002 Examples | a new source: not by its tables",
     {"orders": "manager", "items": "manager"}, AccessQuestion("create", new("source", into="bronze")), False),
    ("002 Examples | Editor on the layer edits its sources", {"bronze": "editor"},
     AccessQuestion("edit", "source"), True),
    ("002 Examples | Editor on the layer adds streams to its sources", {"bronze": "editor"},
     AccessQuestion("create", Draft("lakehouse.stream", {"source": "source", "writes": "items"})), True),
    ("002 Examples | Editor on all output tables edits the source", {"orders": "editor"},
     AccessQuestion("edit", "source"), True),
    ("002 Examples | without Editor on the layer", {"orders": "editor"}, AccessQuestion("edit", "bronze"), False),
    ("002 Examples | Viewer on an output table does not edit", {"orders": "viewer"},
     AccessQuestion("edit", "source"), False),
    ("002 Examples | disabled streams and their tables are left out", {"orders": "editor"},
     AccessQuestion("edit", "feed"), True),
    ("002 Examples | enabled ones are not", {"totals": "editor"}, AccessQuestion("edit", "feed"), False),
]  # fmt: skip

STREAM = Draft("lakehouse.stream", {"source": "source"})
STREAM_INTO_ITEMS = Draft("lakehouse.stream", {"source": "source", "writes": "items"})
STREAMS: list[Case] = [
    ("002 settled | adding a stream: Editor on the output layer", {"bronze": "editor"},
     AccessQuestion("create", STREAM), True),
    ("002 settled | adding a stream: Viewer is not enough", {"bronze": "viewer"},
     AccessQuestion("create", STREAM), False),
    ("002 settled | adding a stream: not by the tables", {"orders": "manager", "items": "manager"},
     AccessQuestion("create", STREAM_INTO_ITEMS), False),
    ("002 settled | enabling a stream: Editor on its table", {"totals": "editor"},
     AccessQuestion("enable", "feed_totals"), True),
    ("002 settled | enabling a stream: Viewer on its table", {"totals": "viewer"},
     AccessQuestion("enable", "feed_totals"), False),
    ("002 settled | enabling a stream: not the source's layer", {"bronze": "manager"},
     AccessQuestion("enable", "feed_totals"), False),
    ("002 settled | enabling a stream without a table: Editor on the layer", {"gold": "editor"},
     AccessQuestion("enable", "fresh_off"), True),
    ("002 settled | enabling a stream without a table: Viewer on the layer", {"gold": "viewer"},
     AccessQuestion("enable", "fresh_off"), False),
    ("002 settled | enabling a stream without a table: not by the layer's tables", {"totals": "manager"},
     AccessQuestion("enable", "fresh_off"), False),
]  # fmt: skip


@rows("levels ask expected", [*EXAMPLES, *STREAMS])
def test_examples(levels: Levels, ask: AccessQuestion, expected: bool) -> None:
    assert ask(works(**levels), "mia") is expected


ENABLING = [
    ("002 settled | switching a stream on: Editor on its table", "editor", True),
    ("002 settled | switching a stream on: Viewer on its table", "viewer", False),
]


@rows("level expected", ENABLING)
def test_switching_a_stream_on(level: str, expected: bool) -> None:
    change = Add(Attribute("feed_totals", "enabled", "true"))
    assert works(totals=level).decisions.check_change("mia", change) is expected


def creating() -> Iterator[Case]:
    """Editor on the output layer, and on every input and output that exists."""
    for kind in ("query", "notebook", "history"):
        ask = AccessQuestion("create", new(kind, reads=["orders"], writes=["items"], into="gold"))
        yield from _needs(f"002 settled | creating a {kind}", ask, "orders", "items", "gold")
    for kind in ("destination", "integration"):
        ask = AccessQuestion("create", new(kind, reads=["orders", "totals"]))
        yield from _needs(f"002 settled | creating a {kind} without an output layer", ask, "orders", "totals")


def _needs(what: str, ask: AccessQuestion, *places: str) -> Iterator[Case]:
    yield f"{what} | Editor everywhere", dict.fromkeys(places, "editor"), ask, True
    for place in places:
        held = {other: "manager" for other in places if other != place}
        yield f"{what} | nothing on {place}", held, ask, False
        yield f"{what} | Viewer on {place}", {**held, place: "viewer"}, ask, False


def editing() -> Iterator[Case]:
    """Editor on inputs and outputs, before and after."""
    added = AccessQuestion("edit", "query", edges={"reads": ["orders", "files", "totals"]})
    yield from _needs("002 settled | editing: an input more", added, "orders", "files", "items", "totals")
    taken = AccessQuestion("edit", "cross", edges={"reads": ["orders"]})
    yield from _needs("002 settled | editing: an input less", taken, "orders", "items", "totals")
    moved = AccessQuestion("edit", "query", edges={"writes": ["totals"]})
    yield from _needs("002 settled | editing: another output", moved, "orders", "files", "items", "totals")
    ahead = AccessQuestion("edit", "query", edges={"writes": ["gold"]})
    yield from _needs("002 settled | editing: an output yet to be", ahead, "orders", "files", "items", "gold")
    relaid = AccessQuestion("edit", "bare", edges={"into": "bronze"})
    yield from _needs("002 settled | editing: another output layer", relaid, "gold", "bronze")
    resourced = AccessQuestion("edit", "source", edges={"into": "gold"})
    yield from _needs("002 settled | editing: another output layer for a source", resourced, "orders", "gold")
    requeried = AccessQuestion("edit", "query", edges={"into": "gold"})
    yield from _needs("002 settled | editing: another output layer for a query", requeried, "bronze", "gold")
    stream = AccessQuestion("edit", "stream", edges={"writes": "totals"})
    yield from _needs("002 settled | editing: another table for a stream", stream, "orders", "totals")
    sent = AccessQuestion("edit", "integration", edges={"reads": ["orders", "items", "totals"]})
    yield from _needs("002 settled | editing: an integration like a destination", sent, "orders", "items", "totals")


@rows("levels ask expected", [*creating(), *editing()])
def test_creating_and_editing(levels: Levels, ask: AccessQuestion, expected: bool) -> None:
    assert ask(works(**levels), "mia") is expected


def test_002_settled_an_edit_is_also_checked_edge_by_edge() -> None:
    world = works(bronze="editor")
    assert not world.decisions.check_change("mia", Add(Edge("reads", "query", "totals")))
    world.grant("mia", "editor", "totals")
    assert world.decisions.check_change("mia", Add(Edge("reads", "query", "totals")))
