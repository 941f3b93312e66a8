"""Cuts a component at its weakest links, so that its parts are within the limit and no constraint is broken.

Links are taken from the strongest to the weakest, as in Kruskal's algorithm. One that would put together what must not
be together is left out. One that would make a part too large is left out as well, and closes what it leads to for all
weaker links: that is the same as raising the threshold inside the component until its parts fit. Links of the same
strength are taken as long as the parts fit, in the order of their records.

Equal records, whose link has no weight, and groups of curators are never divided for their number.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc


class RowKind(IntEnum):
    """The kinds of rows about a component, by what they say in its columns `one`, `other` and `weight`."""

    LINK = 0
    """Two records are the same, as matching found."""
    GROUP = 1
    """A record is in a group, which is never divided."""
    APART = 2
    """Two groups are not together."""
    VERIFIED = 3
    """A group is verified: matching puts no two of these together."""
    RECORD = 4
    """A record is in the component, also if none of its links is among the rows."""


class ClusterFlag(StrEnum):
    """The flags of an entity that curators should know of."""

    SPLIT = "split"
    """It was cut off a component with more records than the limit."""
    LARGE = "large"
    """It has more records than the limit, and cannot be divided."""


@dataclass(slots=True)
class _Parts:
    """The parts so far, by numbers of records."""

    parents: list[int]
    sizes: list[int]
    apart: dict[int, set[int]] = field(default_factory=dict)
    verified: set[int] = field(default_factory=set)
    closed: set[int] = field(default_factory=set)

    def find(self, number: int) -> int:
        parents = self.parents
        while parents[number] != number:
            parents[number] = parents[parents[number]]
            number = parents[number]
        return number

    def may_join(self, one: int, other: int) -> bool:
        """Return whether no constraint keeps two parts apart."""
        return other not in self.apart.get(one, ()) and not (one in self.verified and other in self.verified)

    def join(self, one: int, other: int) -> None:
        root, gone = (one, other) if self.sizes[one] >= self.sizes[other] else (other, one)
        self.parents[gone] = root
        self.sizes[root] += self.sizes[gone]
        for marked in (self.verified, self.closed):
            if gone in marked:
                marked.add(root)
        for part in self.apart.pop(gone, ()):
            self.apart[part].remove(gone)
            self.apart[part].add(root)
            self.apart.setdefault(root, set()).add(part)


def split_component(rows: pa.Table, max_records: int) -> pa.Table:
    """Return the parts of a component: `record`, `cluster` (the smallest record of a part) and `flag`."""
    kinds = rows.column("kind").to_numpy()
    links, groups, members = (
        rows.filter(pa.array(kinds == kind)) for kind in (RowKind.LINK, RowKind.GROUP, RowKind.RECORD)
    )
    ends = [*_chunks(links, "one"), *_chunks(links, "other"), *_chunks(groups, "one"), *_chunks(members, "one")]
    records = pc.unique(pa.chunked_array(ends))
    records = records.take(pc.sort_indices(records))
    parts = _Parts(list(range(len(records))), [1] * len(records))
    _apply_constraints(parts, rows, _numbers(groups.column("one"), records), groups.column("other").to_pylist())
    _join_links(parts, links, records, max_records)
    return _to_table(parts, records, max_records)


def _apply_constraints(parts: _Parts, rows: pa.Table, members: list[int], groups: list[str]) -> None:
    first: dict[str, int] = {}
    for member, group in zip(members, groups, strict=True):
        one, other = parts.find(first.setdefault(group, member)), parts.find(member)
        if one != other:
            parts.join(one, other)
    roots = {group: parts.find(member) for group, member in first.items()}
    for kind, one, other in zip(*(rows.column(name).to_pylist() for name in ("kind", "one", "other")), strict=True):
        if kind == RowKind.VERIFIED and one in roots:
            parts.verified.add(roots[one])
        elif kind == RowKind.APART and one in roots and other in roots:
            parts.apart.setdefault(roots[one], set()).add(roots[other])
            parts.apart.setdefault(roots[other], set()).add(roots[one])


def _join_links(parts: _Parts, links: pa.Table, records: pa.Array, max_records: int) -> None:
    """Join parts by links, the strongest first."""
    level, too_large = np.inf, list[int]()
    for weight, one, other in _strongest_first(links, records):
        if weight != level:
            parts.closed.update(map(parts.find, too_large))
            level, too_large = weight, []
        first, second = parts.find(one), parts.find(other)
        if first == second or not parts.may_join(first, second):
            continue
        is_closed = first in parts.closed or second in parts.closed
        if weight < np.inf and (is_closed or parts.sizes[first] + parts.sizes[second] > max_records):
            too_large += (first, second)
        else:
            parts.join(first, second)


def _strongest_first(links: pa.Table, records: pa.Array) -> Iterator[tuple[float, int, int]]:
    """Yield the weight and the two records of each link; those of equal records come first."""
    one, other = (np.array(_numbers(links.column(name), records), np.int64) for name in ("one", "other"))
    weights = links.column("weight").fill_null(np.inf).to_numpy()
    order = np.lexsort((np.maximum(one, other), np.minimum(one, other), -weights))
    return zip(weights[order].tolist(), one[order].tolist(), other[order].tolist(), strict=True)


def _to_table(parts: _Parts, records: pa.Array, max_records: int) -> pa.Table:
    smallest: dict[int, int] = {}
    roots = [parts.find(number) for number in range(len(records))]
    clusters = [smallest.setdefault(root, number) for number, root in enumerate(roots)]
    flag = ClusterFlag.SPLIT.value if len(records) > max_records else None
    flags = [ClusterFlag.LARGE.value if parts.sizes[root] > max_records else flag for root in roots]
    taken = records.take(pa.array(clusters, pa.int64()))
    return pa.table({"record": records, "cluster": taken, "flag": pa.array(flags, pa.string())})


def _numbers(texts: pa.ChunkedArray, records: pa.Array) -> list[int]:
    found: list[int] = pc.index_in(texts, value_set=records).to_pylist()
    return found


def _chunks(table: pa.Table, name: str) -> list[pa.Array]:
    return list(chain(table.column(name).chunks, [pa.array([], table.schema.field(name).type)]))
