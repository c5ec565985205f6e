"""Hand in by Git: `gradekit watch --git ROSTER` fetches the students' repositories, and returns results and pages."""

#: environment variables with the token for the host, and the secret of its webhooks
TOKEN, WEBHOOK_SECRET = "GRADEKIT_GIT_TOKEN", "GRADEKIT_WEBHOOK_SECRET"
