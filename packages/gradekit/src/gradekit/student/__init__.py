"""A submission: reading, restoring and running it, and the proxy that checks talk to."""
