"""Destination connectors: each delivery takes rows, options and a mark, and returns a `DeliveryResult`.

The mark identifies the delivery and is the same when a step is repeated. Where the other side can store it, in a folder
or a database, the rows arrive exactly once. A request or a mail cannot be taken back: there the receiver can recognise
a duplicate by its key, and the result says when there may be one.

- `files`: files in a folder of the platform
- `jdbc`: rows in a table of a database
- `webhook`: rows to a URL, in batches
- `mail`: a file to people
- `chat`: a message to a chat
- `delivery`: result and progress of a delivery
- `delivery_folder`: folders, and rows spooled in a fixed order
- `file_formats`: CSV, JSON Lines and Parquet, and rows in portable types
- `excel`: Excel workbooks
- `target_table`: the target table, its columns and its staging table
- `http_delivery`: one signed request, until it is accepted
- `delivery_errors`: errors of deliveries as users may read them
"""
