"""Mappings that can be laid over others. Decisions only ever call `get`, so that both kinds serve them alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")
I = TypeVar("I")
W = TypeVar("W")


class PlainMap(dict[K, V]):
    """A dictionary of committed facts."""

    __slots__ = ()

    put = dict.__setitem__

    def drop(self, key: K) -> None:
        """Remove the key."""
        self.pop(key, None)


class LayeredMap(Generic[K, V]):
    """A mapping over another one, which stays unchanged."""

    __slots__ = ("_base", "_gone", "_own")

    def __init__(self, base: PlainMap[K, V] | LayeredMap[K, V]) -> None:
        self._base = base
        self._own: dict[K, V] = {}
        self._gone: set[K] = set()

    def get(self, key: K, default: V | None = None, /) -> V | None:
        """Return the value of this layer, of the mapping below, or the default."""
        if key in self._own:
            return self._own[key]
        return default if key in self._gone else self._base.get(key, default)

    def put(self, key: K, value: V) -> None:
        """Set the value in this layer only."""
        self._gone.discard(key)
        self._own[key] = value

    def drop(self, key: K) -> None:
        """Remove the key in this layer only."""
        self._own.pop(key, None)
        self._gone.add(key)


Map = PlainMap[K, V] | LayeredMap[K, V]


def layer_over(base: Map[K, V] | None) -> Map[K, V]:
    """Return a layer over this mapping, or a new plain mapping."""
    return PlainMap() if base is None else LayeredMap(base)


class NestedMap(Generic[K, I, W]):
    """A mapping of mappings: resource → subject → roles. Plain ones are changed in place, layered ones copied."""

    __slots__ = ("_copied", "get", "outer")
    outer: Map[K, dict[I, W]]

    def __init__(self, base: NestedMap[K, I, W] | None = None) -> None:
        self.outer = layer_over(None if base is None else base.outer)
        self.get = self.outer.get
        self._copied: set[K] | None = None if base is None else set()

    def own_inner(self, key: K) -> dict[I, W]:
        """Return the inner mapping for writing, copied if it belongs to the layer below."""
        inner = self.outer.get(key)
        if inner is None or (self._copied is not None and key not in self._copied):
            inner = dict(inner or ())
            self.outer.put(key, inner)
            if self._copied is not None:
                self._copied.add(key)
        return inner

    def forget(self, key: K, inner_key: I) -> None:
        """Remove one entry, and the inner mapping with its last one."""
        inner = self.own_inner(key)
        inner.pop(inner_key, None)
        if not inner:
            self.outer.drop(key)
            if self._copied is not None:
                self._copied.discard(key)


class MapsByName(dict[str, V]):
    """One mapping for each name, created on first use."""

    __slots__ = ("_make",)

    def __init__(self, make: Callable[[str], V]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, name: str) -> V:
        mapping = self[name] = self._make(name)
        return mapping
