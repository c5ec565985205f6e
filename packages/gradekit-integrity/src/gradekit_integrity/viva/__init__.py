"""Sheets with questions about a student's own code, and the answers, found by running it."""
