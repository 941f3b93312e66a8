"""Destinations: what is sent where, made and changed by a form for each way of sending.

- `routes`: the pages of the form; `delivery`: what it says, and what is kept of it
- `trying`: the worker is asked to try it out
- `page`: what is told of a destination on its own page
"""
