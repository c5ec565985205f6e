"""`make bench`: what grading a class costs, beside plain nbgrader and Otter. See docs/performance.md."""
