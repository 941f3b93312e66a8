"""Sets of members as rows of a bit matrix: 64 members to a word, one row for each resource.

As a column a set is one binary value, the bytes of its row.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Matrix = NDArray[np.uint64]
Numbers = NDArray[np.int64]

_WORD = 64
_ROOM = 1 << 17
"""How many words of one matrix are worked on at once: a megabyte, of which some dozens are needed."""


@dataclass(frozen=True, slots=True)
class BitLayout:
    """The layout of sets of so many members."""

    members: int

    @property
    def words(self) -> int:
        """The length of a row in words."""
        return -(-self.members // _WORD)

    @property
    def rows(self) -> int:
        """The number of rows that are processed at once."""
        return max(_ROOM // self.words, 1)

    def nobody(self, rows: int) -> Matrix:
        """Return the empty set for every row."""
        return np.zeros((rows, self.words), np.uint64)

    def everybody(self, rows: int = 1) -> Matrix:
        """Return all members for every row."""
        return np.repeat(self.matrix([(1 << self.members) - 1]), rows, axis=0)

    def matrix(self, sets: Iterable[int]) -> Matrix:
        """Return the matrix of sets that are the bits of whole numbers."""
        width = 8 * self.words
        return as_matrix(b"".join(members.to_bytes(width, "little") for members in sets), self.words)

    def mark(self, rows: int, places: Numbers, members: Numbers) -> Matrix:
        """Return for every row the members named at its place."""
        found = self.nobody(rows)
        bits = np.uint64(1) << (members % _WORD).astype(np.uint64)
        np.bitwise_or.at(found.reshape(-1), places * self.words + members // _WORD, bits)
        return found

    def has(self, sets: Matrix, places: Numbers, members: Numbers) -> NDArray[np.bool_]:
        """Return whether the set at each place has the member."""
        shifted = sets[places, members // _WORD] >> (members % _WORD).astype(np.uint64)
        return (shifted & np.uint64(1)).astype(np.bool_)

    def unpack(self, sets: Matrix) -> NDArray[np.bool_]:
        """Return for each row and each member whether the member is in the set."""
        return np.unpackbits(_octets(sets), axis=1, count=self.members, bitorder="little").view(np.bool_)


def as_matrix(data: bytes | pa.Buffer, words: int) -> Matrix:
    """Return the bytes as rows of so many words."""
    return np.frombuffer(data, "<u8").astype(np.uint64, copy=False).reshape(-1, words)


def to_column(sets: Matrix) -> pa.Array:
    """Return the rows of a matrix as a column."""
    octets = _octets(sets)
    offsets = np.arange(len(sets) + 1, dtype=np.int32) * octets.shape[1]
    return pa.Array.from_buffers(
        pa.binary(), len(sets), [None, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(octets)]
    )


def from_column(values: pa.Array, words: int) -> Matrix:
    """Return the matrix of a column without gaps."""
    _, offsets, data = values.buffers()
    start = np.frombuffer(offsets, np.int32, 1, 4 * values.offset)[0] if len(values) else 0
    return as_matrix(data[start : start + 8 * words * len(values)] if len(values) else b"", words)


def union_rows(rows: int, places: Numbers, sets: Matrix) -> Matrix:
    """Return for every row the union of the sets at its place. Places are in order."""
    found = np.zeros((rows, sets.shape[1]), np.uint64)
    if len(places):
        first = np.flatnonzero(np.diff(places, prepend=-1))
        found[places[first]] = sets if len(first) == len(sets) else np.bitwise_or.reduceat(sets, first, axis=0)
    return found


def _octets(sets: Matrix) -> NDArray[np.uint8]:
    return np.ascontiguousarray(sets.astype("<u8", copy=False)).view(np.uint8)
