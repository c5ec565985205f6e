"""Answers of a class that are alike beyond what its task and its common solutions explain."""
