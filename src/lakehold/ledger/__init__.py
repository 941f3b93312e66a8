"""What happened, in commit order.

- `changes`: the log of changed facts with its sequence numbers, which every process catches up with
"""
