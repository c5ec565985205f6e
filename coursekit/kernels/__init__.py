"""Starting a student kernel.

A kernel is chosen by the name of its kernelspec; its provisioner decides what surrounds the process.

    coursekit         in the sandbox, a fork of a server that has imported torch already
    coursekit-cold    in the sandbox, started anew
    coursekit-plain   without a sandbox, for code one trusts
"""

SANDBOXED, COLD, PLAIN = "coursekit", "coursekit-cold", "coursekit-plain"
#: values of the option --sandbox
BUBBLEWRAP, NONE = "bubblewrap", "none"
KERNELS = {BUBBLEWRAP: SANDBOXED, NONE: PLAIN}
