"""Moves an existing nbgrader course to coursekit: a survey, the change of its configuration, a comparison of scores."""
