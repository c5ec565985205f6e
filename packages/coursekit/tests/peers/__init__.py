"""Test suites of the projects that coursekit extends, run with coursekit in force."""
