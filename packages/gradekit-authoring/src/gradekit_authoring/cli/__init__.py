"""The commands of gradekit-authoring."""
