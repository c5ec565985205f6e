"""Grading a whole class: tasks for workers on this machine or others, and processes that write the gradebook."""
