"""For authors of a course: recording, the audit, samples, new assignments, moving a course, the doctor."""
