"""Code that all destinations share: each delivery takes rows, options and a mark, and returns a result.

The mark identifies the delivery and is the same when a step is repeated. Where the other side can store it, in a folder
or a database, the rows arrive exactly once. A request or a mail cannot be taken back: there the receiver can recognise
a duplicate by its key, and the result says when there may be one.

- `delivery`: request, result and progress of a delivery
- `delivery_folder`: folders, and rows spooled in a fixed order
- `file_formats`: CSV, JSON Lines, Parquet and Excel, and rows in portable types
- `http_delivery`: a webhook, and one signed request to it until it is accepted
"""
