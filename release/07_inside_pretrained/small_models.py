"""What is learned here, in a few seconds, from tales.txt: a tokenizer, a small causal model, word vectors.

The model consists of the parts of assignments 3 and 4. It takes SmolLM2's place where that isn't installed, and an
untrained one shows how training begins. Tokenizer and model have the part of the interface of `transformers` that the notebook uses:

    inputs = tokenizer(text, return_tensors="pt")       tokenizer.encode, .decode, .convert_ids_to_tokens
    output = model(**inputs, output_attentions=True)    output.logits, .attentions
"""

import re
import sys
from collections import Counter
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

import torch
import torch.nn.functional as F
from torch import nn
from tqdm import tqdm

from earlier import EncoderLayer, PositionalEncoder, make_causal_mask

TEXT_FILE = Path(__file__).with_name("tales.txt")


def read_tales():
    return TEXT_FILE.read_text(encoding="utf-8")


# ---------------------------------------------------------------------------------------------- tokenizer
def byte_symbols():
    """Returns GPT-2's mapping from bytes to visible characters: the space becomes Ġ, the line break Ċ."""
    visible = [*range(33, 127), *range(161, 173), *range(174, 256)]
    symbols = {byte: chr(byte) for byte in visible}
    for byte in range(256):
        if byte not in symbols:
            symbols[byte] = chr(256 + len(symbols) - len(visible))
    return symbols


SYMBOL_OF_BYTE = byte_symbols()
BYTE_OF_SYMBOL = {symbol: byte for byte, symbol in SYMBOL_OF_BYTE.items()}
# Cuts a text into words, numbers and punctuation; a space belongs to what follows it.
PIECES = re.compile(r" ?[^\W\d_]+| ?\d+| ?[^\w\s]+|\s+(?!\S)|\s+|_+")


class Inputs(dict):
    """A dict whose entries are also attributes: inputs["input_ids"] is inputs.input_ids."""

    __getattr__ = dict.__getitem__


class BPETokenizer:
    """Byte-pair encoding. A word starts as a list of bytes; then the learned merges join neighbors.

    merges: list of pairs of symbols, most important first
    special_tokens: tokens that stand for themselves and come first among the ids
    """

    def __init__(self, merges, special_tokens):
        self.rank = {pair: rank for rank, pair in enumerate(merges)}
        self.special_tokens = list(special_tokens)
        symbols = list(SYMBOL_OF_BYTE.values())
        self.tokens = [*special_tokens, *symbols, *(left + right for left, right in merges)]
        self.ids = {token: number for number, token in enumerate(self.tokens)}
        self.name_or_path = "byte-pair encoding learned from tales.txt"
        self.known = {}

    def __len__(self):
        return len(self.tokens)

    def __call__(self, text, return_tensors=None):
        ids = self.encode(text)
        if return_tensors == "pt":
            ids = torch.tensor([ids])  # (1, length)
            return Inputs(input_ids=ids, attention_mask=torch.ones_like(ids))
        return Inputs(input_ids=ids, attention_mask=[1] * len(ids))

    def tokenize(self, text):
        """Text -> tokens."""
        return [token for piece in PIECES.findall(text) for token in self.split(piece)]

    def split(self, piece):
        if piece not in self.known:
            symbols = [SYMBOL_OF_BYTE[byte] for byte in piece.encode()]
            while len(symbols) > 1:
                best = min(pairwise(symbols), key=lambda pair: self.rank.get(pair, 10**9))
                if best not in self.rank:
                    break
                symbols = merge(symbols, best)
            self.known[piece] = symbols
        return self.known[piece]

    def encode(self, text):
        return self.convert_tokens_to_ids(self.tokenize(text))

    def decode(self, ids, skip_special_tokens=False):
        pieces = []
        for token in self.convert_ids_to_tokens(torch.as_tensor(ids).reshape(-1)):
            if token not in self.special_tokens:
                pieces.append(bytes(BYTE_OF_SYMBOL[symbol] for symbol in token))
            elif not skip_special_tokens:
                pieces.append(token.encode())
        return b"".join(pieces).decode(errors="replace")

    def convert_ids_to_tokens(self, ids):
        if isinstance(ids, int):
            return self.tokens[ids]
        return [self.tokens[int(number)] for number in ids]

    def convert_tokens_to_ids(self, tokens):
        return self.ids[tokens] if isinstance(tokens, str) else [self.ids[token] for token in tokens]


def merge(symbols, pair):
    """Joins every adjacent `pair` in the list of symbols."""
    merged, place = [], 0
    while place < len(symbols):
        width = 2 if tuple(symbols[place : place + 2]) == pair else 1
        merged.append("".join(symbols[place : place + width]))
        place += width
    return merged


def learn_merges(text, count):
    """Returns the first `count` merges of a text: each joins the most frequent pair of neighbors into one symbol."""
    words = Counter(PIECES.findall(text))
    split = {word: [SYMBOL_OF_BYTE[byte] for byte in word.encode()] for word in words}
    merges = []
    while len(merges) < count:
        pairs = Counter()
        for word, times in words.items():
            for pair in pairwise(split[word]):
                pairs[pair] += times
        if not pairs:
            break
        best = max(pairs, key=lambda pair: (pairs[pair], pair))  # ties are broken by the pair itself
        merges.append(best)
        for word, symbols in split.items():
            if best[0] in symbols:
                split[word] = merge(symbols, best)
    return merges


