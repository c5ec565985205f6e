"""Moving an existing nbgrader course to coursekit: what is in it, the change of its configuration, a comparison."""
