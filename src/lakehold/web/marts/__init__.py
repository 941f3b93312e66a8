"""Pages of marts beside those that they share with the lakehouse: data, schema, runs and triggers.

- `quality`: how the checks of a data mart came out
"""
