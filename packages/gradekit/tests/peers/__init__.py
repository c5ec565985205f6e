"""Test suites of the projects that gradekit extends, run with gradekit in force."""
