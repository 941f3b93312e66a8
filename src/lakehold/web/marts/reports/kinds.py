"""What can be asked of a column of some type, and how people say it."""

from __future__ import annotations

TEXT, NUMBER, TIME, YES_NO, OTHER = "text", "number", "time", "yes or no", "other"

OPERATORS = {
    "=": "is",
    "!=": "is not",
    "<": "is less than",
    "<=": "is at the most",
    ">": "is more than",
    ">=": "is at the least",
    "contains": "contains",
    "starts with": "starts with",
    "in": "is one of",
    "is empty": "is empty",
    "is not empty": "is not empty",
}
_OF_TIMES = {"<": "is before", "<=": "is not after", ">": "is after", ">=": "is not before"}
ALONE = frozenset({"is empty", "is not empty"})
SUMS = {
    "count": "How many",
    "count distinct": "How many different",
    "sum": "Sum",
    "average": "Average",
    "least": "Least",
    "most": "Most",
}
_COMPARED = ("=", "!=", "<", "<=", ">", ">=")
_BY_KIND = {
    TEXT: ("=", "!=", "contains", "starts with", "in", *sorted(ALONE)),
    NUMBER: (*_COMPARED, "in", *sorted(ALONE)),
    TIME: (">=", ">", "<=", "<", "=", "!=", *sorted(ALONE)),
    YES_NO: ("=", *sorted(ALONE)),
    OTHER: tuple(sorted(ALONE)),
}
_SUMS_BY_KIND = {
    NUMBER: ("sum", "average", "least", "most", "count", "count distinct"),
    TIME: ("least", "most", "count", "count distinct"),
    OTHER: ("count",),
}
_HINTS = {
    TEXT: "",
    NUMBER: "A number, such as 12.5.",
    TIME: "A day such as 2026-11-30; or from today: today - 7, week, month - 1, year.",
    YES_NO: "true or false.",
    OTHER: "",
}
SENDS = (
    ("always", "Always", "Each time that it runs."),
    ("rows", "Only if there are rows", "Nothing is sent where there is nothing to say."),
    ("changed", "Only if they have changed", "Since they were last sent."),
)


def kind_of(type_name: str) -> str:
    """The kind of a type of Iceberg's."""
    if type_name == "string":
        return TEXT
    if type_name in {"int", "long", "float", "double"} or type_name.startswith("decimal("):
        return NUMBER
    if type_name in {"date", "timestamp", "timestamptz"}:
        return TIME
    return YES_NO if type_name == "boolean" else OTHER


def operators(type_name: str) -> list[tuple[str, str]]:
    """What a column of this type can be asked for, with the words for it."""
    kind = kind_of(type_name)
    return [(each, said(each, type_name)) for each in _BY_KIND[kind]]


def said(operator: str, type_name: str) -> str:
    """An operator in words."""
    words = OPERATORS.get(operator, operator)
    return _OF_TIMES.get(operator, words) if kind_of(type_name) == TIME else words


def sums(type_name: str) -> list[tuple[str, str]]:
    """How a column of this type can be summed up; without a type, rows are counted."""
    if not type_name:
        return [("count", SUMS["count"])]
    return [(each, SUMS[each]) for each in _SUMS_BY_KIND.get(kind_of(type_name), ("count", "count distinct"))]


def hint(type_name: str, operator: str) -> str:
    """What to write as a value."""
    words = _HINTS[kind_of(type_name)]
    return f"{words} With commas between them.".strip() if operator == "in" else words
