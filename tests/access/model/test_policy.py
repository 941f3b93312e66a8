"""Models that stand on each other: every name that is looked up, and what it is resolved to."""

from __future__ import annotations

import pytest

from lakehold import directory
from lakehold.access.model.errors import ModelError
from lakehold.access.model.expressions import (
    ALWAYS,
    CREATE_RELATION,
    AllOf,
    AnyOf,
    AttributeIs,
    EdgeStep,
    Every,
    Expression,
    HasRole,
    IsSelf,
    MembershipIs,
    Not,
    QuantifierItem,
    Relation,
    RoleHolder,
    Some,
    give_relation,
    invite_relation,
    link_relation,
    set_relation,
)
from lakehold.access.model.loader import parse_model
from lakehold.access.model.policy import MEMBER, TENANT, Policy
from lakehold.kit.errors import InvalidInputError
from lakehold.workspaces import models, policy
from tests.access.model.refusals import HEAD, InvalidModel, assert_error, compile_error, kinds

# Kinds for the names below to be wrong in. What a test adds stands after them.
LIBRARY = """
shelf:
  in: tenant
  roles:
    keeper: {to: person, single: true}
    reader: {}
  attributes:
    open: {}
    state: {values: [fresh, worn]}
  membership:
    fee: {values: [low, high]}
  edges:
    beside: {to: shelf, many: true, back: neighbours}
    next: {to: shelf}
  actions: [see, lend]
box:
  in: {shelf: {back: boxes}}
  roles: {owner: {}}
  actions: [see]
"""


def book(text: str) -> str:
    """A model with one kind more, which has one thing wrong."""
    return kinds(LIBRARY + "book:\n  in: {shelf: {back: books}}\n" + text)


EXPRESSIONS: dict[str, tuple[str, str]] = {
    # An edge at the beginning of a path, further on, and in every quantifier
    "shelff.reader": ("a book has no edge 'shelff'.", "Did you mean 'shelf'?"),
    "shelf.tenat.admin": ("a shelf has no edge 'tenat'.", "Did you mean 'tenant'?"),
    "any(shelfs)": ("a book has no edge 'shelfs'.", "Did you mean 'shelf'?"),
    "any(shelfs).reader": ("a book has no edge 'shelfs'.", "Did you mean 'shelf'?"),
    "every(shelf, shelfs).reader": ("a book has no edge 'shelfs'.", "Did you mean 'shelf'?"),
    "every(shelf else shef).reader": ("a book has no edge 'shef'.", "Did you mean 'shelf'?"),
    "no(shefl)": ("a book has no edge 'shefl'.", "Did you mean 'shelf'?"),
    "any(shelf where any(bocks))": ("a shelf has no edge 'bocks'.", "Did you mean 'books'?"),
    "as shef.keeper (everyone)": ("a book has no edge 'shef'.", "Did you mean 'shelf'?"),
    # A role, action, definition or attribute here or at the end of a path
    "raeder": ("a book has no role, action, definition or attribute 'raeder'.", "Did you mean 'reader'?"),
    "shelf.raeder": ("a shelf has no role, action, definition or attribute 'raeder'.", "Did you mean 'reader'?"),
    "shelf.ledn": ("a shelf has no role, action, definition or attribute 'ledn'.", "Did you mean 'lend'?"),
    "shelf.next.opn": ("a shelf has no role, action, definition or attribute 'opn'.", "Did you mean 'open'?"),
    "any(shelf).kepeer": ("a shelf has no role, action, definition or attribute 'kepeer'.", "Did you mean 'keeper'?"),
    "any(shelf where opn)": ("a shelf has no role, action, definition or attribute 'opn'.", "Did you mean 'open'?"),
    "not opn": ("a book has no role, action, definition or attribute 'opn'.", "Known here: everyone, reader, see."),
    "as shelf.keeper (raeder)": ("a book has no role, action, definition or attribute 'raeder'.", "'reader'"),
    "as shelf.keepr (everyone)": ("a shelf has no role 'keepr'.", "Did you mean 'keeper'?"),
    "as shelf.open (everyone)": ("a shelf has no role 'open'.", "Known here: keeper, reader."),
    "shelf": ("a book has no role, action, definition or attribute 'shelf'.", "'shelf' is an edge: name a relation"),
    # Attributes and their values
    "shelf.state": ("'state' is not on or off.", "Use state = fresh."),
    "shelf.fee": ("'fee' is not on or off.", "Use fee = low."),
    "shelf.state = wron": ("'wron' is not a valid value of 'state'.", "Did you mean 'worn'?"),
    "shelf.fee = hihg": ("'hihg' is not a valid value of 'fee'.", "Did you mean 'high'?"),
    "shelf.open = yes": ("'yes' is not a valid value of 'open'.", "Known here: false, true."),
    "shelf.stat = worn": ("a shelf has no role, action, definition or attribute 'stat'.", "Did you mean 'state'?"),
    "reader = true": ("'reader' has no values: it is not an attribute.", "Use reader alone."),
    "everyone = true": ("'everyone' has no values: it is not an attribute.", "Use everyone alone."),
    # One or many
    "shelf.beside.reader": (
        "'beside' may lead from a shelf to many.",
        "Use any(beside).reader or every(beside).reader.",
    ),
    "shelf.books.reader": ("'books' may lead from a shelf to many.", "Use any(books).reader"),
    "as shelf.beside.keeper (everyone)": ("`as` needs one resource, and 'beside' may lead to many.", ""),
    "as shelf.boxes.owner (everyone)": ("`as` needs one resource, and 'boxes' may lead to many.", ""),
    "as shelf.reader (everyone)": ("`as` needs a role of one person.", "Declare reader with to: person, single: true."),
}

