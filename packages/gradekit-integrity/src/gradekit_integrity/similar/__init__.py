"""Finds answers of a class that are more alike than the task and its common solutions explain."""
