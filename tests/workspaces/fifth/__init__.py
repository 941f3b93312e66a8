"""A fifth way of working: gardens with beds that are watered. The platform knows it by its descriptor alone."""
