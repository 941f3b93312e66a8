"""What a report says in a mail or a chat: Markdown with values in it, a small table or a small chart.

- `message`: the template, and what it says of the first rows; `first`: these rows
- `tables`, `charts`: the small ones that stand in it
"""
