"""Jupyter kernels in a sandbox, for any program that starts kernels by name.

sandbox        in the sandbox, a fork of a server that has imported the usual packages
sandbox-cold   in the sandbox, a new Python process
limited        no sandbox: limits, a clean environment and a scratch folder
"""

SANDBOX, COLD, LIMITED = "sandbox", "sandbox-cold", "limited"
