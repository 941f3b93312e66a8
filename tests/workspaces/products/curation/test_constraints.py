"""Acts become constraints: by examples, and by a plain model of pairs that is replayed beside them."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

from hypothesis import given, settings
from hypothesis import strategies as st

from lakehold.workspaces.products.curation.acts import (
    ActContent,
    ActKind,
    CurationAct,
    from_payload,
    ordered_pair,
    to_payload,
)
from lakehold.workspaces.products.curation.constraints import (
    CurationConstraints,
    build_constraints,
    current_entity,
    current_overrides,
    decided_pairs,
)

Groups = tuple[tuple[str, ...], ...]


def acts(*contents: ActContent) -> list[CurationAct]:
    return [CurationAct(number, content) for number, content in enumerate(contents, start=1)]


def pairs(found: CurationConstraints) -> tuple[dict[str, int], dict[str, int]]:
    """Linked and parted pairs with their order, each as `ab`."""
    linked, parted = (
        {each.record_a + each.record_b: each.order for each in some} for some in (found.linked, found.parted)
    )
    return linked, parted


def verified(found: CurationConstraints) -> dict[str, str]:
    return {each.entity: "".join(each.records) for each in found.verified}


def edit(kind: ActKind, *groups: str, entities: str = "") -> ActContent:
    return ActContent(kind, tuple(entities.split()), tuple(tuple(group) for group in groups))


def verify(entity: str, records: str) -> ActContent:
    return edit(ActKind.VERIFY, records, entities=entity)


def override(entity: str, value: str | None, attribute: str = "city") -> ActContent:
    return ActContent(ActKind.OVERRIDE, (entity,), attribute=attribute, value=value)


def test_each_edit_links_and_parts_what_it_says() -> None:
    for content, linked, parted in (
        (edit(ActKind.SAME, "a", "b"), "ab", ""),
        (edit(ActKind.DIFFERENT, "a", "b"), "", "ab"),
        (edit(ActKind.SKIP, "a", "b"), "", ""),
        (edit(ActKind.MERGE, "ab", "cd"), "ac ad bc bd", ""),
        (edit(ActKind.MERGE, "a", "b", "c"), "ab ac bc", ""),
        (edit(ActKind.SPLIT, "ab", "cd"), "", "ac ad bc bd"),
        (edit(ActKind.MOVE, "a", "bc", "de"), "ad ae", "ab ac"),
        (edit(ActKind.MOVE, "a", "", "d"), "ad", ""),
        (edit(ActKind.NEW_ENTITY, "ac", "b", "d"), "ac", "ab ad bc cd"),
        (edit(ActKind.VERIFY, "ab", entities="e"), "", ""),
    ):
        found = pairs(build_constraints(acts(content)))
        assert found == (dict.fromkeys(linked.split(), 1), dict.fromkeys(parted.split(), 1)), content.kind


def test_the_last_act_on_a_pair_counts() -> None:
    said = acts(edit(ActKind.SAME, "a", "b"), edit(ActKind.DIFFERENT, "a", "b"), edit(ActKind.SKIP, "a", "b"))
    assert pairs(build_constraints(said)) == ({}, {"ab": 2})
    assert decided_pairs(said) == {("a", "b"): (ActKind.SKIP, 3)}
    undone = [said[0], replace(said[1], undone_by=4), said[2]]
    assert pairs(build_constraints(undone)) == ({"ab": 1}, {})


def test_verified_groups_follow_later_edits() -> None:
    both = (verify("e1", "abc"), verify("e2", "xy"))
    for later, expected in (
        (edit(ActKind.SPLIT, "c", "ab", entities="e1"), {"e1": "ab", "e2": "xy"}),
        (edit(ActKind.MOVE, "c", "ab", "xy", entities="e1 e2"), {"e1": "ab", "e2": "xy"}),
        (edit(ActKind.NEW_ENTITY, "cx", "ab", "y", entities="e1 e2"), {"e1": "ab", "e2": "y"}),
        (edit(ActKind.MERGE, "xy", "abc", entities="e2 e1"), {"e2": "abcxy"}),
        (edit(ActKind.SAME, "a", "x"), {"e1": "abcxy"}),
        (edit(ActKind.DIFFERENT, "a", "b"), {"e1": "c", "e2": "xy"}),
        (edit(ActKind.DIFFERENT, "a", "x"), {"e1": "abc", "e2": "xy"}),
        (edit(ActKind.UNVERIFY, "abc", entities="e1"), {"e2": "xy"}),
        (verify("e2", "c"), {"e1": "ab", "e2": "cxy"}),
    ):
        assert verified(build_constraints(acts(*both, later))) == expected, later.kind


def test_the_group_that_was_verified_first_keeps_its_entity() -> None:
    said = acts(verify("e2", "xy"), verify("e1", "ab"), edit(ActKind.SAME, "a", "x"))
    assert verified(build_constraints(said)) == {"e2": "abxy"}
    into_another = acts(
        verify("e1", "a"),
        verify("e2", "b"),
        edit(ActKind.MERGE, "c", "a", entities="e3 e1"),
        edit(ActKind.SAME, "a", "b"),
    )
    assert verified(build_constraints(into_another)) == {"e3": "ab"}


def test_taking_records_out_makes_a_group_no_newer() -> None:
    said = acts(verify("e1", "abc"), edit(ActKind.UNVERIFY, "c", entities="e1"), verify("e2", "x"), verify("e2", "y"))
    assert {each.entity: each.order for each in build_constraints(said).verified} == {"e1": 1, "e2": 4}


def test_a_verification_links_again_what_was_parted_before() -> None:
    said = acts(edit(ActKind.DIFFERENT, "a", "b"), edit(ActKind.DIFFERENT, "a", "z"), verify("e1", "ab"))
    assert pairs(build_constraints(said)) == ({}, {"az": 2})


def test_overrides_follow_entities_that_were_merged() -> None:
    said = acts(override("e1", "Ulm"), override("e2", "Bonn"), override("e2", None, "phone"))
    assert current_overrides(said, {}) == {"e1": {"city": "Ulm"}, "e2": {"city": "Bonn", "phone": None}}
    merged = {"e2": ["e1"], "e1": []}
    assert current_overrides(said, merged) == {"e1": {"city": "Bonn", "phone": None}}
    cleared = [*said, CurationAct(4, ActContent(ActKind.CLEAR_OVERRIDE, ("e1",), attribute="city"))]
    assert current_overrides(cleared, merged) == {"e1": {"phone": None}}
    assert current_overrides(cleared, {}) == {"e2": {"city": "Bonn", "phone": None}}
    assert {each.order for each in build_constraints(said, merged).overrides} == {2, 3}


def test_groups_follow_entities_that_were_merged() -> None:
    said = acts(verify("e1", "a"), verify("e2", "b"))
    assert verified(build_constraints(said, {"e2": ("e1", "e3")})) == {"e1": "ab"}
    assert current_entity("e1", {"e1": ["e2"], "e2": ["e3"]}) == "e3"
    assert current_entity("e1", {"e1": ["e2"], "e2": ["e1"]}) in {"e1", "e2"}, "a circle ends"


def test_an_act_comes_back_from_its_payload() -> None:
    for content in (
        edit(ActKind.MOVE, "a", "", "de", entities="e1 e2"),
        override("e1", None),
        ActContent(ActKind.OVERRIDE, ("e1",), attribute="city", value="Ulm", replaced="Bonn"),
        ActContent(ActKind.COMMENT, ("e1",), text="“Ask her.”"),
        ActContent(ActKind.UNDO, ("e1",), undone=(3, 4)),
    ):
        stored = {
            name: [list(each) if isinstance(each, tuple) else each for each in value]
            if isinstance(value, tuple)
            else value
            for name, value in to_payload(content).items()
        }
        assert from_payload(content.kind, stored) == content


# A plain model: every act says something about every pair, and the last word counts.

RECORDS = "abcde"
ENTITIES = ("e1", "e2", "e3")


@st.composite
def contents(draw: st.DrawFn) -> ActContent:
    kind = draw(st.sampled_from([each for each in ActKind if each not in {ActKind.COMMENT, ActKind.UNDO}]))
    shuffled = draw(st.permutations(RECORDS))
    entities = tuple(draw(st.permutations(ENTITIES)))
    cuts = sorted(draw(st.lists(st.integers(1, len(RECORDS) - 1), min_size=2, max_size=2, unique=True)))
    one, two, three = shuffled[: cuts[0]], shuffled[cuts[0] : cuts[1]], shuffled[cuts[1] :]
    match kind:
        case ActKind.OVERRIDE | ActKind.CLEAR_OVERRIDE:
            value = draw(st.sampled_from(["x", "y", None])) if kind is ActKind.OVERRIDE else None
            return ActContent(kind, entities[:1], attribute=draw(st.sampled_from(["city", "phone"])), value=value)
        case ActKind.SAME | ActKind.DIFFERENT | ActKind.SKIP:
            groups: list[list[str]] = [shuffled[:1], shuffled[1:2]]
        case ActKind.MOVE:
            groups = [shuffled[:1], two, three]
        case ActKind.VERIFY | ActKind.UNVERIFY:
            groups, entities = [one], entities[:1]
        case ActKind.SPLIT:
            groups, entities = [one, two], entities[:1]
        case _:
            groups = [one, two, three]
    return ActContent(kind, entities, tuple(tuple(sorted(group)) for group in groups))


def model(said: list[ActContent]) -> tuple[dict[tuple[str, str], tuple[bool, int]], list[str | None], dict[str, str]]:
    """Pairs with what was said last, the verified entity of each record, and overrides by `entity.attribute`."""
    words: dict[tuple[str, str], tuple[bool, int]] = {}
    holder: dict[str, str] = {}
    since: dict[str, int] = {}
    values: dict[str, str] = {}
    for number, content in enumerate(said, start=1):
        if content is None:
            continue
        kind, groups = content.kind, content.groups
        side = {record: n for n, group in enumerate(groups) for record in group}
        for one, other in combinations(RECORDS, 2):
            if {one, other} <= side.keys():
                link = _says(kind, side[one], side[other])
                if link is not None:
                    words[one, other] = (link, number)
        _hold(content, holder, since, number)
        if kind is ActKind.OVERRIDE:
            values[f"{content.entities[0]}.{content.attribute}"] = f"{content.value} {number}"
        if kind is ActKind.CLEAR_OVERRIDE:
            values.pop(f"{content.entities[0]}.{content.attribute}", None)
    together = {pair for pair in words if not words[pair][0] and holder.get(pair[0]) == holder.get(pair[1]) is not None}
    return {pair: word for pair, word in words.items() if pair not in together}, [*map(holder.get, RECORDS)], values


def _says(kind: ActKind, one: int, other: int) -> bool | None:
    apart = one != other
    match kind:
        case ActKind.SAME | ActKind.MERGE:
            return True if apart else None
        case ActKind.DIFFERENT | ActKind.SPLIT:
            return False if apart else None
        case ActKind.MOVE:
            return {(0, 1): False, (0, 2): True}.get((min(one, other), max(one, other)))
        case ActKind.NEW_ENTITY:
            return None if 0 not in {one, other} else not apart
    return None


def _hold(content: ActContent, holder: dict[str, str], since: dict[str, int], number: int) -> None:
    kind, groups = content.kind, content.groups
    if kind is ActKind.VERIFY:
        for record in groups[0]:
            holder.pop(record, None)
        _forget_empty(holder, since)
        since.setdefault(content.entities[0], number)
        holder.update(dict.fromkeys(groups[0], content.entities[0]))
    elif kind in {ActKind.UNVERIFY, ActKind.SPLIT, ActKind.MOVE, ActKind.NEW_ENTITY}:
        for record in groups[0]:
            holder.pop(record, None)
    elif kind in {ActKind.SAME, ActKind.DIFFERENT}:
        one, other = (holder.get(group[0]) for group in groups)
        if kind is ActKind.DIFFERENT and one is not None and one == other:
            for group in groups:
                holder.pop(group[0])
        if kind is ActKind.SAME and one and other and one != other:
            first, second = sorted((one, other), key=since.__getitem__)
            holder.update({record: first for record, entity in holder.items() if entity == second})
    elif kind is ActKind.MERGE:
        moved = [record for record, entity in holder.items() if entity in content.entities]
        if moved:
            oldest = min(since[entity] for entity in content.entities if entity in since)
            holder.update(dict.fromkeys(moved, content.entities[0]))
            since[content.entities[0]] = oldest
    _forget_empty(holder, since)


def _forget_empty(holder: dict[str, str], since: dict[str, int]) -> None:
    for entity in since.keys() - set(holder.values()):
        del since[entity]


@settings(max_examples=300)
@given(st.lists(contents(), min_size=5, max_size=12), st.data())
def test_replayed_acts_give_what_a_plain_model_gives(said: list[ActContent], data: st.DataObject) -> None:
    undone = data.draw(st.sets(st.integers(1, len(said)), max_size=3))
    made = [CurationAct(n, content, undone_by=99 if n in undone else 0) for n, content in enumerate(said, start=1)]
    found = build_constraints(data.draw(st.permutations(made)))
    words, holders, values = model([None if n in undone else content for n, content in enumerate(said, start=1)])  # type: ignore[misc]
    assert {(each.record_a, each.record_b): (True, each.order) for each in found.linked} | {
        (each.record_a, each.record_b): (False, each.order) for each in found.parted
    } == words
    by_record = {record: each.entity for each in found.verified for record in each.records}
    assert [*map(by_record.get, RECORDS)] == holders
    assert {f"{each.entity}.{each.attribute}": f"{each.value} {each.order}" for each in found.overrides} == values


@given(st.lists(contents(), max_size=12), st.data())
def test_what_was_undone_has_no_effect(said: list[ActContent], data: st.DataObject) -> None:
    undone = data.draw(st.sets(st.integers(1, max(len(said), 1))))
    made = acts(*said)
    marked = [replace(act, undone_by=99) if act.number in undone else act for act in made]
    assert build_constraints(marked) == build_constraints([act for act in made if act.number not in undone])
    assert decided_pairs(marked) == decided_pairs([act for act in made if act.number not in undone])


@given(st.lists(contents(), max_size=12))
def test_no_verified_group_is_parted(said: list[ActContent]) -> None:
    found = build_constraints(acts(*said))
    apart = {(each.record_a, each.record_b) for each in found.parted}
    for group in found.verified:
        assert group.records
        assert not apart & {ordered_pair(*pair) for pair in combinations(group.records, 2)}
    assert len({record for each in found.verified for record in each.records}) == sum(
        len(each.records) for each in found.verified
    )
