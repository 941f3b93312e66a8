"""Groups: who is in them, and what they hold.

- `routes`: the list, and making one
- `one`: a group's page, its name and its end
- `members`: letting people in and out
- `routers`: all of them, in order

Their tenant roles are set in the room `people`.
"""
