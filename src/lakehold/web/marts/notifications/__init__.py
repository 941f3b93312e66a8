"""Notifications of a project on a page: what it tells of, who receives it, and the address that failures are told to.

- `page`: all of it, as far as one may see it; `routes`: changing it
- `hook`: the address
"""
