"""`make bench`: the cost of grading a class, compared with plain nbgrader and Otter. See docs/performance.md."""
