"""Grades notebook courses with hidden checks, which run outside the student's process."""
