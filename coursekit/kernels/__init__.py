"""Starting a student kernel.

A kernel is chosen by the name of its kernelspec; its provisioner decides what surrounds the process. The
sandbox and warm starts belong here, as further provisioners.
"""
