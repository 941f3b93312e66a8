"""What is refused although it can be read: circles, rights that are negated, rules that never hold or add nothing."""

from __future__ import annotations

import pytest

from lakehold import directory
from lakehold.access.model.loader import parse_model
from lakehold.access.model.policy import Policy
from lakehold.workspaces import models
from tests.access.model.refusals import InvalidModel, assert_error, compile_error, kinds
from tests.processor_time import bounded
from tests.world import World

# A kind with something of each sort. What a test adds stands after it.
BOOK = """
book:
  in: {book: {back: parts}}
  roles:
    keeper: {implies: writer, to: person, single: true}
    writer: {implies: reader}
    reader: {}
    guest: {}
  attributes:
    deleted: {}
    shared: {}
    state: {values: [fresh, worn, lost]}
  membership:
    fee: {values: [low, high]}
  actions: [see, edit, lend, drop]
"""


def book(text: str) -> str:
    return kinds(BOOK + text)


def compiled(text: str) -> Policy:
    return Policy([directory.model(), parse_model(text)])


CYCLES = {
    "a definition": (book("  define:\n    a: reader or a  # <-\n"), "library.book.a → library.book.a"),
    "two definitions": (
        book("  define:\n    a: reader or b  # <-\n    b: reader and a\n"),
        "library.book.a → library.book.b → library.book.a",
    ),
    "a negated definition": (
        book("  define:\n    a: not b  # <-\n    b: not a\n"),
        "library.book.a → library.book.b → library.book.a",
    ),
    "an action": (
        book(
            "  allow:\n    - {who: guest, may: [see, edit]}\n    - {who: edit and reader, may: see}  # <-\n"
            "    - {who: see and writer, may: edit}\n"
        ),
        "library.book.see → library.book.edit → library.book.see",
    ),
    "a gate": (
        book("  allow:\n    - {who: guest, may: see}\n  gates:\n    - {when: every(parts).see, for: see}  # <-\n"),
        "library.book.see → library.book.see",
    ),
    "an action and a definition": (
        book("  define:\n    seen: see  # <-\n  allow:\n    - {who: guest, may: see}\n    - {who: seen, may: see}\n"),
        "library.book.seen → library.book.see → library.book.seen",
    ),
    "a role along an edge": (
        kinds("dir:\n  in: {up: {to: dir}}\n  roles:\n    viewer:\n      from: up.viewer  # <-\n"),
        "library.dir.viewer → library.dir.viewer",
    ),
    "a role by way of the one that implies it": (
        kinds("a:\n  roles:\n    low: {}\n    high:\n      implies: low\n      from: low  # <-\n"),
        "library.a.low → library.a.low",
    ),
    "there and back again": (
        kinds("""
        a:
          roles: {r: {}}
          define:
            shown: r or any(bs).shown  # <-
        b:
          in: {a: {back: bs}}
          define:
            shown: a.shown
        """),
        "library.a.shown → library.b.shown → library.a.shown",
    ),
    "another person's": (
        book("  define:\n    a: as keeper (b)  # <-\n    b: any(parts where shared).a\n"),
        "library.book.a → library.book.b → library.book.a",
    ),
}


@pytest.mark.parametrize("name", CYCLES)
def test_cycles(name: str) -> None:
    text, circle = CYCLES[name]
    wrong = InvalidModel(text, f"a cyclic definition: {circle}.", "Remove one of the references.")
    assert_error(compile_error(text), wrong)


@pytest.mark.parametrize(
    ("roles", "name"),
    [
        ("    a:\n      title: A\n      implies: a  # <-\n", "a"),
        ("    a: {implies: b}\n    b:\n      title: B\n      implies: a  # <-\n", "a"),
        ("    x: {implies: a}\n    a: {implies: b}\n    b: {implies: c}\n    c: {implies: a}  # <-\n", "a"),
    ],
)
def test_roles_that_imply_themselves(roles: str, name: str) -> None:
    text = kinds(f"k:\n  roles:\n{roles}")
    assert_error(
        compile_error(text),
        InvalidModel(text, f"a cyclic definition: {name!r} implies itself.", "Remove one of the references."),
    )


def chain(length: int) -> str:
    lines = [f"    d{number}: d{number + 1}{'  # <-' if number == 0 else ''}\n" for number in range(length)]
    return kinds("k:\n  define:\n" + "".join(lines) + f"    d{length}: everyone\n")


def test_a_long_row_of_definitions() -> None:
    text = chain(150)
    assert_error(
        compile_error(text),
        InvalidModel(
            text, "library.k.d0 depends on a chain of more than 100 definitions.", "fewer definitions in between"
        ),
    )


def test_the_longest_row_of_definitions_can_be_decided_with() -> None:
    text = chain(98).replace("define:", "in: tenant\n    actions: [see]\n    allow: [{who: d0, may: see}]\n    define:")
    world = World(compiled(text))
    world.member("ada")
    world.add("library.k", "it", tenant="acme")
    assert world.check("ada", "see", "it")


