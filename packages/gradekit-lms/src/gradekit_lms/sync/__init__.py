"""`gradekit lms sync`: students and submissions from Canvas or Moodle by their APIs; scores, comments and pages to them."""

#: the environment variable with the token
LMS_TOKEN = "GRADEKIT_LMS_TOKEN"
