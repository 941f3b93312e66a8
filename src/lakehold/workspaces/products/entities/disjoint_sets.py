"""Disjoint sets of texts, such as ids of records, that are joined."""

from collections.abc import Iterator


class DisjointSets:
    """Sets that are joined, each named by its smallest item. An item that was never mentioned is a set of its own."""

    def __init__(self) -> None:
        self._parents: dict[str, str] = {}

    def __iter__(self) -> Iterator[str]:
        """Yield all items that were mentioned."""
        return iter(self._parents)

    def find(self, item: str) -> str:
        """Return the name of the item's set."""
        root = item
        while (parent := self._parents.setdefault(root, root)) != root:
            root = parent
        while item != root:
            self._parents[item], item = root, self._parents[item]
        return root

    def join(self, one: str, other: str) -> str:
        """Make one set of those of two items, and return its name."""
        first, second = sorted((self.find(one), self.find(other)))
        self._parents[second] = first
        return first
