"""Parts of earlier assignments, made by `gradekit earlier 06_text_recovery` from their solutions.

Not to be edited. It must lie beside the notebook.
"""

import math
import sys

import torch
import torch.nn.functional as F
from torch import nn
from tqdm import tqdm


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


def make_padding_mask(ids, pad_idx=0):
    """Hides padding from every query.

    ids:     (batch, length), token ids
    pad_idx: the id of the padding token

    Returns a boolean mask (batch, 1, length): True where a key may be attended to, False where it is padding.
    """
    is_token = ids != pad_idx  # (batch, length)
    return is_token.unsqueeze(1)  # (batch, 1, length)


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


class FusedMultiHeadAttention(nn.Module):
    """Multi-head attention with one layer for all heads ("Attention Is All You Need", section 3.2.2).

    d_model:   width of the tokens, and of the output
    num_heads: number of heads, each of width d_model / num_heads
    dropout:   probability that a weight is set to 0 in training

    Layers: w_q, w_k, w_v and w_o, each an nn.Linear from d_model to d_model with bias.

    Raises ValueError if d_model isn't a multiple of num_heads. The message contains both.
    """

    def __init__(self, d_model, num_heads, dropout=0.0):
        super().__init__()
        if d_model % num_heads != 0:
            raise ValueError(
                f"{num_heads} heads can't share a width of {d_model}: it must be a multiple of num_heads"
            )
        self.num_heads = num_heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)
        self.dropout = nn.Dropout(dropout)

    def split(self, x):
        """Gives the heads their own axis: (batch, length, d_model) -> (batch, heads, length, d_head)."""
        batch, length, d_model = x.shape
        d_head = d_model // self.num_heads
        parts = x.reshape(batch, length, self.num_heads, d_head)
        return parts.transpose(1, 2)

    def forward(self, query, key, value, mask=None):
        """query: (batch, L_query, d_model)
        key:   (batch, L_key, d_model)
        value: (batch, L_key, d_model)
        mask:  boolean, (L_query, L_key), (batch, 1, L_key) or (batch, L_query, L_key); True = may attend; the same
               for all heads; None = nothing is hidden

        Returns (output, weights):
        output:  (batch, L_query, d_model)
        weights: (batch, heads, L_query, L_key), before dropout
        """
        q = self.split(self.w_q(query))  # (batch, heads, L_query, d_head)
        k = self.split(self.w_k(key))  # (batch, heads, L_key, d_head)
        v = self.split(self.w_v(value))  # (batch, heads, L_key, d_head)
        if mask is not None:
            mask = mask.unsqueeze(-3)  # (..., 1, L_query, L_key): the axis of the heads
        _, weights = masked_attention(q, k, v, mask)  # (batch, heads, L_query, L_key)
        heads = self.dropout(weights) @ v  # (batch, heads, L_query, d_head)
        merged = heads.transpose(1, 2).flatten(2)  # (batch, L_query, d_model)
        return self.w_o(merged), weights


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


