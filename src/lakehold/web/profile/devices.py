"""Which browser it was, in words. It is what the browser says of itself: to recognise it by, and no proof."""

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
_LONGEST = 40


def spoken(agent: str) -> str:
    """`Firefox on Linux`."""
    browser = next((name for mark, name in _BROWSERS.items() if mark in agent), "")
    system = next((name for mark, name in _SYSTEMS.items() if mark in agent), "")
    if not browser:
        return agent[:_LONGEST] or "Something unknown"
    return f"{browser} on {system}" if system else browser
