"""Data classes of the navigation around a page: links, workspaces, the signed-in user, breadcrumbs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NavLink:
    """A link of the navigation."""

    label: str
    href: str
    icon: str = ""
    count: int | None = None
    """How many things wait there."""


@dataclass(frozen=True, slots=True)
class NavSection:
    """A workspace in the navigation, with its links."""

    label: str
    href: str
    icon: str
    note: str = ""
    """What it is, in its model's words: Lakehouse, Data space."""
    places: tuple[NavLink, ...] = ()
    folded: tuple[NavLink, ...] = ()
    """Those that are seldom gone to: they are under one entry, which is opened for them."""

    def leads(self, path: str, crumbs: Sequence[Breadcrumb] = ()) -> bool:
        """Whether the path, or one of the breadcrumbs, belongs to this workspace."""
        if _is_within(self.href, path) or any(crumb.href == self.href for crumb in crumbs):
            return True
        return any(_is_within(place.href, path) for place in (*self.places, *self.folded))


@dataclass(frozen=True, slots=True)
class NavUser:
    """The signed-in user, with the links of the user menu."""

    name: str
    note: str = ""
    places: tuple[NavLink, ...] = ()
    sign_out: str = ""
    """The address that ends the sign-in."""


@dataclass(frozen=True, slots=True)
class ImpersonationBanner:
    """The member whom the user impersonates, and the URL that ends the impersonation."""

    name: str
    stop: str


@dataclass(frozen=True, slots=True)
class Breadcrumb:
    """A breadcrumb. The last one stands for the page itself."""

    label: str
    href: str = ""


@dataclass(frozen=True, slots=True)
class Navigation:
    """The navigation around a page. Without a user, the page is rendered bare."""

    tenant: str = "Lakehold"
    home: str = "/"
    places: tuple[NavLink, ...] = ()
    workspaces: tuple[NavSection, ...] = ()
    more: tuple[NavLink, ...] = ()
    person: NavUser | None = None
    view_as: ImpersonationBanner | None = None

    def current(self, path: str) -> str:
        """Return the URL of the link that the path belongs to: the longest match."""
        fitting = (place.href for place, _ in self.all_links() if _is_within(place.href, path))
        return max(fitting, key=len, default="")

    def is_in_one(self, path: str, crumbs: Sequence[Breadcrumb] = ()) -> bool:
        """Whether the path belongs to one of the workspaces."""
        return any(space.leads(path, crumbs) for space in self.workspaces)

    def all_links(self) -> Iterator[tuple[NavLink, str]]:
        """Yield every link with the name of the workspace or tenant that it belongs to."""
        for place in self.places:
            yield place, self.tenant
        for section in self.workspaces:
            yield NavLink(section.label, section.href, section.icon), section.note
            for place in (*section.places, *section.folded):
                yield place, section.label
        for place in self.more:
            yield place, self.tenant


def _is_within(href: str, path: str) -> bool:
    return path == href or (href != "/" and path.startswith(f"{href}/"))
