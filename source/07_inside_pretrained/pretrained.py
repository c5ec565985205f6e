"""Loads a pretrained model, or builds a small one in its place and says so in one line.

    tokenizer, model = load_causal_model()     distilgpt2
    tokenizer, model = load_encoder()          sentence-transformers/all-MiniLM-L6-v2

The models come from the Hugging Face hub through the library `transformers`. Nothing is downloaded twice, and nothing at
all if HF_HUB_OFFLINE=1. Another model is taken by its name on the hub or by a folder that holds it: as the argument, or in
the environment variables CAUSAL_MODEL and ENCODER_MODEL.
"""

import os
import socket
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import small_models

CONNECT_SECONDS = 2
MERGES = 650


def load_causal_model(name=None):
    """A tokenizer, and a model that predicts the next token; in eval mode."""
    name = name or os.environ.get("CAUSAL_MODEL", "distilgpt2")
    return load(name, "AutoModelForCausalLM") or build_causal_model()


def load_encoder(name=None):
    """A tokenizer that adds [CLS] and [SEP], and an encoder, whose positions look both ways; in eval mode."""
    name = name or os.environ.get("ENCODER_MODEL", "sentence-transformers/all-MiniLM-L6-v2")
    return load(name, "AutoModel") or build_encoder()


def load(name, kind):
    """(tokenizer, model) from the hub, its local cache or a folder; None, and a line that says why, if there is none."""
    try:
        return from_pretrained(name, kind)
    except Exception as error:  # no library, no network, no such model, a proxy in between, ...
        if Path(name).is_dir():
            raise  # a folder was asked for, and something is wrong with it
        report(reason(error))
        return None


def from_pretrained(name, kind):
    """The lines that matter. The rest of this file is about what to do when they fail.

    "eager" is the plain way to compute attention; the faster ones never hold the weights, so they can't return them.
    """
    import transformers

    be_quiet(transformers)
    model_class = getattr(transformers, kind)
    # a folder, or what was downloaded before
    local = is_offline() or Path(name).is_dir() or not hub_answers()
    tokenizer = transformers.AutoTokenizer.from_pretrained(name, local_files_only=local)
    model = model_class.from_pretrained(name, attn_implementation="eager", local_files_only=local)
    return tokenizer, model.eval()


def be_quiet(transformers):
    """No progress bars, and no warnings about weights that a model does not need."""
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
    """Whether a connection to the hub, or to the proxy before it, opens. The library itself would try for a minute."""
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


@cache
def report(why):
    """One line for each reason, however many models it concerns."""
    print(f"No pretrained model ({why}): small models trained here on tales.txt stand in, in a few seconds.")


@cache
def tales_and_merges():
    text = small_models.read_tales()
    return text, tuple(small_models.learn_merges(text, MERGES))


@cache
def build_causal_model():
    return small_models.train_causal_model(*tales_and_merges())


@cache
def build_encoder():
    return small_models.train_encoder(*tales_and_merges())


def load_word_vectors():
    """Words, and a tensor (words, width) with a vector for each; always learned here, see small_models."""
    return small_models.learn_word_vectors(small_models.read_tales())
