"""The written answers of a class next to each other, with suggestions that a person may use."""
