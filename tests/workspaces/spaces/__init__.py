"""Data spaces: connections, projects, tasks and what they make."""
