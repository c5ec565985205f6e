"""How large a notebook that was handed in may be. What goes beyond is refused before it takes memory."""

MAX_FILE_BYTES = 100 * 2**20
#: brackets and braces of the whole file: each may become an object of Python's
MAX_BRACKETS = 200_000
MAX_CELLS = 2_000
#: parsing code takes a hundred times its length
MAX_CODE_CHARACTERS = 200_000
MAX_TEXT_CHARACTERS = 1_000_000
#: of all cells together
MAX_CHARACTERS = 4_000_000
#: for files that only a lenient parser reads, which takes more memory
MAX_LENIENT_BYTES = 20 * 2**20
MAX_LENIENT_ITEMS = 400_000
