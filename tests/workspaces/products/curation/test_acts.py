"""Acts of curation on real tables: what they keep, what they refuse, and how they are undone."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from lakehold.directory.caller import Caller
from lakehold.kit.errors import ConflictError, ForbiddenError, InvalidInputError, LakeholdError, NotFoundError
from lakehold.ledger.audit import AuditFilter
from lakehold.workspaces.products.curation import act_log, entity_edits, history, overrides, pair_answers, undo
from lakehold.workspaces.products.curation.acts import ActKind, CurationAct
from lakehold.workspaces.products.curation.constraints import build_constraints
from lakehold.workspaces.products.curation.curated_product import MAX_RECORDS, MAX_TEXT, CuratedProduct
from lakehold.workspaces.products.settings import ProductAttribute
from tests.access.company import TENANT
from tests.workspaces.products.curation.customers import CITIES, MEMBERS, OTHER_PRODUCT, PRODUCT, Customers

flow = pytest.mark.flow


@flow
def test_each_act_keeps_the_records_of_its_moment(customers: Customers) -> None:
    with customers.act() as product:
        made = [
            entity_edits.merge(product, ["e2", "e3"]),
            entity_edits.split(product, "e1", ["r2"]),
            entity_edits.move(product, "r7", "e1"),
            entity_edits.create_entity(product, ["r1", "r9"]),
            entity_edits.verify(product, entity="e1"),
            entity_edits.verify(product, record="r4"),
            entity_edits.unverify(product, record="r3"),
            pair_answers.answer(product, "r6", "r1", ActKind.SAME),
            entity_edits.comment(product, "e1", "  Ask her. "),
        ]
    assert [act.number for act in made] == [*range(1, 10)]
    assert [act.content.groups for act in made] == [
        (("r4", "r5"), ("r6",)),
        (("r2",), ("r1", "r3")),
        (("r7",), ("r8", "r9"), ("r1", "r2", "r3")),
        (("r1", "r9"), ("r2", "r3"), ("r7", "r8")),
        (("r1", "r2", "r3"),),
        (("r4",),),
        (("r3",),),
        (("r1",), ("r6",)),
        (),
    ]
    assert made[2].content.entities == ("e4", "e1")
    with customers.act() as product:
        assert act_log.load_in_force(product.ctx, PRODUCT) == made
        assert made[-1].content.text == "Ask her."
        groups = {each.entity: each.records for each in build_constraints(made).verified}
    assert groups == {"e1": ("r1", "r2"), "e2": ("r4",)}


REFUSED: dict[str, tuple[Callable[[CuratedProduct], object], type[LakeholdError], str]] = {
    "unknown entity": (lambda p: entity_edits.merge(p, ["e1", "e9"]), NotFoundError, "entities"),
    "one entity": (lambda p: entity_edits.merge(p, ["e1"]), InvalidInputError, "entities"),
    "twice": (lambda p: entity_edits.merge(p, ["e1", "e1"]), InvalidInputError, "entities"),
    "too many entities": (lambda p: entity_edits.merge(p, [f"e{n}" for n in range(21)]), InvalidInputError, "entities"),
    "no record": (lambda p: entity_edits.split(p, "e1", []), InvalidInputError, "records"),
    "unknown record": (lambda p: entity_edits.split(p, "e1", ["x"]), NotFoundError, "records"),
    "record of another entity": (lambda p: entity_edits.split(p, "e1", ["r4"]), ConflictError, "records"),
    "all taken out": (lambda p: entity_edits.split(p, "e2", ["r4", "r5"]), InvalidInputError, "records"),
    "too many records": (
        lambda p: entity_edits.split(p, "e1", [f"r{n}" for n in range(MAX_RECORDS + 1)]),
        InvalidInputError,
        "records",
    ),
    "moved to its own": (lambda p: entity_edits.move(p, "r1", "e1"), ConflictError, "entity"),
    "moved to nowhere": (lambda p: entity_edits.move(p, "r1", "e9"), NotFoundError, "entity"),
    "unknown moved": (lambda p: entity_edits.move(p, "x", "e1"), NotFoundError, "record"),
    "a whole entity as new": (lambda p: entity_edits.create_entity(p, ["r4", "r5"]), ConflictError, "records"),
    "whole entities as new": (lambda p: entity_edits.create_entity(p, ["r4", "r5", "r6"]), ConflictError, "records"),
    "verify nothing": (lambda p: entity_edits.verify(p, entity="e9"), NotFoundError, "entity"),
    "verify no record": (lambda p: entity_edits.verify(p, record="x"), NotFoundError, "record"),
    "answer on one record": (lambda p: pair_answers.answer(p, "r1", "r1", ActKind.SAME), InvalidInputError, "record_a"),
    "answer on no record": (lambda p: pair_answers.answer(p, "r1", "x", ActKind.SAME), NotFoundError, "record_a"),
    "no answer": (lambda p: pair_answers.answer(p, "r1", "r4", ActKind.MERGE), InvalidInputError, "answer"),
    "empty comment": (lambda p: entity_edits.comment(p, "e1", " \n"), InvalidInputError, "text"),
    "long comment": (lambda p: entity_edits.comment(p, "e1", "x" * (MAX_TEXT + 1)), InvalidInputError, "text"),
    "unknown attribute": (lambda p: overrides.override(p, "e1", "shoe", "42"), InvalidInputError, "attribute"),
    "no date": (lambda p: overrides.override(p, "e1", "born", "soon"), InvalidInputError, "value"),
    "no number": (lambda p: overrides.override(p, "e1", "revenue", "much"), InvalidInputError, "value"),
    "endless number": (lambda p: overrides.override(p, "e1", "revenue", "1e999999"), InvalidInputError, "value"),
    "blank value": (lambda p: overrides.override(p, "e1", "city", "  "), InvalidInputError, "value"),
    "long value": (lambda p: overrides.override(p, "e1", "city", "x" * (MAX_TEXT + 1)), InvalidInputError, "value"),
    "unknown overridden": (lambda p: overrides.override(p, "e9", "city", "Ulm"), NotFoundError, "entity"),
    "nothing to clear": (lambda p: overrides.clear_override(p, "e1", "city"), ConflictError, "attribute"),
    "unknown act": (lambda p: undo.undo(p, 7), NotFoundError, ""),
}


def test_refusals_say_what_is_wrong_and_save_nothing(customers: Customers) -> None:
    with customers.act() as product:
        for name, (call, error, field) in REFUSED.items():
            with pytest.raises(error) as refused:
                call(product)
            assert type(refused.value) is error, name
            assert (refused.value.field, bool(refused.value.hint)) == (field, True), name
        assert act_log.load_in_force(product.ctx, PRODUCT) == []


def test_a_product_that_was_not_run_and_records_of_another_one(customers: Customers) -> None:
    with customers.act(product=OTHER_PRODUCT) as product, pytest.raises(ConflictError, match="no entities yet"):
        entity_edits.merge(product, ["e1", "e2"])
    with customers.act(product=f"{PRODUCT}_members") as product, pytest.raises(InvalidInputError, match="record table"):
        entity_edits.merge(product, ["e1", "e2"])


@flow
def test_an_override_knows_the_value_that_it_replaced(customers: Customers) -> None:
    with customers.act() as product:
        first = overrides.override(product, "e1", "city", " New   Ulm ")
        again = overrides.override(product, "e1", "city", "New Ulm")
        second = overrides.override(product, "e1", "city", None)
        cleared = overrides.clear_override(product, "e1", "city")
        overrides.override(product, "e1", "born", "2001-02-03")
        overrides.override(product, "e1", "revenue", "1200.50")
        with pytest.raises(ConflictError):
            overrides.clear_override(product, "e1", "city")
    assert (first.content.value, first.content.replaced) == ("New Ulm", "Ulm")
    assert again == first, "what is set already is not said twice"
    assert (second.content.value, second.content.replaced, cleared.content.replaced) == (None, "New Ulm", None)
    with customers.act() as product:
        found = build_constraints(act_log.load_in_force(product.ctx, PRODUCT)).overrides
    assert [(each.attribute, each.value) for each in found] == [("born", "2001-02-03"), ("revenue", "1200.5")]


def test_a_value_is_standardised_by_the_function_of_its_type(customers: Customers) -> None:
    def standardise(attribute: ProductAttribute, value: str) -> str | None:
        return f"{attribute.type}: {value.upper()}" if value != "?" else None

    with customers.act() as product:
        made = overrides.override(product, "e1", "city", "ulm", standardise)
        assert made.content.value == "city: ULM"
        with pytest.raises(InvalidInputError, match="no value of city"):
            overrides.override(product, "e1", "city", "?", standardise)


@flow
def test_a_retired_entity_names_its_successors_and_leaves_them_its_override(customers: Customers) -> None:
    with customers.act() as product:
        overrides.override(product, "e2", "city", "Köln")
    customers.write_tables({"e1": (*MEMBERS["e1"], *MEMBERS["e2"])}, CITIES, {"e2": ["e1"]})
    with customers.act() as product:
        with pytest.raises(ConflictError, match="Its records are in e1"):
            entity_edits.verify(product, entity="e2")
        made = overrides.override(product, "e1", "city", "Aachen")
        assert made.content.replaced == "Köln"
        undo.undo(product, made.number)
        cleared = overrides.clear_override(product, "e1", "city")
        assert cleared.content.replaced == "Köln"


def test_records_that_are_verified_as_one_are_not_called_different(customers: Customers) -> None:
    with customers.act() as product:
        entity_edits.verify(product, entity="e1")
        with pytest.raises(ConflictError, match="verified as e1"):
            pair_answers.answer(product, "r1", "r2", ActKind.DIFFERENT)
        entity_edits.unverify(product, record="r2")
        pair_answers.answer(product, "r1", "r2", ActKind.DIFFERENT)


# Undo


@flow
def test_an_undone_act_has_no_effect_and_is_undone_once(customers: Customers) -> None:
    with customers.act() as product:
        merged = entity_edits.merge(product, ["e1", "e2"])
        made = undo.undo(product, merged.number)
        assert (made.kind, made.content.undone, made.content.entities) == (ActKind.UNDO, (1,), ("e1", "e2"))
        with pytest.raises(ConflictError, match="undone already, by act 2"):
            undo.undo(product, merged.number)
        with pytest.raises(InvalidInputError, match="An undo cannot be undone"):
            undo.undo(product, made.number)
        acts = act_log.load_in_force(product.ctx, PRODUCT)
        assert [act.kind for act in acts] == [ActKind.UNDO]
        assert not build_constraints(acts).linked


RESTING: dict[str, tuple[Callable[[CuratedProduct], CurationAct], bool]] = {
    "the same pair": (lambda p: pair_answers.answer(p, "r1", "r4", ActKind.DIFFERENT), True),
    "a verification of what it linked": (lambda p: entity_edits.verify(p, entity="e1"), True),
    "another pair": (lambda p: pair_answers.answer(p, "r1", "r7", ActKind.DIFFERENT), False),
    "an override": (lambda p: overrides.override(p, "e1", "city", "Rom"), False),
    "a comment": (lambda p: entity_edits.comment(p, "e1", "Hm."), False),
}


@pytest.mark.parametrize("name", RESTING)
def test_an_act_on_which_later_ones_rest_is_undone_with_them_or_not_at_all(customers: Customers, name: str) -> None:
    make, rests = RESTING[name]
    with customers.act() as product:
        merged = entity_edits.merge(product, ["e1", "e2"])
    customers.write_tables({"e1": (*MEMBERS["e1"], *MEMBERS["e2"]), "e4": MEMBERS["e4"]}, CITIES, {"e2": ["e1"]})
    with customers.act() as product:
        later = make(product)
        if rests:
            kind = re.escape(later.kind.value)
            with pytest.raises(ConflictError, match=rf"rest on act 1: 2 \({kind}\)") as refused:
                undo.undo(product, merged.number)
            assert refused.value.code == "later_acts"
        made = undo.undo(product, merged.number, with_later=True)
        assert made.content.undone == ((1, 2) if rests else (1,))


def test_what_rests_on_what_rests_is_found_too(customers: Customers) -> None:
    with customers.act() as product:
        overrides.override(product, "e1", "city", "Rom")
        overrides.override(product, "e1", "city", "Oslo")
        overrides.override(product, "e1", "name", "Ada")
        overrides.clear_override(product, "e1", "city")
        entity_edits.verify(product, record="r1")
        entity_edits.unverify(product, entity="e1")
        assert [undo.undo(product, n, with_later=True).content.undone for n in (1, 5)] == [(1, 2, 4), (5, 6)]
        assert [each.kind for each in act_log.load_in_force(product.ctx, PRODUCT)][:1] == [ActKind.OVERRIDE]


def test_undoing_needs_the_right_to_each_act(customers: Customers) -> None:
    with customers.act() as product:
        entity_edits.comment(product, "e1", "Hm.")
    with customers.act("developer") as product, pytest.raises(ForbiddenError):
        undo.undo(product, 1)


# History


@flow
def test_the_history_of_an_entity_has_who_and_when_and_what_was_undone(customers: Customers) -> None:
    with customers.act("admin") as product:
        entity_edits.move(product, "r4", "e1")
        overrides.override(product, "e2", "city", "Rom")
        entity_edits.comment(product, "e4", "Elsewhere.")
    with customers.act() as product:
        entity_edits.merge(product, ["e1", "e2"])
        entity_edits.comment(product, "e1", "Hm.")
        undo.undo(product, 1, with_later=True)
        found = history.load_history(customers.open(product.ctx), "e1")
    listed = [(each.act.kind, each.act.by, each.undo.number if each.undo else 0) for each in found]
    assert listed == [
        (ActKind.UNDO, "curator", 0),
        (ActKind.COMMENT, "curator", 0),
        (ActKind.MERGE, "curator", 6),
        (ActKind.MOVE, "admin", 6),
    ], "the override of e2 belongs to e2, as the merge is undone"
    assert all(each.act.at for each in found)


def test_the_history_of_a_merged_entity_goes_on_in_the_one_that_remains(customers: Customers) -> None:
    with customers.act() as product:
        overrides.override(product, "e2", "city", "Rom")
        entity_edits.merge(product, ["e1", "e2"])
        found = history.load_history(product, "e1")
    assert [each.act.kind for each in found] == [ActKind.MERGE, ActKind.OVERRIDE]


def test_a_viewer_reads_no_record_and_no_comment_in_it(customers: Customers) -> None:
    with customers.act() as product:
        entity_edits.split(product, "e1", ["r2"])
        entity_edits.comment(product, "e1", "Her record says …")
        overrides.override(product, "e1", "city", "Rom")
    with customers.act("viewer") as product:
        found = history.load_history(product, "e1")
        assert [(each.act.kind, each.act.content.groups) for each in found] == [
            (ActKind.OVERRIDE, ()),
            (ActKind.SPLIT, ()),
        ]
        with pytest.raises(ForbiddenError):
            history.load_acts(product, None, 10)
    with (
        customers.platform.read(Caller(TENANT, "viewer", impersonator="ada")) as ctx,
        pytest.raises(ForbiddenError, match="shows no data"),
    ):
        history.load_history(customers.open(ctx), "e1")


@flow
def test_acts_are_in_the_audit_log_without_values(customers: Customers) -> None:
    def act(product: CuratedProduct) -> None:
        overrides.override(product, "e1", "city", "Secretville")
        entity_edits.comment(product, "e1", "Secretville!")
        undo.undo(product, 1)

    with customers.act() as product:
        act(product)
    with customers.platform.read(Caller(TENANT, "ada")) as ctx:
        entries = ctx.audit.page(AuditFilter(resource=PRODUCT, member="curator"))
        assert not ctx.audit.verify().fault
    assert [each.entry.action for each in entries] == ["curate: undo", "curate: comment", "curate: override"]
    assert entries[2].entry.after == {"act": 1, "entities": ["e1"], "attribute": "city"}
    assert "Secretville" not in str(entries)


def test_nothing_is_saved_by_whoever_views_as_somebody_else(customers: Customers) -> None:
    with (
        customers.platform.write(Caller(TENANT, "curator", impersonator="ada")) as ctx,
        pytest.raises(LakeholdError, match="only reads"),
    ):
        entity_edits.merge(customers.open(ctx), ["e1", "e2"])
