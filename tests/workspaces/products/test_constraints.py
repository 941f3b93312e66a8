"""What holds of curators' acts, also where they contradict each other."""

from __future__ import annotations

import random
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from lakehold.workspaces.products.entities.constraints import CuratorConstraints, RecordLink, VerifiedGroup

RECORDS = st.sampled_from("abcdefg")


@st.composite
def acts(draw: st.DrawFn) -> CuratorConstraints:
    """Random acts, each with an order of its own."""
    kinds = draw(st.lists(st.sampled_from(["same", "different", "verified"]), max_size=12))
    must, cannot, verified = list[RecordLink](), list[RecordLink](), list[VerifiedGroup]()
    for order, kind in enumerate(kinds):
        if kind == "verified":
            records = draw(st.sets(RECORDS, min_size=1, max_size=4))
            verified.append(VerifiedGroup(order, draw(st.sampled_from(["e1", "e2", "e3"])), tuple(records)))
        else:
            (must if kind == "same" else cannot).append(RecordLink(order, draw(RECORDS), draw(RECORDS)))
    return CuratorConstraints(must, cannot, verified)


def same(*records: str, order: int = 0) -> RecordLink:
    return RecordLink(order, *records)


def test_the_newer_act_wins_also_by_way_of_others() -> None:
    chain = [same("a", "b", order=1), same("b", "c", order=2)]
    newest = CuratorConstraints(chain, [same("a", "c", order=3)]).resolve()
    assert newest.groups == {"a": "a", "b": "b", "c": "b"}
    assert newest.apart == {("a", "b")}
    oldest = CuratorConstraints(chain, [same("a", "c", order=0)]).resolve()
    assert set(oldest.groups.values()) == {"a"}
    assert not oldest.apart


def test_a_verified_group_keeps_its_id_where_most_of_its_records_are() -> None:
    verified = [VerifiedGroup(1, "e1", ("a", "b", "c"))]
    found = CuratorConstraints((), [same("a", "c", order=2), same("a", "b", order=3)], verified).resolve()
    assert found.groups == {"a": "a", "b": "b", "c": "b"}
    assert found.entities == {"b": "e1"}


def test_of_two_verified_groups_that_are_the_same_the_newer_id_is_kept() -> None:
    verified = [VerifiedGroup(1, "e1", ("a", "b")), VerifiedGroup(2, "e2", ("c",))]
    found = CuratorConstraints([same("b", "c", order=3)], (), verified).resolve()
    assert found.entities == {"a": "e2"}
    assert found.verified == {"a"}


def test_a_record_differs_from_itself_in_vain() -> None:
    found = CuratorConstraints((), [same("a", "a")]).resolve()
    assert (found.groups, found.apart) == ({"a": "a"}, frozenset())


@given(acts())
def test_nothing_that_holds_contradicts_another(constraints: CuratorConstraints) -> None:
    found = constraints.resolve()
    assert all(one != other for one, other in found.apart)
    names = set(found.groups.values())
    assert {group for pair in found.apart for group in pair} <= names
    assert set(found.entities) <= found.verified <= names
    assert len(set(found.entities.values())) == len(found.entities)
    assert all(found.groups[group] == group for group in names)


@given(acts())
def test_the_newest_act_always_holds(constraints: CuratorConstraints) -> None:
    found = constraints.resolve()
    newest = max((*constraints.must_links, *constraints.cannot_links), key=lambda each: each.order, default=None)
    if newest is None or any(each.order > newest.order for each in constraints.verified):
        return
    pair = found.groups[newest.record_a], found.groups[newest.record_b]
    if newest in constraints.must_links:
        assert pair[0] == pair[1]
    elif newest.record_a != newest.record_b:
        assert tuple(sorted(pair)) in found.apart


@given(acts(), st.randoms())
def test_the_order_in_which_acts_are_given_does_not_matter(constraints: CuratorConstraints, by: random.Random) -> None:
    mixed = [list(each) for each in (constraints.must_links, constraints.cannot_links, constraints.verified)]
    for each in mixed:
        by.shuffle(each)
    assert CuratorConstraints(*mixed).resolve() == constraints.resolve()  # type: ignore[arg-type]


@given(acts())
def test_acts_that_are_not_related_do_not_change_each_other(constraints: CuratorConstraints) -> None:
    whole = constraints.resolve()
    for name in set(whole.related.values()):
        inside = {record for record, related in whole.related.items() if related == name}
        part = CuratorConstraints(
            [each for each in constraints.must_links if each.record_a in inside],
            [each for each in constraints.cannot_links if each.record_a in inside],
            [each for each in constraints.verified if inside.issuperset(each.records)],
        ).resolve()
        assert part.groups == {record: group for record, group in whole.groups.items() if record in inside}
        assert all(pair in whole.apart for pair in part.apart)
        together = [pair for pair in combinations(sorted(inside), 2) if whole.groups[pair[0]] == whole.groups[pair[1]]]
        assert all(part.groups[one] == part.groups[other] for one, other in together)
