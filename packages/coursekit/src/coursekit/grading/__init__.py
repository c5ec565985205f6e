"""Grading a whole class: tasks for workers on this machine or others, and one writer of the gradebook."""
