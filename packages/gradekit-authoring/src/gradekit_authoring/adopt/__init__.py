"""Moves an existing nbgrader course to gradekit: a survey, the change of its configuration, a comparison of scores."""