READERS = "  roles: {reader: {}}\n"
SPOTS = {
    "from": "  roles:\n    reader:\n      to: person\n      from: ASKED  # <-\n",
    "when of a role": "  roles:\n    reader:\n      when: ASKED  # <-\n",
    "given_with": "  roles:\n    reader:\n      given_with: ASKED  # <-\n",
    "define": READERS + "  define:\n    known: everyone\n    wrong: ASKED  # <-\n",
    "create": READERS + "  create: ASKED  # <-\n",
    "set_with of an attribute": READERS + "  attributes:\n    new:\n      set_with: ASKED  # <-\n",
    "set_with of a value": READERS + "  membership:\n    new:\n      set_with:\n        true: ASKED  # <-\n",
    "set_with of an edge": READERS + "  edges:\n    on:\n      to: shelf\n      set_with: ASKED  # <-\n",
    "who": READERS + "  actions: [see]\n  allow:\n    - may: see\n      who: ASKED  # <-\n",
    "when": READERS + "  actions: [see]\n  allow:\n    - {who: everyone, may: see, when: ASKED}  # <-\n",
    "when of a gate": READERS + "  actions: [see]\n  gates:\n    - for: see\n      when: ASKED  # <-\n",
}


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_wrong_names_in_expressions(expression: str) -> None:
    text = book(SPOTS["who"].replace("ASKED", expression))
    message, hint = EXPRESSIONS[expression]
    assert_error(compile_error(text), InvalidModel(text, message, hint))


@pytest.mark.parametrize("spot", SPOTS)
@pytest.mark.parametrize("expression", ["shelf.raeder", "any(shelfs).reader", "shelf.state = wron"])
def test_wrong_names_wherever_an_expression_stands(spot: str, expression: str) -> None:
    text = book(SPOTS[spot].replace("ASKED", expression))
    assert_error(compile_error(text), InvalidModel(text, *EXPRESSIONS[expression]))


