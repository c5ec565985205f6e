"""`make demos`: trains the models of the course, and compares them with the settings of its source documents."""
