"""The queue of uncertain pairs: its order, its pages, who answers what, and how a new run replaces it."""

from __future__ import annotations

import pytest

from lakehold.kit.errors import InvalidInputError
from lakehold.workspaces.products.curation import entity_edits, pair_answers, pair_queue, undo
from lakehold.workspaces.products.curation.acts import ActKind
from lakehold.workspaces.products.curation.pair_queue import PairState, ScoredPair
from tests.workspaces.products.curation.customers import PAIRS, PRODUCT, Customers

flow = pytest.mark.flow


def fill(customers: Customers, run: str = "run_1") -> None:
    with customers.act("developer") as product:
        pair_queue.replace_queue(product.ctx, PRODUCT, run, PAIRS)


def queued(
    customers: Customers, state: PairState = PairState.OPEN, assigned_to: str | None = None, after: int = 0
) -> list[str]:
    """The pairs as `r1r4`."""
    with customers.act() as product:
        found = pair_queue.next_pairs(product.ctx, PRODUCT, 10, assigned_to=assigned_to, state=state, after=after)
    return [each.record_a + each.record_b for each in found]


def answer(customers: Customers, one: str, other: str, kind: ActKind) -> int:
    with customers.act() as product:
        return pair_answers.answer(product, one, other, kind).number


@flow
def test_the_pair_whose_answer_is_worth_most_comes_first(customers: Customers) -> None:
    fill(customers)
    with customers.act() as product:
        found = pair_queue.next_pairs(product.ctx, PRODUCT, 10)
    assert [(each.record_a, each.record_b, each.rank) for each in found] == [
        ("r1", "r4", 1),
        ("r5", "r7", 2),
        ("r2", "r6", 3),
        ("r4", "r6", 4),
    ], "a pair within one entity joins nothing"
    assert [round(each.value, 2) for each in found] == [5.0, 4.85, 3.88, 1.41]
    assert (found[2].entity_a, found[2].entity_b) == ("e1", "e3"), "entities turn with their records"
    assert {(each.run, each.state, each.act, each.assigned_to) for each in found} == {("run_1", PairState.OPEN, 0, "")}


@flow
def test_an_answer_leaves_the_queue_and_its_undo_returns_it(customers: Customers) -> None:
    fill(customers)
    same = answer(customers, "r4", "r1", ActKind.SAME)
    answer(customers, "r2", "r6", ActKind.SKIP)
    assert queued(customers) == ["r5r7", "r4r6"]
    assert (queued(customers, PairState.SAME), queued(customers, PairState.SKIPPED)) == (["r1r4"], ["r2r6"])
    later = answer(customers, "r1", "r4", ActKind.DIFFERENT)
    assert queued(customers, PairState.DIFFERENT) == ["r1r4"]
    with customers.act() as product:
        undo.undo(product, later)
    assert queued(customers, PairState.SAME) == ["r1r4"]
    with customers.act() as product:
        undo.undo(product, same)
    assert queued(customers) == ["r1r4", "r5r7", "r4r6"]


def test_a_merge_answers_the_pairs_between_its_entities(customers: Customers) -> None:
    fill(customers)
    with customers.act() as product:
        merged = entity_edits.merge(product, ["e3", "e1"])
        entity_edits.move(product, "r4", "e3")
    assert (queued(customers, PairState.SAME), queued(customers)) == (["r2r6", "r4r6"], ["r1r4", "r5r7"])
    with customers.act() as product:
        undo.undo(product, merged.number)
    assert (queued(customers, PairState.SAME), queued(customers)) == (["r4r6"], ["r1r4", "r5r7", "r2r6"])


@flow
def test_a_new_run_leaves_out_what_was_decided_and_keeps_assignments(customers: Customers) -> None:
    fill(customers)
    with customers.act() as product:
        pair_answers.assign(product, "curator", 3)
    answer(customers, "r1", "r4", ActKind.DIFFERENT)
    skipped = answer(customers, "r5", "r7", ActKind.SKIP)
    fill(customers, "run_2")
    assert queued(customers) == ["r2r6", "r4r6"]
    assert queued(customers, assigned_to="curator") == ["r2r6"]
    assert queued(customers, PairState.DIFFERENT) == []
    with customers.act() as product:
        undo.undo(product, skipped)
    fill(customers, "run_3")
    assert queued(customers) == ["r5r7", "r2r6", "r4r6"]


@flow
def test_pairs_are_assigned_and_progress_is_counted(customers: Customers) -> None:
    fill(customers)
    with customers.act("admin") as product:
        assert [each.rank for each in pair_answers.assign(product, "admin", 1)] == [1]
        assert [each.rank for each in pair_answers.assign(product, "curator", 2)] == [2, 3]
        assert [each.rank for each in pair_answers.assign(product, "curator", 5)] == [4]
        assert pair_answers.assign(product, "curator", 5) == []
        with pytest.raises(InvalidInputError, match="may not curate"):
            pair_answers.assign(product, "developer", 1)
        with pytest.raises(InvalidInputError, match="cannot be assigned"):
            pair_answers.assign(product, "admin", 0)
    assert (queued(customers, assigned_to="curator"), queued(customers, assigned_to="")) == (
        ["r5r7", "r2r6", "r4r6"],
        [],
    )
    answer(customers, "r5", "r7", ActKind.SAME)
    answer(customers, "r1", "r4", ActKind.SKIP)
    with customers.act() as product:
        found = pair_queue.count_progress(product.ctx, PRODUCT)
        assert (found.total, found.answered, found.same, found.different, found.skipped) == (4, 1, 1, 0, 1)
        assert (found.open, found.assigned, found.mine) == (2, 2, 2)
        assert pair_answers.release(product, "curator") == 2
        assert pair_answers.release(product, "curator") == 0
    assert queued(customers, assigned_to="") == ["r2r6", "r4r6"]


def test_pages_neither_repeat_nor_miss_a_pair_while_others_answer(customers: Customers) -> None:
    fill(customers)
    with customers.act() as product:
        first = pair_queue.next_pairs(product.ctx, PRODUCT, 2)
    answer(customers, "r1", "r4", ActKind.SAME)
    assert queued(customers, after=first[-1].rank) == ["r2r6", "r4r6"]


@flow
def test_a_queue_is_bounded(customers: Customers) -> None:
    count = pair_queue.MAX_PAIRS + 100
    rows = (ScoredPair(f"a{n:05}", f"b{n:05}", 0.5, f"x{n}", f"y{n}", n % 500 + 2) for n in range(count))
    with customers.act("developer") as product:
        assert pair_queue.replace_queue(product.ctx, PRODUCT, "run_1", rows) == pair_queue.MAX_PAIRS
        (first,) = pair_queue.next_pairs(product.ctx, PRODUCT, 1)
        (last,) = pair_queue.next_pairs(product.ctx, PRODUCT, 2, after=pair_queue.MAX_PAIRS - 1)
        assert pair_queue.replace_queue(product.ctx, PRODUCT, "run_2", []) == 0
    assert (first.size, first.record_a) == (501, "a00499")
    assert last.size > 2, "those that are worth least are left out"


def test_a_pair_that_is_certain_is_worth_nothing() -> None:
    assert [ScoredPair("a", "b", each, "e", "f", 10).value for each in (0.0, 1.0)] == [0, 0]
