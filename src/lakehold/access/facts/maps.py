"""Mappings that can be laid over others. Decisions only ever call `get`, so both kinds serve them alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")
I = TypeVar("I")
W = TypeVar("W")


class Plain(dict[K, V]):
    """A dictionary: the committed facts."""

    __slots__ = ()

    put = dict.__setitem__

    def drop(self, key: K) -> None:
        """Forget the key."""
        self.pop(key, None)


class Layer(Generic[K, V]):
    """A mapping over another one, which stays as it is."""

    __slots__ = ("_base", "_gone", "_own")

    def __init__(self, base: Plain[K, V] | Layer[K, V]) -> None:
        self._base = base
        self._own: dict[K, V] = {}
        self._gone: set[K] = set()

    def get(self, key: K, default: V | None = None, /) -> V | None:
        """The value here, or in the mapping below, or the default."""
        if key in self._own:
            return self._own[key]
        return default if key in self._gone else self._base.get(key, default)

    def put(self, key: K, value: V) -> None:
        """Set the value, here only."""
        self._gone.discard(key)
        self._own[key] = value

    def drop(self, key: K) -> None:
        """Forget the key, here only."""
        self._own.pop(key, None)
        self._gone.add(key)


Map = Plain[K, V] | Layer[K, V]


def laid(below: Map[K, V] | None) -> Map[K, V]:
    """A mapping over this one, or a new one over nothing."""
    return Plain() if below is None else Layer(below)


class Inner(Generic[K, I, W]):
    """Mappings inside a mapping: resource → subject → roles. Plain ones are changed in place, layered ones copied."""

    __slots__ = ("_copied", "get", "outer")
    outer: Map[K, dict[I, W]]

    def __init__(self, below: Inner[K, I, W] | None = None) -> None:
        self.outer = laid(None if below is None else below.outer)
        self.get = self.outer.get
        self._copied: set[K] | None = None if below is None else set()

    def own(self, key: K) -> dict[I, W]:
        """The inner mapping, to be changed."""
        inner = self.outer.get(key)
        if inner is None or (self._copied is not None and key not in self._copied):
            inner = dict(inner or ())
            self.outer.put(key, inner)
            if self._copied is not None:
                self._copied.add(key)
        return inner

    def forget(self, key: K, inner_key: I) -> None:
        """Take one entry away, and the inner mapping with its last one."""
        inner = self.own(key)
        inner.pop(inner_key, None)
        if not inner:
            self.outer.drop(key)
            if self._copied is not None:
                self._copied.discard(key)


class Named(dict[str, V]):
    """One mapping for each name, made when it is first asked for."""

    __slots__ = ("_make",)

    def __init__(self, make: Callable[[str], V]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, name: str) -> V:
        made = self[name] = self._make(name)
        return made
