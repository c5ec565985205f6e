"""Grading one notebook: tries, the pytest plugin, diagnosis, the result and its cache."""
