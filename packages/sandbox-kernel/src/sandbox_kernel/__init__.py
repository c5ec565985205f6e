"""Jupyter kernels in a sandbox, for any program that starts kernels by name.

sandbox        in the sandbox, forked from a server that has already imported the usual packages
sandbox-cold   in the sandbox, a new Python process
limited        no sandbox: memory limit, clean environment and scratch folder only
"""

SANDBOX, COLD, LIMITED = "sandbox", "sandbox-cold", "limited"