OTHERS = {
    "extends": InvalidModel(
        "model: m\ntitle: M\nextends:\n  - tenant\n  - lakehose # <-\nkinds: {a: {}}\n",
        "it extends 'lakehose', which does not exist.",
        "Known here: m, tenant.",
    ),
    "in": InvalidModel(kinds("book:\n  title: Book\n  in: tenat # <-"), "no kind 'tenat'.", "Did you mean 'tenant'?"),
    "in, by the name of its edge": InvalidModel(
        kinds("book:\n  in:\n    tenat: {back: books} # <-"), "no kind 'tenat'."
    ),
    "to": InvalidModel(
        kinds("book:\n  edges:\n    after:\n      many: true\n      to: [book,\n           bok] # <-"),
        "no kind 'bok'.",
        "Did you mean 'book'?",
    ),
    "to, left out": InvalidModel(kinds("book: {}\nshelf:\n  edges:\n    books: {} # <-"), "no kind 'books'.", "'book'"),
    "a kind of a model that it does not stand on": InvalidModel(
        "model: m\nkinds:\n  a:\n    in: tenant # <-\n",
        "no kind 'tenant'.",
        "It is a kind of 'tenant': add that to `extends:`.",
    ),
    "needs": InvalidModel(
        kinds("shelf: {actions: [see, lend]}\nbook:\n  edges:\n    on:\n      to: shelf\n      needs: ledn # <-"),
        "needs: a shelf has no role, action or definition 'ledn'.",
        "Did you mean 'lend'?",
    ),
    "needs an attribute": InvalidModel(
        kinds("shelf: {attributes: {open: {}}}\nbook:\n  edges:\n    on: {to: shelf, needs: open} # <-"),
        "needs: a shelf has no role, action or definition 'open'.",
    ),
    "beside, from elsewhere": InvalidModel(
        kinds("hall: {}\nshelf: {in: hall}\nbook:\n  in: shelf\n  edges:\n    on: {to: shelf, beside: true} # <-"),
        "beside: a shelf does not stay in one parent of book.",
        "Leave `beside` out.",
    ),
    "beside, where it is moved": InvalidModel(
        kinds(
            "shelf: {}\nbook:\n  in: {shelf: {set_with: lend}}\n"
            "  edges:\n    sequel: {to: book, beside: true} # <-\n  actions: [see, lend]"
        ),
        "beside: a book does not stay in one parent of book.",
    ),
    "edited with what is not there": InvalidModel(
        kinds("shelf: {actions: [see, lend]}\nbook:\n  in: shelf\n  edited_with: shelf.ledn # <-"),
        "a shelf has no role, action, definition or attribute 'ledn'.",
        "Did you mean 'lend'?",
    ),
    "deleted with a role": InvalidModel(
        kinds(
            "shelf: {roles: {keeper: {}}, actions: [see, keep]}\nbook:\n  in: shelf\n  deleted_with: shelf.keeper # <-"
        ),
        "'shelf.keeper' names no action.",
        "Did you mean 'keep'?",
    ),
    "edited with everyone": InvalidModel(
        kinds("shelf:\n  actions: [see]\n  edited_with: everyone # <-"), "'everyone' names no action."
    ),
    "needs at each end": InvalidModel(
        kinds("a: {roles: {r: {}}}\nb: {roles: {s: {}}}\nc:\n  edges:\n    on: {to: [a, b], needs: r} # <-"),
        "needs: a b has no role, action or definition 'r'.",
        "Known here: s.",
    ),
    "known at one end only": InvalidModel(
        kinds("a: {roles: {r: {}}}\nb: {roles: {s: {}}}\nc:\n  edges: {on: {to: [a, b]}}\n  define:\n    d: on.r # <-"),
        "a b has no role, action, definition or attribute 'r'.",
        "Known here: everyone, s.",
    ),
    "back": InvalidModel(
        kinds("a: {}\nb:\n  edges:\n    one: {to: a, back: bs}\n    two: {to: a, back: bs} # <-"),
        "library.a already has an edge 'bs'.",
        "Choose another name.",
    ),
    "everyone": InvalidModel(
        HEAD.replace("kinds", "everyone: hall\nkinds") + "  hall: {}\n  book: # <-\n    in: tenant\n",
        "'book' does not lie in a 'hall', whose members the group All means.",
        "Give it an `in:` that leads there.",
    ),
    "everyone, in a circle": InvalidModel(
        HEAD.replace("kinds", "everyone: hall\nkinds") + "  hall: {}\n  a: # <-\n    in: b\n  b: {in: a}\n",
        "'a' does not lie in a 'hall'",
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_wrong_names_of_kinds_models_and_edges(name: str) -> None:
    assert_error(compile_error(OTHERS[name].text), OTHERS[name])


def test_two_models_of_one_name() -> None:
    with pytest.raises(ModelError, match=r"here:2: there are two models called 'marts'\. Rename one of them\."):
        Policy([*models(), parse_model("# mine\nmodel: marts\nkinds: {a: {}}\n", "here")])


# What the names become

SHELF, BOOK = "library.shelf", "library.book"
TO_SHELF, TO_TENANT = EdgeStep("shelf", False, (SHELF,)), EdgeStep("tenant", False, ("tenant.tenant",))
BOOKS, LABEL = EdgeStep("shelf", True, (BOOK,)), EdgeStep("label", False, (SHELF, "library.box"))


def along(step: EdgeStep, end: str, then: Expression) -> Some:
    return Some((QuantifierItem(step),), ((end, then),))


READER = Relation(SHELF, "reader")
MEANINGS: dict[str, Expression] = {
    "everyone": ALWAYS,
    "mine": Relation(BOOK, "mine"),
    "see": Relation(BOOK, "see"),
    "shelf.reader": along(TO_SHELF, SHELF, READER),
    "shelf.tenant.admin": along(TO_SHELF, SHELF, along(TO_TENANT, "tenant.tenant", Relation("tenant.tenant", "admin"))),
    "shelf.open": along(TO_SHELF, SHELF, AttributeIs("open", "true", "false")),
    "shelf.open = false": along(TO_SHELF, SHELF, AttributeIs("open", "false", "false")),
    "shelf.state = worn": along(TO_SHELF, SHELF, AttributeIs("state", "worn", "fresh")),
    "shelf.fee = high": along(TO_SHELF, SHELF, MembershipIs("fee", "high", "low")),
    "any(shelf)": along(TO_SHELF, SHELF, ALWAYS),
    "no(shelf)": Not(along(TO_SHELF, SHELF, ALWAYS)),
    "every(shelf).reader": Every((QuantifierItem(TO_SHELF),), ((SHELF, READER),)),
    "any(shelf where open).reader": Some(
        (QuantifierItem(TO_SHELF, ((SHELF, AttributeIs("open", "true", "false")),)),), ((SHELF, READER),)
    ),
    "any(shelf where any(books))": Some(
        (QuantifierItem(TO_SHELF, ((SHELF, along(BOOKS, BOOK, ALWAYS)),)),), ((SHELF, ALWAYS),)
    ),
    "every(label else shelf).see": Every(
        (QuantifierItem(LABEL, (), TO_SHELF),),
        ((SHELF, Relation(SHELF, "see")), ("library.box", Relation("library.box", "see"))),
    ),
    "as shelf.keeper (mine)": RoleHolder(
        (TO_SHELF,), HasRole(SHELF, frozenset({"keeper"}), person_only=True), Relation(BOOK, "mine")
    ),
    "mine and see and mine": AllOf((Relation(BOOK, "mine"), Relation(BOOK, "see"))),
    "mine or (see or mine)": AnyOf((Relation(BOOK, "mine"), Relation(BOOK, "see"))),
    "mine or everyone": ALWAYS,
    "mine and everyone": Relation(BOOK, "mine"),
}


@pytest.mark.parametrize("expression", MEANINGS)
def test_meaning(expression: str) -> None:
    named = "  roles: {mine: {}}\n  edges: {label: {to: [shelf, box]}}\n  actions: [see]\n"
    model = parse_model(book(f"{named}  define:\n    asked: {expression}\n"))
    assert Policy([directory.model(), model]).relations[BOOK, "asked"] == MEANINGS[expression]


def test_self_is_for_members_alone() -> None:
    shipped = policy()
    delete = shipped.relations[MEMBER, "delete"]
    assert isinstance(delete, AnyOf)
    assert IsSelf() in delete.parts
    for expression in ("self", "as self (everyone)"):
        with pytest.raises(ModelError, match="'self'"):
            Policy([directory.model(), parse_model(book(f"  define:\n    asked: {expression}\n"))])


def test_relations_that_no_model_names() -> None:
    shipped = policy()
    assert shipped.relations["marts.project", invite_relation("admin")] == Relation("marts.project", "invite_admin")
    assert shipped.relations["marts.project", give_relation("admin")] == Relation("marts.project", "manage_members")
    assert shipped.relations["marts.destination", set_relation("deleted", "false")] == Relation(
        "marts.destination", "restore"
    )
    assert shipped.relations["marts.report", link_relation("destination")] == Relation("marts.report", "edit")
    assert ("marts.report", CREATE_RELATION) in shipped.relations
    assert ("tenant.all_members", CREATE_RELATION) not in shipped.relations


def test_a_ladder_of_roles() -> None:
    shipped = policy()
    manager, editor = (HasRole("lakehouse.layer", frozenset(roles)) for roles in (["manager"], ["manager", "editor"]))
    derived = shipped.relations["lakehouse.layer", "manager"]
    assert isinstance(derived, AnyOf)
    assert derived.parts[0] == manager
    assert derived.parts[1:] == shipped.relations["lakehouse.layer", "editor"].parts[1:]  # type: ignore[union-attr]
    assert shipped.relations["lakehouse.layer", "editor"].parts[0] == editor  # type: ignore[union-attr]


def test_what_is_asked_of_a_policy_by_a_wrong_name() -> None:
    shipped = policy()
    with pytest.raises(InvalidInputError, match=r"no kind 'marts\.reprot'\. Did you mean 'marts\.report'\?"):
        shipped.kind("marts.reprot")
    with pytest.raises(InvalidInputError, match=r"marts\.report has no action 'rnu'\. Did you mean 'run'\?"):
        shipped.action("marts.report", "rnu")
    with pytest.raises(InvalidInputError, match=r"marts\.report has no role 'ower'\. Did you mean 'owner'\?"):
        shipped.role("marts.report", "ower")
    with pytest.raises(InvalidInputError, match=r"marts\.report has no edge 'mart'\. Did you mean 'data_mart'\?"):
        shipped.edge("marts.report", "mart")


def test_ends_that_multiply_with_every_step_are_refused() -> None:
    way = "e." * 14
    kinds = "\n".join(
        f"  {name}:\n    roles: {{r: {{}}}}\n    edges: {{e: {{to: [a, b]}}}}\n"
        f"    actions: [see]\n    allow:\n      - {{who: {way}r, may: see}}"
        for name in ("a", "b")
    )
    with pytest.raises(ModelError, match="more than 2,000 ends"):
        Policy([parse_model(f"model: deep\nkinds:\n{kinds}\n")])


def test_the_roles_in_the_tenant_that_count_for_an_action_are_those_of_the_models() -> None:
    found = policy()
    assert found.roles_for("marts.project", "manage_settings", TENANT) == {"owner", "admin"}
    assert found.roles_for("marts.project", "manage_settings", "marts.project") == {"admin"}
    assert found.roles_for("tenant.tenant", "manage_owners", TENANT) == {"owner"}
    assert not found.roles_for("tenant.tenant", "manage_owners", "marts.project")
