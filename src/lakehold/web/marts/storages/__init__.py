"""Storages: made, changed, tried out and looked into.

- `form`: what the form of a storage says, and what is kept of it
- `routes`: the pages of that form
- `page`: a storage by itself
- `tables`: the tables that it has, and how one of them looks
"""
