"""Grading hand-ins as they arrive: the rules and the records of attempts."""