class EncoderLayer(nn.Module):
    """One layer of the encoder: self-attention, then feed-forward, each with a residual connection and a norm.

    Args:
        d_model: width of the vectors; num_heads must divide it.
        num_heads: number of attention heads.
        d_ff: hidden width of the feed-forward network.
        dropout: probability for attention weights, hidden vectors, and the output of both sublayers.
        norm_first: True for pre-norm, False for post-norm.
    """

    def __init__(self, d_model, num_heads, d_ff, dropout=0.0, norm_first=False):
        super().__init__()
        self.self_attn = FusedMultiHeadAttention(d_model, num_heads, dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.norm_first = norm_first

    def forward(self, x, mask=None):
        """Applies the layer to a batch.

        Args:
            x: (batch, length, d_model). Not modified.
            mask: boolean matrices that broadcast to (batch, length, length), True = may attend; None = nothing is hidden.

        Returns:
            (batch, length, d_model)
        """
        if self.norm_first:
            normed = self.norm1(x)
            x = x + self.dropout(self.self_attn(normed, normed, normed, mask)[0])
            normed = self.norm2(x)
            return x + self.dropout(self.feed_forward(normed))
        attended = self.self_attn(x, x, x, mask)[0]
        x = self.norm1(x + self.dropout(attended))
        changed = self.feed_forward(x)
        return self.norm2(x + self.dropout(changed))


class DecoderLayer(nn.Module):
    """One layer of the decoder: masked self-attention, cross-attention to the memory, feed-forward.

    Args:
        d_model: width of the vectors; num_heads must divide it.
        num_heads: number of attention heads.
        d_ff: hidden width of the feed-forward network.
        dropout: probability for attention weights, hidden vectors, and the output of all three sublayers.
        norm_first: True for pre-norm, False for post-norm.
    """

    def __init__(self, d_model, num_heads, d_ff, dropout=0.0, norm_first=False):
        super().__init__()
        self.self_attn = FusedMultiHeadAttention(d_model, num_heads, dropout)
        self.cross_attn = FusedMultiHeadAttention(d_model, num_heads, dropout)
        self.feed_forward = FeedForward(d_model, d_ff, dropout)
        self.norm1 = nn.LayerNorm(d_model)
        self.norm2 = nn.LayerNorm(d_model)
        self.norm3 = nn.LayerNorm(d_model)
        self.dropout = nn.Dropout(dropout)
        self.norm_first = norm_first

    def forward(self, y, memory, target_mask=None, memory_mask=None):
        """Applies the layer to a batch.

        Args:
            y: (batch, L_tgt, d_model). Not modified.
            memory: (batch, L_src, d_model), the output of the encoder. Not modified.
            target_mask: boolean matrices that broadcast to (batch, L_tgt, L_tgt), True = may attend; None = nothing is hidden.
            memory_mask: boolean matrices that broadcast to (batch, L_tgt, L_src), True = may attend; None = nothing is hidden.

        Returns:
            (batch, L_tgt, d_model)
        """
        if self.norm_first:
            normed = self.norm1(y)
            y = y + self.dropout(self.self_attn(normed, normed, normed, target_mask)[0])
            normed = self.norm2(y)
            y = y + self.dropout(self.cross_attn(normed, memory, memory, memory_mask)[0])
            normed = self.norm3(y)
            return y + self.dropout(self.feed_forward(normed))
        attended = self.self_attn(y, y, y, target_mask)[0]
        y = self.norm1(y + self.dropout(attended))
        found = self.cross_attn(y, memory, memory, memory_mask)[0]
        y = self.norm2(y + self.dropout(found))
        changed = self.feed_forward(y)
        return self.norm3(y + self.dropout(changed))


class Encoder(nn.Module):
    """Reads a batch of source sequences.

    Args:
        vocab_size: number of ids; d_model: width of the vectors; num_heads, d_ff: see EncoderLayer.
        num_layers: number of layers; max_seq_len: number of positions in the table of PositionalEncoder.
        pad_idx: id of the padding token, hidden from every query.
        dropout: probability, in training, for the sum of embeddings and positions, and in every layer.
        norm_first: True for pre-norm with a final norm, False for post-norm without one.
    """

    def __init__(
        self,
        vocab_size,
        d_model,
        num_heads,
        d_ff,
        num_layers,
        max_seq_len,
        pad_idx=0,
        dropout=0.0,
        norm_first=False,
    ):
        super().__init__()
        self.pad_idx = pad_idx
        self.embedding = nn.Embedding(vocab_size, d_model, padding_idx=pad_idx)
        nn.init.normal_(self.embedding.weight, std=d_model**-0.5)
        with torch.no_grad():
            self.embedding.weight[pad_idx] = 0
        self.positions = PositionalEncoder(d_model, max_seq_len)
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.ModuleList(
            [EncoderLayer(d_model, num_heads, d_ff, dropout, norm_first) for _ in range(num_layers)]
        )
        self.norm = nn.LayerNorm(d_model) if norm_first else nn.Identity()

    def forward(self, src):
        """Encodes a batch.

        Args:
            src: (batch, L_src) ids, padded with pad_idx.

        Returns:
            (memory, mask):
            memory: (batch, L_src, d_model)
            mask:   (batch, 1, L_src), boolean, False at padding
        """
        mask = make_padding_mask(src, self.pad_idx)  # (batch, 1, L_src)
        x = self.positions(self.embedding(src))  # (batch, L_src, d_model)
        x = self.dropout(x)
        for layer in self.layers:
            x = layer(x, mask)
        return self.norm(x), mask


class Decoder(nn.Module):
    """Reads a batch of target sequences and the memory of the encoder.

    Args:
        vocab_size: number of ids; d_model: width of the vectors; num_heads, d_ff: see DecoderLayer.
        num_layers: number of layers; max_seq_len: number of positions in the table of PositionalEncoder.
        pad_idx: id of the padding token, hidden from every query.
        dropout: probability, in training, for the sum of embeddings and positions, and in every layer.
        norm_first: True for pre-norm with a final norm, False for post-norm without one.
    """

    def __init__(
        self,
        vocab_size,
        d_model,
        num_heads,
        d_ff,
        num_layers,
        max_seq_len,
        pad_idx=0,
        dropout=0.0,
        norm_first=False,
    ):
        super().__init__()
        self.pad_idx = pad_idx
        self.embedding = nn.Embedding(vocab_size, d_model, padding_idx=pad_idx)
        nn.init.normal_(self.embedding.weight, std=d_model**-0.5)
        with torch.no_grad():
            self.embedding.weight[pad_idx] = 0
        self.positions = PositionalEncoder(d_model, max_seq_len)
        self.dropout = nn.Dropout(dropout)
        self.layers = nn.ModuleList(
            [DecoderLayer(d_model, num_heads, d_ff, dropout, norm_first) for _ in range(num_layers)]
        )
        self.norm = nn.LayerNorm(d_model) if norm_first else nn.Identity()

    def forward(self, tgt, memory, memory_mask=None):
        """Decodes a batch. The output at position i depends only on tgt[:, : i + 1] and on the memory.

        Args:
            tgt: (batch, L_tgt) ids, padded with pad_idx.
            memory: (batch, L_src, d_model), from the encoder.
            memory_mask: (batch, 1, L_src), boolean, from the encoder; None = nothing is hidden.

        Returns:
            (batch, L_tgt, d_model)
        """
        padding = make_padding_mask(tgt, self.pad_idx)  # (batch, 1, L_tgt)
        causal = make_causal_mask(tgt.shape[1]).to(tgt.device)  # (L_tgt, L_tgt)
        target_mask = padding & causal  # (batch, L_tgt, L_tgt)
        y = self.positions(self.embedding(tgt))  # (batch, L_tgt, d_model)
        y = self.dropout(y)
        for layer in self.layers:
            y = layer(y, memory, target_mask, memory_mask)
        return self.norm(y)


class Transformer(nn.Module):
    """Encoder, decoder and a linear layer that returns logits.

    Args:
        src_vocab_size, tgt_vocab_size: number of ids of source and target.
        d_model, num_heads, d_ff, num_layers, max_seq_len, pad_idx, dropout, norm_first: for both halves.
    """

    def __init__(
        self,
        src_vocab_size,
        tgt_vocab_size,
        d_model=32,
        num_heads=4,
        d_ff=64,
        num_layers=1,
        max_seq_len=64,
        pad_idx=0,
        dropout=0.0,
        norm_first=True,
    ):
        super().__init__()
        sizes = (d_model, num_heads, d_ff, num_layers, max_seq_len, pad_idx, dropout, norm_first)
        self.encoder = Encoder(src_vocab_size, *sizes)
        self.decoder = Decoder(tgt_vocab_size, *sizes)
        self.output = nn.Linear(d_model, tgt_vocab_size)

    def encode(self, src):
        """src: (batch, L_src) ids -> memory (batch, L_src, d_model), memory_mask (batch, 1, L_src)"""
        return self.encoder(src)

    def decode(self, tgt, memory, memory_mask):
        """tgt: (batch, L_tgt) ids, and the results of encode -> logits (batch, L_tgt, tgt_vocab_size)"""
        y = self.decoder(tgt, memory, memory_mask)  # (batch, L_tgt, d_model)
        return self.output(y)  # (batch, L_tgt, tgt_vocab_size)

    def forward(self, src, tgt):
        """src: (batch, L_src) ids, tgt: (batch, L_tgt) ids -> logits (batch, L_tgt, tgt_vocab_size)"""
        memory, memory_mask = self.encode(src)
        return self.decode(tgt, memory, memory_mask)


PAD, BOS, EOS = 0, 1, 2


def shift_right(targets, bos_idx):
    """Returns what the decoder reads in training: BOS, then the targets without their last column.

    targets: (batch, length), integer ids
    bos_idx: id at the start of every sequence

    Returns (batch, length), same dtype. `targets` is not modified.
    """
    bos = torch.full_like(targets[:, :1], bos_idx)  # (batch, 1)
    return torch.cat([bos, targets[:, :-1]], dim=1)  # (batch, length)


def sequence_loss(logits, targets, pad_idx):
    """Returns the mean cross entropy over all positions whose target is not padding.

    logits:  (batch, length, vocab), any real numbers
    targets: (batch, length), ids
    pad_idx: positions with this target don't count

    Returns a scalar tensor ().
    """
    cases = logits.flatten(0, 1)  # (batch * length, vocab)
    classes = targets.flatten()  # (batch * length,)
    return F.cross_entropy(cases, classes, ignore_index=pad_idx)


def progress(steps):
    """Returns range(steps) with a progress bar."""
    return tqdm(range(steps), file=sys.stdout, desc="training", ncols=80, mininterval=0.5)


def train(model, make_batch, steps, lr):
    """Trains the model in place on fresh batches.

    model:      module that returns logits (batch, length, vocab)
    make_batch: function without arguments that returns a tuple (*inputs, targets);
                the logits are model(*inputs), targets has the shape (batch, length)
    steps:      number of batches, and of updates of the weights
    lr:         learning rate of Adam, or the highest one of a schedule

    Returns the loss of every step, a list of floats.
    """
    model.train()
    optimizer = torch.optim.Adam(model.parameters(), lr=lr, betas=(0.9, 0.98))
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=lr, total_steps=steps)
    losses = []
    for _ in progress(steps):
        *inputs, targets = make_batch()  # a new one in every step
        logits = model(*inputs)  # (batch, length, vocab)
        loss = sequence_loss(logits, targets, PAD)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
    return losses


