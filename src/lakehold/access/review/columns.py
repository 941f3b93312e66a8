"""Sets of members as columns of a DataFrame.

Members are numbered and laid out in blocks. A row is about one resource and one block, and in it a set of members is
a few whole numbers of 64 bits. Few members need one word; more words a row mean fewer rows, and larger plans.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - as everybody calls it

MOST_WORDS = 4

Masks = list[Column]
"""One column for each word."""


class Layout:
    """How many words a row has and how many blocks there are, for so many members."""

    def __init__(self, members: int) -> None:
        self.words = min(MOST_WORDS, -(-members // 64))
        self.block = 64 * self.words
        self.blocks = -(-members // self.block)

    def cut(self, members: int, block: int) -> list[int]:
        """The words of one block of a set, as signed whole numbers."""
        inside = members >> block * self.block
        found = [inside >> 64 * n & (2**64 - 1) for n in range(self.words)]
        return [word - 2**64 if word >= 2**63 else word for word in found]

    def names(self, prefix: str) -> list[str]:
        """What the columns of a set are called."""
        return [f"{prefix}_{n}" for n in range(self.words)]

    def columns(self, prefix: str) -> Masks:
        """The columns of a set; nobody where there is no row."""
        return [F.coalesce(F.col(name), _number(0)) for name in self.names(prefix)]

    def nobody(self) -> Masks:
        """The empty set."""
        return [_number(0)] * self.words

    def everybody(self) -> Masks:
        """All members of the row's block."""
        return [F.col(name) for name in self.names("everybody")]

    def inverse(self, masks: Masks) -> Masks:
        """All others of the block."""
        return [F.bitwise_not(a).bitwiseAND(b) for a, b in zip(masks, self.everybody(), strict=True)]

    def when(self, condition: Column) -> Masks:
        """Everybody where the condition holds, nobody elsewhere."""
        return [F.when(condition, word).otherwise(_number(0)) for word in self.everybody()]

    def aggregated(self, how: Callable[[Column], Column], masks: Masks, prefix: str) -> list[Column]:
        """The masks of many rows as one, under new names."""
        return [how(mask).alias(name) for mask, name in zip(masks, self.names(prefix), strict=True)]

    def has(self, masks: Masks, number: Column) -> Column:
        """Whether the member of this number is in the set, in the row of their block."""
        inside = number - F.col("block") * self.block
        bits = [
            F.when(inside.between(64 * n, 64 * n + 63), bit_at(mask, inside - 64 * n) != 0)
            for n, mask in enumerate(masks)
        ]
        return F.coalesce(*bits, F.lit(False))


def both(left: Masks, right: Masks) -> Masks:
    """Those in both."""
    return [a.bitwiseAND(b) for a, b in zip(left, right, strict=True)]


def either(left: Masks, right: Masks) -> Masks:
    """Those in one or the other."""
    return [a.bitwiseOR(b) for a, b in zip(left, right, strict=True)]


def size(masks: Sequence[Column]) -> Column:
    """How many members are in the set."""
    return reduce(Column.__add__, (F.bit_count(mask) for mask in masks))


def bit_at(mask: Column, position: Column) -> Column:
    """One bit of a word, as 0 or 1."""
    return F.call_function("shiftrightunsigned", mask, position.cast("int")).bitwiseAND(_number(1))


def _number(value: int) -> Column:
    return F.lit(value).cast("bigint")
