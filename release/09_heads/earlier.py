"""Parts of earlier assignments, made by `gradekit earlier 09_heads` from their solutions.

Not to be edited. It must lie beside the notebook.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn


class PositionalEncoder(nn.Module):
    """Multiplies the input by sqrt(d_model) and adds the code of each position.

    The table is the one from "Attention Is All You Need", section 3.5. It is stored in the buffer `pe`
    of shape (1, max_seq_len, d_model).

    Args:
        d_model: width of the vectors, an even number.
        max_seq_len: number of positions in the table.

    Raises:
        ValueError: d_model is odd. The message contains it.
    """

    def __init__(self, d_model: int, max_seq_len: int = 80):
        super().__init__()
        if d_model % 2 != 0:
            raise ValueError(f"sines and cosines come in pairs, so d_model must be even, but it is {d_model}")
        self.d_model = d_model
        position = torch.arange(max_seq_len).unsqueeze(1)  # (max_seq_len, 1)
        even = torch.arange(0, d_model, 2)  # (d_model / 2,): the numbers 2i
        angle = position / 10000 ** (even / d_model)  # (max_seq_len, d_model / 2)
        pe = torch.zeros(max_seq_len, d_model)
        pe[:, 0::2] = torch.sin(angle)
        pe[:, 1::2] = torch.cos(angle)
        self.register_buffer("pe", pe.unsqueeze(0))  # (1, max_seq_len, d_model)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Adds the positions to a batch.

        Args:
            x: (batch, length, d_model). Not modified.

        Returns:
            (batch, length, d_model)

        Raises:
            ValueError: length is larger than max_seq_len. The message contains both.
        """
        length, max_seq_len = x.size(1), self.pe.size(1)
        if length > max_seq_len:
            raise ValueError(f"the sequence has {length} positions, but max_seq_len is {max_seq_len}")
        x = x * math.sqrt(self.d_model)  # (batch, length, d_model)
        return x + self.pe[:, :length]


def make_causal_mask(length):
    """Hides the future from every query.

    Returns a boolean mask (length, length): True where the key (column) is at the position of the query (row)
    or before it.
    """
    everything = torch.ones(length, length, dtype=torch.bool)
    return torch.tril(everything)


def masked_attention(q, k, v, mask=None):
    """Scaled dot-product attention with a mask that says which keys each query may attend to.

    q:    (..., L_query, d_k)
    k:    (..., L_key, d_k)
    v:    (..., L_key, d_v)
    mask: boolean, broadcasts to (..., L_query, L_key); True = may attend; None = nothing is hidden

    Returns (output, weights):
    output:  (..., L_query, d_v)     zeros for a query that may attend to nothing
    weights: (..., L_query, L_key)   0 at hidden keys; a row sums to 1, or to 0 if all its keys are hidden
    """
    d_k = q.shape[-1]
    scores = q @ k.transpose(-2, -1) / math.sqrt(d_k)  # (..., L_query, L_key)
    if mask is not None:
        lowest = torch.finfo(scores.dtype).min
        scores = scores.masked_fill(~mask, lowest)
    weights = torch.softmax(scores, dim=-1)  # (..., L_query, L_key)
    if mask is not None:
        has_a_key = mask.any(dim=-1, keepdim=True)  # (..., L_query or 1, 1)
        weights = weights.masked_fill(~has_a_key, 0.0)
    output = weights @ v  # (..., L_query, d_v)
    return output, weights


def rotate(x, positions, base=10000.0):
    """Turns every pair of columns by an angle that grows with the position (RoPE).

    x:         (..., length, width), width even
    positions: (length,), usually integers
    base:      pair i turns by 1 / base ** (2i / width) per position

    Returns (..., length, width), same dtype as x. `x` is not modified.

    Raises ValueError if the width is odd. The message contains it.
    """
    width = x.shape[-1]
    if width % 2 != 0:
        raise ValueError(f"columns are turned in pairs, so the width must be even, but it is {width}")
    speed = base ** (-torch.arange(0, width, 2) / width)  # (width / 2,)
    angle = positions[:, None] * speed  # (length, width / 2)
    cos, sin = angle.cos(), angle.sin()
    first, second = x[..., 0::2], x[..., 1::2]  # (..., length, width / 2)
    turned = torch.stack([first * cos - second * sin, first * sin + second * cos], dim=-1)
    return turned.flatten(-2).to(x.dtype)  # (..., length, width)


