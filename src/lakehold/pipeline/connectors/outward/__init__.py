"""How rows go out: each delivery takes rows, settings and a mark, and gives what was `Delivered`.

The mark names the delivery and is the same when a step is run again. Where the other side can keep it, in a folder or a
database, the rows arrive once. A request or a mail cannot be taken back: there the receiver can tell a double by its
key, and the delivery says when there may be one.

- `delivered`: what a delivery did; `progress`: how far one has come that is made of several parts
- `files`: files into a folder; `shapes`: what kinds there are; `separated`: CSV; `excel`: workbooks
- `jdbc`: rows into a table of a database; `database`: a connection to one; `target`: the table there, and `staging`:
  the one beside it; `fitting`: which fields go into which columns
- `webhook`: rows to an address, in batches; `posting`: one batch, until it is taken; `signing`: how the receiver knows
  whose it is; `addresses`: where nothing is sent to
- `mail`: a file to people; `chat`: a message to a room of theirs
- `folder`: a folder of the platform; `spool`: rows laid aside in a fixed order; `plain`: rows in types that all have
- `trouble`: what is told of an error
"""