# -------------------------------------------------------------------------------------------------- model
class SmallGPT(nn.Module):
    """A decoder-only transformer: the encoder layers of assignment 4 with a causal mask."""

    def __init__(self, vocab_size, d_model=64, num_heads=4, d_ff=128, num_layers=2, max_seq_len=256):
        super().__init__()
        self.name_or_path = "small causal model, trained here"
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model**-0.5)
        self.positions = PositionalEncoder(d_model, max_seq_len)
        self.layers = nn.ModuleList(
            [EncoderLayer(d_model, num_heads, d_ff, norm_first=True) for _ in range(num_layers)]
        )
        self.norm = nn.LayerNorm(d_model)
        self.weights = []  # of the attention, a tensor per layer; a hook on each layer collects them
        for layer in self.layers:
            layer.self_attn.register_forward_hook(lambda module, args, result: self.weights.append(result[1]))

    def get_input_embeddings(self):
        return self.embedding

    def forward(self, input_ids, attention_mask=None, output_attentions=False):
        x = self.positions(self.embedding(input_ids))  # (batch, length, d_model)
        mask = make_causal_mask(input_ids.shape[1]).unsqueeze(0)  # (1, length, length)
        if attention_mask is not None:
            mask = mask & attention_mask.bool().unsqueeze(1)  # (batch, length, length)
        for layer in self.layers:
            x = layer(x, mask)
        x = self.norm(x)
        logits = x @ self.embedding.weight.T  # the same table for input and output, as in GPT-2
        attentions, self.weights = tuple(self.weights), []  # per layer: (batch, heads, L, L)
        return SimpleNamespace(logits=logits, attentions=attentions if output_attentions else None)


# ----------------------------------------------------------------------------------------------- training
def progress(steps, title):
    """Returns range(steps) with a progress bar."""
    return tqdm(range(steps), file=sys.stdout, desc=title, ncols=80, mininterval=0.5)


def optimize(model, loss_of_step, steps, lr):
    """Trains with Adam, warm-up and decay, as in assignment 5."""
    optimizer = torch.optim.Adam(model.parameters(), betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, lr, total_steps=steps)
    model.train()
    for _ in progress(steps, type(model).__name__):
        loss = loss_of_step()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    return model.eval()


def train_causal_model(text, merges, steps=450, batch=4, length=96, lr=1e-2, seed=0):
    """Returns a tokenizer and a small GPT, trained to predict the next token of the text."""
    tokenizer = BPETokenizer(merges, ["<|endoftext|>"])
    stream = text_ids(tokenizer, text)
    starts = (stream == 0).nonzero()[:-1, 0] + 1  # where a story begins: after <|endoftext|>, id 0
    starts = starts[starts + length < len(stream)]
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = SmallGPT(len(tokenizer))

        def loss_of_step():
            chosen = starts[torch.randint(len(starts), (batch, 1))]  # (batch, 1)
            ids = stream[chosen + torch.arange(length + 1)]  # (batch, length + 1)
            logits = model(ids[:, :-1]).logits
            return F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten())

        return tokenizer, optimize(model, loss_of_step, steps, lr=lr)


def text_ids(tokenizer, text):
    """Returns the ids of all stories in one tensor, with <|endoftext|> after each."""
    end = tokenizer.convert_tokens_to_ids("<|endoftext|>")
    return torch.tensor([number for story in text.splitlines() for number in [*tokenizer.encode(story), end]])


# ------------------------------------------------------------------------------------------- word vectors
def learn_word_vectors(text, width=30, window=4, at_least=5):
    """Learns word vectors: how often words occur near each other, compressed into `width` numbers.

    A cell of the table is the positive pointwise mutual information log p(a, b) / (p(a) p(b)), or 0 if that is
    negative; the singular value decomposition keeps its `width` strongest directions.

    Returns (words, vectors): a list, most frequent first, and a tensor (len(words), width).
    """
    stories = [re.findall(r"[a-z]+", story.lower()) for story in text.splitlines()]
    counts = Counter(word for story in stories for word in story)
    words = [word for word, times in counts.most_common() if times >= at_least]
    number = {word: place for place, word in enumerate(words)}
    pairs = Counter()
    for story in stories:
        for distance in range(1, window + 1):
            pairs.update(zip(story, story[distance:], strict=False))
    near = torch.zeros(len(words), len(words))
    for (one, other), times in pairs.items():
        if one in number and other in number:
            near[number[one], number[other]] += times
    near = near + near.T
    share = near / near.sum()
    alone = share.sum(dim=1)
    table = (share / (alone[:, None] * alone[None, :])).log().clamp(min=0)  # log 0 is -inf, which becomes 0
    u, s, _ = torch.linalg.svd(table)
    return words, u[:, :width] * s[:width].sqrt()
