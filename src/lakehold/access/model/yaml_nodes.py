"""A YAML text as nodes that know their lines. What no model needs is refused: tags, endless aliases, deep nesting."""

import re
from collections.abc import Callable, Iterable
from typing import TypeVar

import yaml
from yaml.reader import ReaderError

from lakehold.access.model.errors import LocatedName, ModelError, SourceLocation, did_you_mean, quote_excerpt
from lakehold.access.model.schema import FLAG, Clause
from lakehold.access.model.syntax import KEYWORDS, parse_expression
from lakehold.kit.errors import InvalidInputError
from lakehold.kit.ids import valid_name

_NAME = re.compile(r"[a-z][a-z0-9_]{0,62}")
_RESERVED = KEYWORDS | {"everyone", "all"}
_LARGEST = 200_000
_MOST_PARTS = 20_000
_MOST_ENTRIES = 200
_DEEPEST = 20

_T = TypeVar("_T")


def compose_yaml(text: str, file: str) -> yaml.Node:
    """Compose the outermost node of a text."""
    if len(text) > _LARGEST:
        raise ModelError(SourceLocation(file, 1), f"a model of {len(text):,} characters is too large.", "Split it.")
    root = _compose(text, file)
    if root is None:
        raise ModelError(SourceLocation(file, 1), "the file is empty.", "A model starts with `model: its_name`.")
    _refuse_bombs(root, file)
    return root


def _compose(text: str, file: str) -> yaml.Node | None:
    hint = "Indent with spaces, and put texts with : or # in quotes."
    line = 0
    try:
        loader = _ComposeLoader(text, file)
        try:
            return loader.get_single_node()
        finally:
            line = loader.line
    except ReaderError as error:
        place = SourceLocation(file, text.count("\n", 0, error.position) + 1)
        raise ModelError(
            place, f"not YAML: a character {quote_excerpt(text[error.position])} in it.", "Remove it."
        ) from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = ", ".join(part for part in (error.context, error.problem) if part)
        raise ModelError(
            SourceLocation(file, mark.line + 1 if mark else 1), f"not YAML: {problem[:200]}.", hint
        ) from error
    except (ValueError, OverflowError) as error:
        # "\UFFFFFFFF", or a %YAML of thousands of digits: the scanner trusts that Python can make something of it.
        raise ModelError(
            SourceLocation(file, line + 1), "not YAML: a number in it is too large.", "Remove it."
        ) from error


class _ComposeLoader(yaml.SafeLoader):
    """A YAML loader that only composes: no node becomes a Python object."""

    def __init__(self, text: str, file: str) -> None:
        super().__init__(text)
        self._file = file
        self._depth = 0

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        event = self.peek_event()  # type: ignore[no-untyped-call] # the stubs leave it open
        place = SourceLocation(self._file, event.start_mark.line + 1)
        tag = getattr(event, "tag", None)
        if tag is not None:
            raise ModelError(place, f"the tag {quote_excerpt(tag)} is not allowed in a model.", "Remove it.")
        if self._depth == _DEEPEST:
            raise ModelError(place, f"the file is nested more than {_DEEPEST} deep.", "Flatten it.")
        self._depth += 1
        node = super().compose_node(parent, index)
        self._depth -= 1
        return node


def _refuse_bombs(root: yaml.Node, file: str) -> None:
    """Refuse aliases that repeat a part so often that the whole becomes endless."""
    sizes: dict[int, int] = {}

    def size(node: yaml.Node, above: frozenset[int]) -> int:
        place = SourceLocation(file, node.start_mark.line + 1)
        if id(node) in above:
            raise ModelError(place, "this part contains itself.", "Write it out where the alias stands.")
        if id(node) not in sizes:
            inside = above | {id(node)}
            if isinstance(node, yaml.CollectionNode) and len(node.value) > _MOST_ENTRIES:
                raise ModelError(place, f"this part has more than {_MOST_ENTRIES} entries.", "Split it.")
            sizes[id(node)] = 1 + sum(size(child, inside) for child in _children(node))
        if sizes[id(node)] > _MOST_PARTS:
            raise ModelError(place, f"with its aliases this has more than {_MOST_PARTS:,} parts.", "Repeat less.")
        return sizes[id(node)]

    size(root, frozenset())


