"""What every SQL editor uses.

- `completion`: names for the completion of the editor
"""
