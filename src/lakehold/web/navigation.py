"""What is around a page: where one can go, who looks, and where one is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """Somewhere to go."""

    label: str
    href: str
    icon: str = ""
    count: int | None = None
    """How many things wait there."""


@dataclass(frozen=True, slots=True)
class Section:
    """A workspace, and what is in it."""

    label: str
    href: str
    icon: str
    note: str = ""
    """What it is, in its model's words: Lakehouse, Data space."""
    places: tuple[Place, ...] = ()
    folded: tuple[Place, ...] = ()
    """Those that are seldom gone to: they are under one entry, which is opened for them."""

    def leads(self, path: str, crumbs: Sequence[Crumb] = ()) -> bool:
        """Whether the path is of this workspace, or the way to the page leads through it."""
        if _leads(self.href, path) or any(crumb.href == self.href for crumb in crumbs):
            return True
        return any(_leads(place.href, path) for place in (*self.places, *self.folded))


@dataclass(frozen=True, slots=True)
class Person:
    """Who looks at the page."""

    name: str
    note: str = ""
    places: tuple[Place, ...] = ()
    sign_out: str = ""
    """The address that ends the sign-in."""


@dataclass(frozen=True, slots=True)
class ViewAs:
    """Whose eyes the page is seen with, and the address that ends it."""

    name: str
    stop: str


@dataclass(frozen=True, slots=True)
class Crumb:
    """A step on the way to the page. The last one is the page itself."""

    label: str
    href: str = ""


@dataclass(frozen=True, slots=True)
class Around:
    """Everything around a page. Without a person only the bare page is shown."""

    tenant: str = "Lakehold"
    home: str = "/"
    places: tuple[Place, ...] = ()
    workspaces: tuple[Section, ...] = ()
    more: tuple[Place, ...] = ()
    person: Person | None = None
    view_as: ViewAs | None = None

    def current(self, path: str) -> str:
        """The address of the place that the path belongs to: the longest that leads there."""
        fitting = (place.href for place, _ in self.all_places() if _leads(place.href, path))
        return max(fitting, key=len, default="")

    def is_in_one(self, path: str, crumbs: Sequence[Crumb] = ()) -> bool:
        """Whether the path is of one of the workspaces."""
        return any(space.leads(path, crumbs) for space in self.workspaces)

    def all_places(self) -> Iterator[tuple[Place, str]]:
        """Every place, with the name of what it is in."""
        for place in self.places:
            yield place, self.tenant
        for section in self.workspaces:
            yield Place(section.label, section.href, section.icon), section.note
            for place in (*section.places, *section.folded):
                yield place, section.label
        for place in self.more:
            yield place, self.tenant


def _leads(href: str, path: str) -> bool:
    return path == href or (href != "/" and path.startswith(f"{href}/"))
