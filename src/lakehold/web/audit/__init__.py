"""The audit log, for those who may see it: `/audit`.

- `routes`: the list with its filters, one entry, and whether the chain is whole
- `asking`: what the address asks for, and the same question to the export of REST
- `telling`: an entry in words: who, through what, and what changed

Who may see the log sees all of it, also the names of what they may not see elsewhere; but only what they may see is a
link.
"""
