"""Grading hand-ins as they arrive."""
