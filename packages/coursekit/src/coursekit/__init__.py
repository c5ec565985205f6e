"""Grading of notebook courses by hidden checks, apart from the student's process."""
