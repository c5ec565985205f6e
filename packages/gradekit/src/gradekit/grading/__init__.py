"""Grading a whole class: tasks for workers on this machine or others, and results written to the gradebook."""
