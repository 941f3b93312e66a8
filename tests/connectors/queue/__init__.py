"""A connector that is one folder outside of the platform, and that has no form of its own."""
