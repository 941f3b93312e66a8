"""TODO map of the room."""
