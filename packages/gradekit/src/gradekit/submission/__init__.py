"""A submitted notebook as text: reading and repairing it. Nothing here runs it."""
