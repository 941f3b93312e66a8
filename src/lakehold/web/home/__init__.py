"""Home: what somebody comes back to, and what waits for them.

- `routes`: the page; `reporting`: what comes first for a Business User
"""
