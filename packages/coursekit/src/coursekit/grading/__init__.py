"""Grading a whole class: tasks for workers, here or on other machines, and one writer of the gradebook."""
