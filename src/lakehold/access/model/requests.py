"""What a question may bring along: properties of its subject, its resource and its context, for conditions to read.

A property that is missing, or of another type than it is compared with, makes a comparison false.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation

from lakehold.access.model.syntax import Asked, Property

Properties = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Request:
    """The properties, by side."""

    subject: Properties = field(default_factory=dict)
    resource: Properties = field(default_factory=dict)
    context: Properties = field(default_factory=dict)

    def value(self, of: Property) -> object:
        """The property, or None."""
        sides = {"subject": self.subject, "resource": self.resource, "context": self.context}
        return sides[of.side].get(of.name)


def holds(asked: Asked, request: Request) -> bool:
    """Whether the comparison is true of this request."""
    left = _comparable(request.value(asked.left))
    right = _comparable(request.value(asked.right) if isinstance(asked.right, Property) else asked.right)
    if left is None or right is None or type(left) is not type(right):
        return False
    if asked.sign == "=":
        return left == right
    if not isinstance(left, Decimal) or not isinstance(right, Decimal):
        return False
    match asked.sign:
        case "<":
            return left < right
        case "<=":
            return left <= right
        case ">":
            return left > right
        case _:
            return left >= right


def _comparable(value: object) -> str | bool | Decimal | None:
    if isinstance(value, str | bool | Decimal):
        return value
    if isinstance(value, int | float):
        try:
            number = Decimal(str(value))
        except InvalidOperation:
            return None
        return number if number.is_finite() else None
    return None