class RMSNorm(nn.Module):
    """Divides every vector by the root of the mean square of its numbers, then multiplies by a learned weight.

    width: size of the last axis
    eps:   added to the mean square, under the root
    """

    def __init__(self, width, eps=1e-6):
        super().__init__()
        self.eps = eps
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        """x: (..., width) -> (..., width)"""
        mean_square = x.pow(2).mean(dim=-1, keepdim=True)  # (..., 1)
        return self.weight * (x / torch.sqrt(mean_square + self.eps))


class SwiGLU(nn.Module):
    """A feed-forward network with a gate.

    d_model: width of the input and output vectors
    d_ff:    width of the hidden vectors

    Layers: w_gate, w_up and w_down, each an nn.Linear without bias.
    """

    def __init__(self, d_model, d_ff):
        super().__init__()
        self.w_gate = nn.Linear(d_model, d_ff, bias=False)
        self.w_up = nn.Linear(d_model, d_ff, bias=False)
        self.w_down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x):
        """x: (..., d_model) -> (..., d_model)"""
        gate = F.silu(self.w_gate(x))  # (..., d_ff)
        hidden = gate * self.w_up(x)  # (..., d_ff)
        return self.w_down(hidden)  # (..., d_model)


def grouped_attention(q, k, v, mask=None):
    """Attention in which several query heads share one key head and one value head.

    q:    (batch, heads, L_query, d_head)
    k, v: (batch, groups, L_key, d_head); neighboring heads form a group
    mask: boolean, broadcasts to (batch, heads, L_query, L_key); True = may attend; None = nothing is hidden

    Returns (output, weights):
    output:  (batch, heads, L_query, d_head)
    weights: (batch, heads, L_query, L_key)

    Raises ValueError if heads isn't a multiple of groups. The message contains both.
    """
    heads, groups = q.shape[1], k.shape[1]
    if heads % groups != 0:
        raise ValueError(f"{heads} heads can't be split into {groups} groups of equal size")
    k = k.repeat_interleave(heads // groups, dim=1)  # (batch, heads, L_key, d_head)
    v = v.repeat_interleave(heads // groups, dim=1)  # (batch, heads, L_key, d_head)
    return masked_attention(q, k, v, mask)


class CausalAttention(nn.Module):
    """Causal self-attention with rotary positions, groups of heads that share keys and values, and a cache.

    d_model:    width of the tokens, a multiple of num_heads
    num_heads:  number of query heads
    num_groups: number of key heads and of value heads; num_heads is a multiple of it
    base:       for rotate

    Layers: w_q, w_k, w_v and w_o, each an nn.Linear without bias.
    """

    def __init__(self, d_model, num_heads, num_groups, base=10000.0):
        super().__init__()
        self.base = base
        self.d_head = d_model // num_heads
        self.w_q = nn.Linear(d_model, num_heads * self.d_head, bias=False)
        self.w_k = nn.Linear(d_model, num_groups * self.d_head, bias=False)
        self.w_v = nn.Linear(d_model, num_groups * self.d_head, bias=False)
        self.w_o = nn.Linear(d_model, d_model, bias=False)

    def forward(self, x, cache=None):
        """x:     (batch, length, d_model), the tokens that come after those in the cache
        cache: a KVCache, to which the new keys and values are appended; None = there is nothing before x

        Returns (batch, length, d_model).
        """
        start = 0 if cache is None else cache.length
        positions = torch.arange(start, start + x.shape[1])  # (length,)
        q = self.split(self.w_q(x))  # (batch, heads, length, d_head)
        k = self.split(self.w_k(x))  # (batch, groups, length, d_head)
        v = self.split(self.w_v(x))  # (batch, groups, length, d_head)
        q, k = rotate(q, positions, self.base), rotate(k, positions, self.base)
        if cache is not None:
            k, v = cache.append(k, v)  # (batch, groups, start + length, d_head)
        mask = torch.arange(k.shape[2]) <= positions[:, None]  # (length, start + length)
        output, _ = grouped_attention(q, k, v, mask)  # (batch, heads, length, d_head)
        return self.w_o(output.transpose(1, 2).flatten(2))  # (batch, length, d_model)

    def split(self, x):
        return x.unflatten(-1, (-1, self.d_head)).transpose(1, 2)


class Block(nn.Module):
    """One block: attention, then SwiGLU, each with RMSNorm before it and a residual connection around it.

    d_model: width of the tokens; num_heads, num_groups, base: see CausalAttention; d_ff: hidden width of SwiGLU;
    eps: of both norms
    """

    def __init__(self, d_model, num_heads, num_groups, d_ff, base=10000.0, eps=1e-6):
        super().__init__()
        self.norm1 = RMSNorm(d_model, eps)
        self.attention = CausalAttention(d_model, num_heads, num_groups, base)
        self.norm2 = RMSNorm(d_model, eps)
        self.feed_forward = SwiGLU(d_model, d_ff)

    def forward(self, x, cache=None):
        """x: (batch, length, d_model); cache: a KVCache or None. Returns (batch, length, d_model)."""
        x = x + self.attention(self.norm1(x), cache)
        return x + self.feed_forward(self.norm2(x))


class DecoderOnly(nn.Module):
    """A language model whose output layer is its embedding table.

    vocab_size: number of ids; num_layers: number of blocks; the others: see Block
    """

    def __init__(self, vocab_size, d_model, num_heads, num_groups, d_ff, num_layers, base=10000.0, eps=1e-6):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        nn.init.normal_(self.embedding.weight, std=d_model**-0.5)
        sizes = (d_model, num_heads, num_groups, d_ff, base, eps)
        self.blocks = nn.ModuleList([Block(*sizes) for _ in range(num_layers)])
        self.norm = RMSNorm(d_model, eps)

    def forward(self, ids, caches=None):
        """ids:    (batch, length), the tokens that come after those in the caches
        caches: a list with a KVCache for every block; None = there is nothing before ids

        Returns logits, (batch, length, vocab_size).
        """
        if caches is None:
            caches = [None] * len(self.blocks)
        x = self.embedding(ids)  # (batch, length, d_model)
        for block, cache in zip(self.blocks, caches, strict=True):
            x = block(x, cache)
        return self.norm(x) @ self.embedding.weight.T  # (batch, length, vocab_size)


def load_weights(model, tensors):
    """Copies the weights of a file of llama.cpp into a model.

    model:   a DecoderOnly
    tensors: the weights by their names in the file, see the table; not modified

    Returns nothing. Raises ValueError if a tensor is missing, has the wrong shape or has no place in the model. The message
    contains its name in the file, and no weight has changed.
    """
    parts = {
        "attn_norm": "norm1",
        "attn_q": "attention.w_q",
        "attn_k": "attention.w_k",
        "attn_v": "attention.w_v",
        "attn_output": "attention.w_o",
        "ffn_norm": "norm2",
        "ffn_gate": "feed_forward.w_gate",
        "ffn_up": "feed_forward.w_up",
        "ffn_down": "feed_forward.w_down",
    }
    places = {"token_embd.weight": "embedding.weight", "output_norm.weight": "norm.weight"}
    for number in range(len(model.blocks)):
        for theirs, ours in parts.items():
            places[f"blk.{number}.{theirs}.weight"] = f"blocks.{number}.{ours}.weight"
    parameters = dict(model.named_parameters())
    for name in [*places, *tensors]:
        if name not in tensors:
            raise ValueError(f"{name} is missing")
        if name not in places:
            raise ValueError(f"{name} has no place in the model")
        wanted, found = parameters[places[name]].shape, tensors[name].shape
        if found != wanted:
            raise ValueError(f"{name} has the shape {tuple(found)}, but should have {tuple(wanted)}")
    with torch.no_grad():
        for theirs, ours in places.items():
            parameters[ours].copy_(tensors[theirs])
