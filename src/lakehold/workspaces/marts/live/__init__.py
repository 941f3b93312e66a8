"""Live destinations: nothing is sent there; BI tools pull their reports over HTTP.

- `secrets`: the secret of a destination, and authentication with it
- `pulls`: pulls of reports as the member who last saved them, and their records
"""

LIVE_TYPE = "live"
"""What such a destination says of where it sends to."""
