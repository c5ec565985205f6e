"""The commands and options of gradekit-lms."""
