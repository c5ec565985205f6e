"""`make demos`: trains the models of the course, beside the settings of the documents it is made from."""
