"""Looks for side doors: calls every operation of the document, as everybody, with ids of everything.

- `words`: two tenants in which every id and name is a random word that stands nowhere else
- `filling`: requests for any operation, made from its schema
- `crawl`: sends them, and looks in the answers for what the caller may not see
"""
