"""Mutants: small machine-made edits of the solutions, each of which the hidden checks should catch.

The edits are made on the text, at the positions that `ast` reports, so that a survivor is a short diff of code that a
student would write. No existing tool was a suitable base. mutmut's operators are internal functions on libcst trees; they come
with a terminal interface and a runner, and change the letters of messages. cosmic-ray's `mutate_code` takes a piece of
text, but has no operators for arguments, keywords, statements and slices, and brings a web server and a database. libcst
alone would be a dependency for exact positions, which `ast` already provides.
"""
