"""Loads a pretrained model. If that fails, builds a small one instead and says so in one line.

    tokenizer, model = load_causal_model()     distilgpt2
    tokenizer, model = load_encoder()          sentence-transformers/all-MiniLM-L6-v2

The models come from the Hugging Face hub through the library `transformers`. Nothing is downloaded twice, and nothing at
all if HF_HUB_OFFLINE=1. To use another model, give its name on the hub or its folder, as the argument or in the
environment variables CAUSAL_MODEL and ENCODER_MODEL.
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
    """Returns a tokenizer and a model that predicts the next token, in eval mode."""
    name = name or os.environ.get("CAUSAL_MODEL", "distilgpt2")
    return load(name, "AutoModelForCausalLM") or build_causal_model()


def load_encoder(name=None):
    """Returns a tokenizer that adds [CLS] and [SEP], and an encoder without a causal mask, in eval mode."""
    name = name or os.environ.get("ENCODER_MODEL", "sentence-transformers/all-MiniLM-L6-v2")
    return load(name, "AutoModel") or build_encoder()


def load(name, kind):
    """Loads (tokenizer, model) from the hub, its local cache or a folder. Returns None and prints why if that fails."""
    try:
        return from_pretrained(name, kind)
    except Exception as error:  # no library, no network, no such model, a proxy in between, ...
        if Path(name).is_dir():
            raise  # the user named a folder, so report what is wrong with it
        report(reason(error))
        return None


def from_pretrained(name, kind):
    """Loads the model. The rest of this file handles the cases in which this fails.

    "eager" is the plain way to compute attention; the faster ones never store the weights, so they can't return them.
    """
    import transformers

    be_quiet(transformers)
    model_class = getattr(transformers, kind)
    # use only a folder or the local cache
    local = is_offline() or Path(name).is_dir() or not hub_answers()
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


@cache
def report(why):
    """Prints each reason once, however many models it concerns."""
    print(
        f"No pretrained model ({why}): training small models on tales.txt instead, which takes a few seconds."
    )


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
    """Returns the words and a tensor (words, width) with a vector for each; always learned here, see small_models."""
    return small_models.learn_word_vectors(small_models.read_tales())
