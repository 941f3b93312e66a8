"""How something is sent, as forms say it and pages tell it: for the destinations of every workspace.

- `ways`: the ways of sending, and the words for each
- `filled`: what a form says of one, and what is kept of it
- `telling`: where it sends to, without its secret; `troubles`: the field that an error is about
"""