def test_a_long_row_of_definitions_in_any_order() -> None:
    lines = [f"    d{number}: d{number - 1} and (d0 or d0)\n" for number in range(1, 150)]
    assert (
        "more than 100 definitions"
        in compile_error(kinds("k:\n  roles: {d0: {}}\n  define:\n" + "".join(lines))).message
    )


def test_many_ways_to_one_definition_are_quick() -> None:
    lines = [f"    d{number}: not d{number + 1} or shared and d{number + 1}\n" for number in range(30)]
    with bounded("many ways"):
        compiled(book("  define:\n" + "".join(lines) + "    d30: not deleted\n"))


# Rights are never taken away

NEGATED = {
    "a role": "not guest",
    "an action": "not see",
    "a definition": "not known",
    "deep in it": "reader or (shared and not (deleted and guest))",
    "at the end of a path": "not book.reader",
    "of some": "not any(parts).see",
    "of all": "reader and not every(parts).edit",
    "where": "any(parts where reader).edit",
    "where, in every": "every(parts where see).edit",
    "where, in no": "no(parts where writer)",
    "of another person": "not as keeper (shared)",
    "for another person": "as keeper (not guest)",
    "twice": "not (not guest)",
}

PLACES = {
    "a rule": "  allow:\n    - {{who: keeper, may: [see, lend]}}\n    - {{who: {}, may: lend}}  # <-\n",
    "a gate": "  allow:\n    - {{who: guest, may: all}}\n  gates:\n    - when: {}  # <-\n      for: lend\n",
    "create": "  create: {}  # <-\n",
    "set_with": "  edges:\n    after:\n      to: book\n      set_with: {}  # <-\n",
}


@pytest.mark.parametrize("name", NEGATED)
@pytest.mark.parametrize("where", PLACES)
def test_negated_rights(name: str, where: str) -> None:
    defined = "  define:\n    bare: not deleted\n    known: reader and bare\n"
    text = book(defined + PLACES[where].format(NEGATED[name]))
    wrong = InvalidModel(
        text, "`not`, `no` and `where` go with attributes and edges", "Models only allow: state who may instead."
    )
    assert_error(compile_error(text), wrong)


def test_negated_rights_in_a_role() -> None:
    text = kinds("k:\n  roles:\n    low: {}\n    high:\n      implies: low\n      when: not low  # <-\n")
    assert "a cyclic definition" in compile_error(text).message
    text = kinds(
        "k:\n  roles:\n    low: {}\n    other: {}\n    high:\n      implies: low\n      when: not other  # <-\n"
    )
    assert_error(compile_error(text), InvalidModel(text, "not with what a person may do."))


CONDITIONS = [
    "not deleted",
    "not (deleted or state = worn)",
    "not (not deleted)",
    "not book.deleted",
    "not fee = low",
    "no(parts)",
    "not any(parts where shared)",
    "no(parts where no(parts where deleted))",
    "not unshared",
    "any(parts where not deleted).reader",
    "as keeper (reader and not deleted)",
]


@pytest.mark.parametrize("condition", CONDITIONS)
def test_conditions_may_be_negated(condition: str) -> None:
    compiled(book(f"  define:\n    unshared: not shared\n    asked: {condition}\n"))


# Rules that never hold

CONTRADICTIONS = [
    "deleted and not deleted",
    "deleted and deleted = false",
    "state = fresh and state = worn",
    "fee = low and fee = high",
    "shared and (state = fresh and state = worn or deleted and not deleted)",
    "any(parts) and no(parts)",
    "(deleted or shared) and not deleted and not shared",
]


@pytest.mark.parametrize("condition", CONTRADICTIONS)
def test_rules_that_never_hold(condition: str) -> None:
    text = book(
        f"  allow:\n    - {{who: guest, may: see}}\n    - {{who: reader, when: {condition}, may: edit}}  # <-\n"
    )
    assert_error(
        compile_error(text), InvalidModel(text, "an unreachable rule: its conditions exclude each other.", "Remove it.")
    )


def test_who_and_when_may_exclude_each_other() -> None:
    text = book("  allow:\n    - {who: reader and deleted, when: not deleted, may: see}  # <-\n")
    assert_error(compile_error(text), InvalidModel(text, "an unreachable rule: its conditions exclude each other."))


def test_gates_that_never_hold() -> None:
    text = book(
        "  allow:\n    - {who: reader, may: see}\n  gates:\n    - {when: deleted and not deleted, for: see}  # <-\n"
    )
    assert_error(compile_error(text), InvalidModel(text, "an unreachable rule: its conditions exclude each other."))


