"""One expression of a model, from text to tree. Names are not looked up here.

expression := conjunction ("or" conjunction)*
conjunction := factor ("and" factor)*
factor := "not" factor | "(" expression ")" | "as" path "(" expression ")" | quantified | comparison
quantified := ("any" | "every" | "no") "(" item ("," item)* ")" ["." comparison]
item := name ["where" factor] ["else" name]
comparison := path ["=" name]
path := name ("." name)*
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from lakehold.access.model.errors import ModelError, Place, quoted

_TOKEN = re.compile(r"\s*(?:(?P<name>[a-z][a-z0-9_]*)|(?P<mark>[().,=]))")
WORDS = frozenset({"and", "or", "not", "any", "every", "no", "as", "where", "else"})
_DEEPEST = 50
_MOST_STEPS = 20
_LONGEST = 63


@dataclass(frozen=True, slots=True)
class Path:
    """`data_mart.project.technical_user`, or `tenant.plan = starter`."""

    names: tuple[str, ...]
    equals: str | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """One edge in a quantifier: `streams where enabled else into`."""

    edge: str
    where: Tree | None = None
    otherwise: str | None = None


@dataclass(frozen=True, slots=True)
class Quantified:
    """`every(reads, writes else into).viewer`."""

    word: str
    items: tuple[Item, ...]
    then: Path | None


@dataclass(frozen=True, slots=True)
class AsHolder:
    """`as project.owner (space.edits)`: the same question about another person."""

    holder: Path
    question: Tree


@dataclass(frozen=True, slots=True)
class Not:
    """`not deleted`."""

    tree: Tree


@dataclass(frozen=True, slots=True)
class Both:
    """`owner and project.technical_user`."""

    trees: tuple[Tree, ...]


@dataclass(frozen=True, slots=True)
class Either:
    """`technical_owner or business_owner`."""

    trees: tuple[Tree, ...]


Tree = Path | Quantified | AsHolder | Not | Both | Either


def parse(text: str, place: Place) -> Tree:
    """Read one expression."""
    return _Parser(text, place).whole()


class _Parser:
    def __init__(self, text: str, place: Place) -> None:
        self._text = text
        self._place = place
        self._tokens = self._split(text)
        self._at = 0
        self._depth = 0

    def whole(self) -> Tree:
        tree = self._expression()
        if self._peek():
            raise self._wrong(f"{quoted(self._peek())} is not expected here")
        return tree

    def _split(self, text: str) -> list[str]:
        tokens, at, stripped = [], 0, text.rstrip()
        while at < len(stripped):
            found = _TOKEN.match(stripped, at)
            if not found:
                raise self._wrong(f"{stripped[at:].lstrip()[:12]!r} cannot be read")
            tokens.append(found.group("name") or found.group("mark"))
            at = found.end()
        return tokens

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _take(self, wanted: str) -> bool:
        if self._peek() != wanted:
            return False
        self._at += 1
        return True

    def _expect(self, wanted: str) -> None:
        if not self._take(wanted):
            raise self._wrong(f"{wanted!r} is missing before {quoted(self._peek() or 'the end')}")

    def _name(self) -> str:
        name = self._peek()
        if not name or not name[0].isalpha() or name in WORDS:
            raise self._wrong(f"a name is expected, not {name or 'the end'!r}")
        if len(name) > _LONGEST:
            raise self._wrong(f"a name has {_LONGEST} letters at the most, and {quoted(name)} has {len(name):,}")
        self._at += 1
        return name

    def _wrong(self, message: str) -> ModelError:
        return ModelError(
            self._place,
            f"in {quoted(self._text.strip(), 200)}: {message}.",
            "Expressions read like: owner and project.technical_user, every(reads, writes else into).viewer, "
            "plan = starter, not deleted.",
        )

    def _expression(self) -> Tree:
        trees = [self._conjunction()]
        while self._take("or"):
            trees.append(self._conjunction())
        return trees[0] if len(trees) == 1 else Either(tuple(trees))

    def _conjunction(self) -> Tree:
        trees = [self._factor()]
        while self._take("and"):
            trees.append(self._factor())
        return trees[0] if len(trees) == 1 else Both(tuple(trees))

    def _factor(self) -> Tree:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._wrong(f"brackets are nested more than {_DEEPEST} deep")
        negated = False
        while self._take("not"):
            negated = not negated
        tree = self._positive()
        self._depth -= 1
        return Not(tree) if negated else tree

    def _positive(self) -> Tree:
        if self._take("("):
            tree = self._expression()
            self._expect(")")
            return tree
        if self._take("as"):
            holder = self._path()
            self._expect("(")
            question = self._expression()
            self._expect(")")
            return AsHolder(holder, question)
        for word in ("any", "every", "no"):
            if self._take(word):
                return self._quantified(word)
        return self._comparison()

    def _quantified(self, word: str) -> Quantified:
        self._expect("(")
        items = [self._item()]
        while self._take(","):
            items.append(self._item())
        self._expect(")")
        then = self._comparison() if self._take(".") else None
        if word == "every" and then is None:
            raise self._wrong("every(…) needs what is asked of each, as in every(reads).viewer")
        if word == "no" and then is not None:
            raise self._wrong("no(…) asks only whether there is one, and takes nothing after it")
        return Quantified(word, tuple(items), then)

    def _item(self) -> Item:
        edge = self._name()
        where = self._factor() if self._take("where") else None
        otherwise = self._name() if self._take("else") else None
        return Item(edge, where, otherwise)

    def _path(self) -> Path:
        names = [self._name()]
        while self._take("."):
            names.append(self._name())
        if len(names) > _MOST_STEPS:
            raise self._wrong(f"a path has {_MOST_STEPS} names at the most, and this one has {len(names):,}")
        return Path(tuple(names))

    def _comparison(self) -> Path:
        path = self._path()
        return Path(path.names, self._name()) if self._take("=") else path
