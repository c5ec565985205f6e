"""The commands viva and similar of `gradekit`."""
