"""Parts of earlier assignments, made by `gradekit earlier 08_modern` from their solutions.

Not to be edited. It must lie beside the notebook.
"""

import math

import torch
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


def shift_matrix(offset: int, d_model: int) -> torch.Tensor:
    """Returns the matrix that maps the code of any position t to the code of position t + offset.

    Args:
        offset: number of positions, may be negative or 0.
        d_model: width of the code, an even number.

    Returns:
        (d_model, d_model)
    """
    even = torch.arange(0, d_model, 2)  # (d_model / 2,): the numbers 2i
    odd = even + 1
    angle = offset / 10000 ** (even / d_model)  # (d_model / 2,)
    matrix = torch.zeros(d_model, d_model)
    matrix[even, even] = torch.cos(angle)
    matrix[even, odd] = torch.sin(angle)
    matrix[odd, even] = -torch.sin(angle)
    matrix[odd, odd] = torch.cos(angle)
    return matrix


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


class FeedForward(nn.Module):
    """Position-wise feed-forward network ("Attention Is All You Need", section 3.3).

    Args:
        d_model: width of the input and output vectors.
        d_ff: width of the hidden vector.
        dropout: probability of dropping an entry of the hidden vector in training.
    """

    def __init__(self, d_model, d_ff, dropout=0.0):
        super().__init__()
        self.linear1 = nn.Linear(d_model, d_ff)
        self.linear2 = nn.Linear(d_ff, d_model)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x):
        """x: (batch, length, d_model) -> (batch, length, d_model)"""
        hidden = torch.relu(self.linear1(x))  # (batch, length, d_ff)
        hidden = self.dropout(hidden)
        return self.linear2(hidden)  # (batch, length, d_model)
