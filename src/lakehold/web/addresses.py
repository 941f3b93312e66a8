"""Where the pages of things are. Ids may have any characters in them, a slash too."""

from __future__ import annotations

from urllib.parse import quote, urlencode


def resource(uid: str, part: str = "") -> str:
    """The page of a resource, or a part of it such as `access`."""
    return _of("resources", uid, part)


def workspace(uid: str, part: str = "") -> str:
    """The page of a workspace, or a part of it: `members`, `settings`, or the name of a kind."""
    return _of("workspaces", uid, part)


def member(uid: str, part: str = "") -> str:
    """The page of a member."""
    return _of("people", uid, part)


def group(uid: str, part: str = "") -> str:
    """The page of a group."""
    return _of("groups", uid, part)


def run(uid: str, part: str = "") -> str:
    """The page of a run."""
    return _of("runs", uid, part)


def why(uid: str, action: str, who: str = "") -> str:
    """Why somebody may do this, or not; without `who`: oneself."""
    asked = {"action": action, **({"member": who} if who else {})}
    return f"{resource(uid, 'why')}?{urlencode(asked)}"


def request(uid: str, action: str) -> str:
    """Where one asks for a right that is missing."""
    return f"/requests/new?{urlencode({'resource': uid, 'action': action})}"


def of(uid: str, kind: str) -> str:
    """The page of whatever it is."""
    match kind:
        case "tenant.member":
            return member(uid)
        case "tenant.group" | "tenant.all_members":
            return group(uid)
        case _:
            return resource(uid)


def segment(uid: str) -> str:
    """An id as one part of an address."""
    # A dot segment would be taken out of the address by browsers.
    return quote(uid, safe="").replace(".", "%2E") if set(uid) <= {"."} else quote(uid, safe="")


def _of(noun: str, uid: str, part: str) -> str:
    return f"/{noun}/{segment(uid)}" + (f"/{part}" if part else "")
