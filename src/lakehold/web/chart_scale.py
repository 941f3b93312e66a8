"""The scale of a chart's axis: round steps, and the texts of values."""

from collections.abc import Sequence
from math import floor, log10, ulp
from typing import NamedTuple

_TICKS = 5
_LONGEST = 60
_MOST_DIGITS = 1e15
_LEAST_SPAN, _GREATEST = 1e-300, 1e300
"""Beyond these, floats cannot be divided into ticks."""


class ChartTick(NamedTuple):
    """A label on an axis."""

    at: float
    label: str


class ChartScale(NamedTuple):
    """An axis from one round number to another, in round steps."""

    low: float
    high: float
    step: float

    @classmethod
    def of_values(cls, values: Sequence[float], *, from_zero: bool = True) -> "ChartScale":
        """Return the scale for values, from zero on if they are drawn as lengths."""
        known = [min(max(value, -_GREATEST), _GREATEST) for value in values]
        known += [0.0] if from_zero or not values else []
        # A step that is smaller than the distance of neighbouring floats would lead nowhere.
        step = max(tick_step(max(known) - min(known)), 4 * ulp(max(map(abs, known))))
        low, high = _round_down(min(known), step), -_round_down(-max(known), step)
        return cls(low, high if high > low else low + step, step)

    def share(self, value: float) -> float:
        """Return where a value is between both ends, from 0 to 1."""
        return (value - self.low) / (self.high - self.low)

    def steps(self) -> list[float]:
        """Return the values of its ticks."""
        return [self.low + n * self.step for n in range(round((self.high - self.low) / self.step) + 1)]


def tick_step(span: float) -> float:
    """Return a round number that divides the span into about as many parts as there are ticks."""
    if span < _LEAST_SPAN:
        return 1.0
    rough = span / _TICKS
    size = 10.0 ** floor(log10(rough))
    return next((size * n for n in (1, 2, 5) if size * n >= rough), size * 10)


def _round_down(value: float, step: float) -> float:
    return floor(value / step + 1e-9) * step


def format_value(value: object, longest: int = _LONGEST) -> str:
    """Return a value as the text of a label."""
    text = "null" if value is None else format_number(value) if isinstance(value, float) else str(value)
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def format_number(value: float) -> str:
    """Return a number with as many digits as can be read."""
    return f"{value:,.6g}" if abs(value) < _MOST_DIGITS else f"{value:.3g}"
