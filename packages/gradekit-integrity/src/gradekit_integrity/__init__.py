"""Did they understand, and did they write it? Questions about a student's own code, and answers that are alike."""
