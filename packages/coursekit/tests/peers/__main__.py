"""Measures which of nbgrader's own tests don't pass on this machine without coursekit, and writes them down.

python -m peers    after a new version of nbgrader, in packages/coursekit/tests
"""

import tempfile
from pathlib import Path

from peers.nbgrader_suite import FILES, outcomes

PLAIN = Path(__file__).with_name("nbgrader_plain.txt")


def main() -> None:
    lines: list[str] = []
    for file in FILES:
        with tempfile.TemporaryDirectory() as folder:
            found = outcomes(file, Path(folder) / "run", configured=False)
        lines += [f"{outcome} {name}" for name, outcome in sorted(found.items()) if outcome != "passed"]
        print(f"{file}: {len(found)} tests", flush=True)
    PLAIN.write_text("".join(f"{line}\n" for line in lines))


if __name__ == "__main__":
    main()
