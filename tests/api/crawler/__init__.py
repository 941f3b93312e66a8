"""Looks for leaks: calls every operation of the OpenAPI document, as every member, with ids of everything.

- `words`: two tenants in which every id and name is a random word that is used nowhere else
- `request_builder`: builds requests for any operation from its schema
- `crawl`: sends them, and searches the answers for what the caller may not see
"""
