"""Questions with options that students answer about their own code, and what is made of the answers."""
