"""Pages of data spaces."""
