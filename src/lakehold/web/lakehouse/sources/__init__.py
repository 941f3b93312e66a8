"""Sources: connected, their streams chosen, looked at and scheduled, one step after the other; and changed later.

A source is kept as soon as it could be connected to, so that each step is a form of its own and works without scripts.

- `connecting`: the pages of the connection; `connection`: what their form says; `apis`: the part of it for APIs
- `databases`: the address of a database, as parts that people know
- `sealed`: a secret that was filled in, while the form is not right yet
- `looking`: the worker is asked to look; `troubles`: the field at which an error is shown
- `choosing`: the page of streams; `streams`: what its form says, and what is kept of it; `tables`: what they write
- `previewing`: how a stream arrives; `formats`: how it is to be read
- `scheduling`: when it runs, the last step; `steps`: where each step is
- `page`: what is told of a source on its own page
"""
