"""Pages of the audit log: `/audit`.

- `routes`: the list with its filters, one entry, and the verification of the hash chain
- `filters`: parses the filters from the address, and builds the address of the REST export with the same filters

Members with the right to see the audit log see all of it, including the names of resources that are hidden from them
elsewhere; but only resources that they may see are links.
"""