def greedy_decode(model, source, max_len, bos_idx, eos_idx):
    """Lets an encoder-decoder model write, taking the likeliest token at every step.

    model:   has encode(source) -> (memory, memory_mask)
             and decode(tokens, memory, memory_mask) -> logits (batch, length, vocab)
    source:  (batch, source length), ids
    max_len: maximum number of tokens to write, including EOS
    bos_idx: id that the decoder reads first
    eos_idx: id that it writes when it is done

    Returns the tokens, (batch, length) with length <= max_len, int64: without BOS, with EOS,
    and PAD after it. The model is in evaluation mode afterwards.
    """
    model.eval()
    batch = len(source)
    with torch.no_grad():
        memory, memory_mask = model.encode(source)
        tokens = torch.full((batch, 1), bos_idx)  # (batch, 1)
        ended = torch.zeros(batch, dtype=torch.bool)
        for _ in range(max_len):
            logits = model.decode(tokens, memory, memory_mask)  # (batch, length so far, vocab)
            token = logits[:, -1].argmax(dim=-1)  # (batch,)
            token = token.masked_fill(ended, PAD)
            tokens = torch.cat([tokens, token.unsqueeze(1)], dim=1)
            ended = ended | (token == eos_idx)
            if ended.all():
                break
    return tokens[:, 1:]
