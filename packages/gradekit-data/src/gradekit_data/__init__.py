"""Values of pandas and figures of matplotlib, for the checks of gradekit: how they are sent, described and compared."""