def test_rules_that_no_gate_lets_through() -> None:
    gates = "  gates:\n    - {when: not deleted, for: [see, edit]}\n    - {when: shared, for: edit}\n  allow:\n"
    text = book(gates + "    - {who: reader, when: deleted, may: [see, edit]}  # <-\n")
    assert_error(
        compile_error(text), InvalidModel(text, "an unreachable rule: the gates never let it through.", "Remove it.")
    )
    compiled(book(gates + "    - {who: reader, when: deleted, may: [see, lend]}\n"))


# Rules that add nothing: the rules, and what is said of the one that is marked

IDLE = {
    "twice": ("{who: reader, may: see}|{who: guest, may: see}|{who: reader, may: see} <-", "a duplicate rule: line 19"),
    "in other words": (
        "{who: reader or guest, may: [see, edit]}|{who: guest or reader, may: [edit, see]} <-",
        "a duplicate",
    ),
    "who or when": ("{who: reader and shared, may: see}|{who: reader, when: shared, may: see} <-", "a duplicate rule"),
    "when only": ("{when: shared, may: see}|{who: everyone, when: shared, may: see} <-", "a duplicate rule: line 19"),
    "fewer actions": ("{who: reader, may: [see, edit]}|{who: reader, may: see} <-", "an unreachable rule: line 19"),
    "all actions": ("{who: reader, may: edit} <-|{who: reader, may: all}", "an unreachable rule: line 20"),
    "narrower": ("{who: reader, when: shared, may: see} <-|{who: reader, may: see}", "an unreachable rule: line 20"),
    "everyone": ("{who: everyone, may: see}|{who: reader, may: see} <-", "an unreachable rule: line 19"),
    "one of several": ("{who: reader or guest, may: see}|{who: guest, may: see} <-", "an unreachable rule: line 19"),
    "a role that implies": ("{who: reader, may: see}|{who: keeper, may: see} <-", "an unreachable rule: line 19"),
    "along an edge": ("{who: book.reader, may: see}|{who: book.keeper, may: see} <-", "an unreachable rule: line 19"),
    "of every part": ("{who: every(parts).reader, may: see}|{who: every(parts).writer, may: see} <-", "an unreachable"),
    "both together": (
        "{who: reader, may: see}|{who: reader, may: edit}|{who: writer, may: [see, edit]} <-",
        "an unreachable rule: lines 19 and 20 already allow all of it.",
    ),
    "each way by another": (
        "{who: reader, may: see}|{who: guest, may: see}|{who: writer or guest, may: see} <-",
        "an unreachable rule: lines 19 and 20 already allow all of it.",
    ),
}


def rules(text: str) -> str:
    lines = [f"    - {line}\n".replace("<-", " # <-") for line in text.split("|")]
    return book("  allow:\n" + "".join(lines))


@pytest.mark.parametrize("name", IDLE)
def test_rules_that_add_nothing(name: str) -> None:
    text = rules(IDLE[name][0])
    assert_error(compile_error(text), InvalidModel(text, IDLE[name][1], "Remove it."))


def test_gates_that_add_nothing() -> None:
    gates = "  gates:\n    - {when: not deleted, for: [see, edit]}\n    - {when: WHEN, for: edit}  # <-\n"
    for again in ("not deleted", "not deleted or shared"):
        text = book(gates.replace("WHEN", again))
        assert_error(
            compile_error(text),
            InvalidModel(text, "a duplicate rule: line 19 already requires all of it.", "Remove it."),
        )
    compiled(book(gates.replace("WHEN", "not deleted and shared")))


NOT_IDLE = [
    "{who: reader, may: see}|{who: reader, may: edit}",
    "{who: reader, may: see}|{who: writer, may: [see, edit]}",
    "{who: reader, may: [see, edit]}|{who: guest, may: [edit, lend]}",
    "{who: reader, when: shared, may: see}|{who: reader, when: not shared, may: see}",
    "{who: any(parts).reader, may: see}|{who: every(parts).reader, may: see}",
    "{who: book.reader, may: see}|{who: book.guest, may: see}",
]


@pytest.mark.parametrize("text", NOT_IDLE)
def test_rules_that_add_something(text: str) -> None:
    compiled(rules(text))


def test_a_rule_of_very_many_ways_is_not_taken_for_idle() -> None:
    """Only the last of its 512 ways is new, and the last is as good as the first."""
    flags = [f"f{number}" for number in range(9)]
    many = " and ".join(f"({flag} or every(books).{flag})" for flag in flags)
    compiled(
        kinds(f"""
        book:
          edges: {{books: {{to: book, many: true}}}}
          attributes: {{{", ".join(f"{flag}: {{}}" for flag in flags)}}}
          actions: [see]
          allow:
            - {{when: f0, may: see}}
            - {{when: {many}, may: see}}
        """)
    )


def test_the_shipped_models_are_sound() -> None:
    assert [*Policy(models()).models] == ["tenant", "lakehouse", "marts", "products", "spaces"]