def _children(node: yaml.Node) -> list[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        return [part for pair in node.value for part in pair]
    return node.value if isinstance(node, yaml.SequenceNode) else []


class NodeReader:
    """Reads the content of a node: a word, a list of words, a mapping of names, an expression."""

    def __init__(self, file: str) -> None:
        self._file = file

    def _place(self, node: yaml.Node) -> SourceLocation:
        return SourceLocation(self._file, node.start_mark.line + 1)

    def _text(self, node: yaml.Node, what: str) -> str:
        if not isinstance(node, yaml.ScalarNode) or not isinstance(node.value, str) or not node.value:
            raise ModelError(self._place(node), f"{what} must be a single word or text.")
        return node.value

    def _name(self, node: yaml.Node, what: str, reserved: frozenset[str] = _RESERVED) -> str:
        name = self._text(node, what)
        if not _NAME.fullmatch(name):
            raise ModelError(
                self._place(node),
                f"{quote_excerpt(name)} cannot be the name of {what}.",
                "Use small letters, digits and _, beginning with a letter, 63 at most.",
            )
        if name in reserved:
            raise ModelError(self._place(node), f"{name!r} is a word of the language, not a name for {what}.")
        return name

    def _title(self, node: yaml.Node | None, otherwise: str) -> str:
        if node is None:
            return otherwise
        try:
            return valid_name(self._text(node, "title"), "title")
        except InvalidInputError as error:
            raise ModelError(self._place(node), error.message, error.hint) from error

    def _map(self, node: yaml.Node, what: str) -> dict[str, tuple[yaml.Node, yaml.Node]]:
        if not isinstance(node, yaml.MappingNode):
            raise ModelError(self._place(node), f"{what} must be a mapping of names.", "Write `name: value` lines.")
        found: dict[str, tuple[yaml.Node, yaml.Node]] = {}
        for key, value in node.value:
            name = self._text(key, f"a key of {what}")
            self._refuse_twice(name, found, key, what)
            found[name] = (key, value)
        return found

    def _refuse_twice(self, name: str, found: Iterable[str], node: yaml.Node, what: str) -> None:
        if name in found:
            raise ModelError(self._place(node), f"{quote_excerpt(name)} appears twice in {what}.", "Keep one of them.")

    def _fields(self, node: yaml.Node, what: str, known: Iterable[str]) -> dict[str, yaml.Node]:
        fields = self._map(node, what)
        for name, (key, _) in fields.items():
            if name not in known:
                raise ModelError(
                    self._place(key), f"{quote_excerpt(name)} is not known in {what}.", did_you_mean(name, known)
                )
        return {name: value for name, (_, value) in fields.items()}

    def _named(
        self, node: yaml.Node | None, where: str, what: str, read: Callable[[str, yaml.Node, yaml.Node], _T]
    ) -> dict[str, _T]:
        if node is None:
            return {}
        return {self._name(key, what): read(name, key, value) for name, (key, value) in self._map(node, where).items()}

    def _parts(self, node: yaml.Node) -> list[yaml.Node]:
        return node.value if isinstance(node, yaml.SequenceNode) else [node]

    def _word(self, node: yaml.Node, what: str) -> LocatedName:
        return LocatedName(self._text(node, what), self._place(node))

    def _words(self, node: yaml.Node, what: str) -> tuple[LocatedName, ...]:
        words: list[LocatedName] = []
        for part in self._parts(node):
            word = self._word(part, what)
            self._refuse_twice(word, words, part, what)
            words.append(word)
        return tuple(words)

    def _some_words(self, node: yaml.Node, what: str) -> tuple[LocatedName, ...]:
        words = self._words(node, what)
        if not words:
            raise ModelError(self._place(node), f"`{what}:` is empty.", "Name at least one, or remove the line.")
        return words

    def _flag(self, node: yaml.Node | None, what: str) -> bool:
        if node is None:
            return False
        text = self._text(node, what)
        if text not in FLAG:
            raise ModelError(self._place(node), f"{what} is true or false, not {quote_excerpt(text)}.")
        return text == "true"

    def _clause(self, node: yaml.Node | None, what: str) -> Clause | None:
        if node is None:
            return None
        text, place = self._text(node, what), self._place(node)
        return Clause(" ".join(text.split()), parse_expression(text, place), place)
