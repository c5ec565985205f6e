"""A submitted notebook running in a kernel: its cells, its limits, and the proxy that checks talk to."""
