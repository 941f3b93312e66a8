"""Data marts: made, changed and looked at.

- `form`: what the form of a data mart says, and what is kept of it; `joins`: the part of it about other marts
- `fed`, `feeding`: the same of a data mart that a connector of its own feeds
- `routes`: the pages of that form; `trying`: a definition is tried out before it is kept
- `page`: a data mart by itself, published and made a draft again
- `reports`: the reports on it; `schema`: what its readers see of its fields; `checks`: what it promises of its rows
"""
