"""Destinations of a project: where reports go, made and changed by a form for each way.

- `routes`: the pages of the form; `destination`: what it says, and what is kept of it
- `page`: the page of one; `live`: its secret, where it is pulled; `files`: what reports have left in it
"""
