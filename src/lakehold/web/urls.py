"""URLs of pages. Ids may contain any characters, a slash included."""

from functools import partial
from urllib.parse import quote, urlencode


def segment(uid: str) -> str:
    """Encode an id as one segment of a URL path."""
    # A dot segment would be taken out of the address by browsers.
    return quote(uid, safe="").replace(".", "%2E") if set(uid) <= {"."} else quote(uid, safe="")


def _page_url(noun: str, uid: str, part: str = "") -> str:
    return f"/{noun}/{segment(uid)}" + (f"/{part}" if part else "")


resource = partial(_page_url, "resources")
"""Returns the URL of a resource's page, or of a part of it such as `access`."""
workspace = partial(_page_url, "workspaces")
"""Returns the URL of a workspace's page, or of a part of it: `members`, `settings`, or the name of a kind."""
member = partial(_page_url, "people")
"""Returns the URL of a member's page, or of a part of it."""
group = partial(_page_url, "groups")
"""Returns the URL of a group's page, or of a part of it."""
run = partial(_page_url, "runs")
"""Returns the URL of a run's page, or of a part of it."""


def why(uid: str, action: str, member_uid: str = "") -> str:
    """Return the URL that explains why a member may perform an action; without a member, the caller."""
    query = {"action": action, **({"member": member_uid} if member_uid else {})}
    return f"{resource(uid, 'why')}?{urlencode(query)}"


def request(uid: str, action: str) -> str:
    """Return the URL of the form that requests a missing right."""
    return f"/requests/new?{urlencode({'resource': uid, 'action': action})}"


def for_kind(uid: str, kind: str) -> str:
    """Return the URL of the page of a member, group or resource, by its kind."""
    match kind:
        case "tenant.member":
            return member(uid)
        case "tenant.group" | "tenant.all_members":
            return group(uid)
        case _:
            return resource(uid)
