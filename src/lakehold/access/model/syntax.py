"""One expression of a model, from text to tree. Names are not looked up here.

expression := conjunction ("or" conjunction)*
conjunction := factor ("and" factor)*
factor := "not" factor | "(" expression ")" | "as" path "(" expression ")" | quantified | comparison
quantified := ("any" | "every" | "no") "(" item ("," item)* ")" ["." comparison]
item := name ["where" factor] ["else" name]
comparison := path ["=" name] | property [sign (property | name | number | 'text')]
path := name ("." name)*
property := "request" "." ("subject" | "resource" | "context") "." word
sign := "=" | "<" | "<=" | ">" | ">="
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from hashlib import sha256

from lakehold.access.model.errors import ModelError, SourceLocation, quote_excerpt

_PROPERTY = re.compile(r"request\.(subject|resource|context)\.([A-Za-z_][A-Za-z0-9_]*)")
_TOKEN = re.compile(
    rf"\s*(?:(?P<property>{_PROPERTY.pattern})|(?P<name>[a-z][a-z0-9_]*)|(?P<mark>[().,]|[<>]=?|=)"
    r"|(?P<number>-?[0-9]{1,18}(?:\.[0-9]{1,18})?)(?![A-Za-z0-9_])|(?P<text>'[^']*'))"
)
_SIGNS = ("=", "<=", ">=", "<", ">")
KEYWORDS = frozenset({"and", "or", "not", "any", "every", "no", "as", "where", "else"})
_DEEPEST = 50
_MOST_STEPS = 20
_LONGEST = 63


@dataclass(frozen=True, slots=True)
class PathNode:
    """A path: `data_mart.project.technical_user`, or `tenant.plan = starter`."""

    names: tuple[str, ...]
    equals: str | None = None


@dataclass(frozen=True, slots=True)
class RequestProperty:
    """A property of the request: `request.context.channel`."""

    side: str
    name: str

    def __str__(self) -> str:
        return f"request.{self.side}.{self.name}"


@dataclass(frozen=True, slots=True)
class ComparisonNode:
    """A comparison with a request property: `request.context.channel = web`, `request.resource.amount <= 1000`."""

    left: RequestProperty
    sign: str
    right: RequestProperty | str | bool | Decimal

    def __str__(self) -> str:
        return f"{self.left} {self.sign} {self.right}"

    @property
    def key(self) -> str:
        """A name for the comparison that no model can give to anything else."""
        return "request " + sha256(repr(self).encode()).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class ItemNode:
    """One edge in a quantifier: `streams where enabled else into`."""

    edge: str
    where: SyntaxTree | None = None
    otherwise: str | None = None


@dataclass(frozen=True, slots=True)
class QuantifierNode:
    """A quantifier: `every(reads, writes else into).viewer`."""

    word: str
    items: tuple[ItemNode, ...]
    then: PathNode | None


@dataclass(frozen=True, slots=True)
class AsHolderNode:
    """The same question about another person: `as project.owner (space.edits)`."""

    holder: PathNode
    question: SyntaxTree


@dataclass(frozen=True, slots=True)
class NotNode:
    """A negation: `not deleted`."""

    tree: SyntaxTree


@dataclass(frozen=True, slots=True)
class AndNode:
    """A conjunction: `owner and project.technical_user`."""

    trees: tuple[SyntaxTree, ...]


@dataclass(frozen=True, slots=True)
class OrNode:
    """A disjunction: `technical_owner or business_owner`."""

    trees: tuple[SyntaxTree, ...]


SyntaxTree = PathNode | ComparisonNode | QuantifierNode | AsHolderNode | NotNode | AndNode | OrNode


def parse_expression(text: str, place: SourceLocation) -> SyntaxTree:
    """Parse one expression."""
    return _Parser(text, place).parse()


class _Parser:
    def __init__(self, text: str, place: SourceLocation) -> None:
        self._text = text
        self._place = place
        self._tokens = self._split(text)
        self._at = 0
        self._depth = 0

    def parse(self) -> SyntaxTree:
        tree = self._expression()
        if self._peek():
            raise self._error(f"{quote_excerpt(self._peek())} is not expected here")
        return tree

    def _split(self, text: str) -> list[str]:
        tokens, at, stripped = [], 0, text.rstrip()
        while at < len(stripped):
            found = _TOKEN.match(stripped, at)
            if not found:
                raise self._error(f"{stripped[at:].lstrip()[:12]!r} cannot be read")
            tokens.append(found.group(0).strip())
            at = found.end()
        return tokens

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _take(self, token: str) -> bool:
        if self._peek() != token:
            return False
        self._at += 1
        return True

    def _expect(self, token: str) -> None:
        if not self._take(token):
            raise self._error(f"{token!r} is missing before {quote_excerpt(self._peek() or 'the end')}")

    def _name(self) -> str:
        name = self._peek()
        if not name or not name[0].isalpha() or name in KEYWORDS or "." in name:
            raise self._error(f"a name is expected, not {name or 'the end'!r}")
        if len(name) > _LONGEST:
            raise self._error(f"a name has {_LONGEST} letters at most, and {quote_excerpt(name)} has {len(name):,}")
        self._at += 1
        return name

    def _error(self, message: str) -> ModelError:
        return ModelError(
            self._place,
            f"in {quote_excerpt(self._text.strip(), 200)}: {message}.",
            "Expressions read like: owner and project.technical_user, every(reads, writes else into).viewer, "
            "plan = starter, not deleted.",
        )

    def _expression(self) -> SyntaxTree:
        trees = [self._conjunction()]
        while self._take("or"):
            trees.append(self._conjunction())
        return trees[0] if len(trees) == 1 else OrNode(tuple(trees))

    def _conjunction(self) -> SyntaxTree:
        trees = [self._factor()]
        while self._take("and"):
            trees.append(self._factor())
        return trees[0] if len(trees) == 1 else AndNode(tuple(trees))

    def _factor(self) -> SyntaxTree:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._error(f"brackets are nested more than {_DEEPEST} deep")
        negated = False
        while self._take("not"):
            negated = not negated
        tree = self._positive()
        self._depth -= 1
        return NotNode(tree) if negated else tree

    def _positive(self) -> SyntaxTree:
        if self._take("("):
            tree = self._expression()
            self._expect(")")
            return tree
        if self._take("as"):
            holder = self._path()
            self._expect("(")
            question = self._expression()
            self._expect(")")
            return AsHolderNode(holder, question)
        for word in ("any", "every", "no"):
            if self._take(word):
                return self._quantified(word)
        found = _PROPERTY.fullmatch(self._peek())
        return self._property_comparison(found) if found else self._comparison()

    def _property_comparison(self, found: re.Match[str]) -> ComparisonNode:
        self._at += 1
        left = RequestProperty(found.group(1), found.group(2))
        sign = next((sign for sign in _SIGNS if self._take(sign)), "")
        if not sign:
            return ComparisonNode(left, "=", right=True)
        right = self._value()
        if sign != "=" and not isinstance(right, Decimal | RequestProperty):
            raise self._error(f"only numbers are compared with {sign!r}")
        return ComparisonNode(left, sign, right)

    def _value(self) -> RequestProperty | str | bool | Decimal:
        token = self._peek()
        if found := _PROPERTY.fullmatch(token):
            self._at += 1
            return RequestProperty(found.group(1), found.group(2))
        if token[:1] == "'" or token[:1].isdigit() or token[:1] == "-":
            self._at += 1
            return token[1:-1] if token[0] == "'" else Decimal(token)
        name = self._name()
        return {"true": True, "false": False}.get(name, name)

    def _quantified(self, word: str) -> QuantifierNode:
        self._expect("(")
        items = [self._item()]
        while self._take(","):
            items.append(self._item())
        self._expect(")")
        then = self._comparison() if self._take(".") else None
        if word == "every" and then is None:
            raise self._error("every(…) needs a relation, as in every(reads).viewer")
        if word == "no" and then is not None:
            raise self._error("no(…) only tests whether there is one, and takes nothing after it")
        return QuantifierNode(word, tuple(items), then)

    def _item(self) -> ItemNode:
        edge = self._name()
        where = self._factor() if self._take("where") else None
        otherwise = self._name() if self._take("else") else None
        return ItemNode(edge, where, otherwise)

    def _path(self) -> PathNode:
        names = [self._name()]
        while self._take("."):
            names.append(self._name())
        if len(names) > _MOST_STEPS:
            raise self._error(f"a path has {_MOST_STEPS} names at most, and this one has {len(names):,}")
        return PathNode(tuple(names))

    def _comparison(self) -> PathNode:
        path = self._path()
        return PathNode(path.names, self._name()) if self._take("=") else path
