"""A submission: reading, repairing and running it, and the proxy that checks talk to."""
