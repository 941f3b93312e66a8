"""Squarified tree maps: a rectangle divided into parts by their values, each as near to a square as can be.

After Bruls, Huizing and van Wijk, Squarified Treemaps (2000).
"""

from collections.abc import Sequence
from typing import NamedTuple

_LEAST_AREA = 1e-9


class TreeBox(NamedTuple):
    """The rectangle of one part."""

    x: float
    y: float
    width: float
    height: float


def squarify(values: Sequence[float], width: float, height: float) -> list[TreeBox]:
    """Return a rectangle for each value; the values are positive, the largest first."""
    total = sum(values)
    # Not less than can be squared: beside large parts the smallest have no area that is drawn.
    areas = [max(value / total * width * height, _LEAST_AREA) for value in values]
    boxes: list[TreeBox] = []
    free = TreeBox(0.0, 0.0, width, height)
    while len(boxes) < len(areas):
        row = _take_row(areas[len(boxes) :], min(free.width, free.height))
        placed, free = _place_row(row, free)
        boxes.extend(placed)
    return boxes


def _take_row(areas: Sequence[float], side: float) -> Sequence[float]:
    """Return the first areas, as many as make the row at a side less narrow."""
    count = 1
    while count < len(areas) and _worst(areas[: count + 1], side) <= _worst(areas[:count], side):
        count += 1
    return areas[:count]


def _worst(row: Sequence[float], side: float) -> float:
    """Return how far the narrowest rectangle of a row is from a square."""
    total = sum(row)
    return max(side * side * max(row) / (total * total), total * total / (side * side * min(row)))


def _place_row(row: Sequence[float], free: TreeBox) -> tuple[list[TreeBox], TreeBox]:
    """Return the rectangles of a row at the shorter side, and what is left."""
    x, y, width, height = free
    if width >= height:
        deep = sum(row) / max(height, 1e-9)
        sizes = [(deep, area / max(deep, 1e-9)) for area in row]
        left = TreeBox(x + deep, y, max(width - deep, 1e-9), height)
    else:
        deep = sum(row) / max(width, 1e-9)
        sizes = [(area / max(deep, 1e-9), deep) for area in row]
        left = TreeBox(x, y + deep, width, max(height - deep, 1e-9))
    boxes = []
    for wide, high in sizes:
        boxes.append(TreeBox(x, y, wide, high))
        x, y = (x, y + high) if width >= height else (x + wide, y)
    return boxes, left
