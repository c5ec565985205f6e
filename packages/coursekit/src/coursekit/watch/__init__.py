"""Grading hand-ins as they arrive: the rules of attempts, and what is known about each attempt."""
