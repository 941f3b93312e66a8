"""Live destinations: nothing is sent there, and BI tools pull over HTTP what their reports have now.

- `secrets`: what a tool shows, one for each destination: made, made anew, revoked
- `entering`: whoever shows one is let in, or not
- `pulling`: what a report gives, as the person who last saved it; `taking`: somebody else takes that over
- `pulls`: what was pulled, and how long it took
"""

LIVE = "live"
"""What such a destination says of where it sends to."""
