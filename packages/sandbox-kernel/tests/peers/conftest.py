"""The runner beside these tests is imported by its name."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))
