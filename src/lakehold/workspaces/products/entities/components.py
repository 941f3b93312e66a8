"""Connected components of links between records.

Ids become numbers by Arrow's dictionaries, and NumPy joins the numbers: each component hooks onto the smallest one that
it is linked to, until no link leaves one. Every round at least halves the components of a chain, and what lies within a
component is dropped from the next.
"""

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Numbers = np.ndarray[Any, np.dtype[np.int64]]


def find_components(links: pa.Table) -> pa.Table:
    """Return each record of links (two columns) with the smallest record of its component: `record`, `component`."""
    one, other = links.column(0), links.column(1)
    ends = pa.chunked_array([*one.chunks, *other.chunks], type=one.type).dictionary_encode().unify_dictionaries()
    records = ends.chunk(0).dictionary if ends.num_chunks else pa.array([], pa.string())
    order = pc.sort_indices(records)
    codes = np.empty(len(records), np.int64)
    codes[order.to_numpy()] = np.arange(len(records))
    numbers = codes[np.concatenate([_indices(chunk) for chunk in ends.chunks] or [np.empty(0, np.int64)])]
    half = links.num_rows
    records = records.take(order)
    smallest = label_components(numbers[:half], numbers[half:], len(records))
    return pa.table({"record": records, "component": records.take(pa.array(smallest))})


def label_components(one: Numbers, other: Numbers, count: int) -> Numbers:
    """Return the smallest number of the component of each number below a count, by links between numbers."""
    labels = np.arange(count)
    while True:
        one, other = labels[one], labels[other]
        leaving = one != other
        if not leaving.any():
            return labels
        one, other = one[leaving], other[leaving]
        np.minimum.at(labels, np.maximum(one, other), np.minimum(one, other))
        while ((above := labels[labels]) != labels).any():
            labels = above


def _indices(chunk: pa.DictionaryArray) -> Numbers:
    found: Numbers = chunk.indices.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
    return found
