"""Hand in from a CI job: `gradekit watch --http KEYS` takes notebooks by HTTP, and gives back results and pages."""
