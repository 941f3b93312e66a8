"""Describes a browser by its User-Agent header. The header helps to recognise a session, and proves nothing."""

from __future__ import annotations

_BROWSERS = {
    "Edg/": "Edge",
    "OPR/": "Opera",
    "Firefox/": "Firefox",
    "Chrome/": "Chrome",
    "Safari/": "Safari",
    "curl/": "curl",
}
_SYSTEMS = {
    "iPhone": "iPhone",
    "iPad": "iPad",
    "Android": "Android",
    "Windows": "Windows",
    "Mac OS": "Mac",
    "Linux": "Linux",
}
_MAX_LENGTH = 40


def describe_user_agent(agent: str) -> str:
    """Return a label such as `Firefox on Linux`."""
    browser = next((name for mark, name in _BROWSERS.items() if mark in agent), "")
    system = next((name for mark, name in _SYSTEMS.items() if mark in agent), "")
    if not browser:
        return agent[:_MAX_LENGTH] or "Something unknown"
    return f"{browser} on {system}" if system else browser
