"""Written answers: dealt out to graders, shown next to each other with suggestions, and how graders compare."""
