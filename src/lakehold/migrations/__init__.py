"""The steps from each version of the database to the next. They know tables by name, never by today's code."""
