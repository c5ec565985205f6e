"""Tables and pages about a class."""
