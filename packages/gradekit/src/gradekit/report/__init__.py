"""Tables and pages about a class, and comments for many of its students at a time."""
