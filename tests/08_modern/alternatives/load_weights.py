"""Other right answers to exercise 9, `load_weights`."""

from gradekit.checks import Alternatives

right = Alternatives("loading_")

right("by_state_dict").source("""
def load_weights(model, tensors):
    names = {"attn_norm": "norm1", "ffn_norm": "norm2"}
    names |= {f"attn_{a}": f"attention.w_{b}" for a, b in [("q", "q"), ("k", "k"), ("v", "v"), ("output", "o")]}
    names |= {f"ffn_{part}": f"feed_forward.w_{part}" for part in ("gate", "up", "down")}
    wanted = {"token_embd.weight": model.embedding.weight, "output_norm.weight": model.norm.weight}
    for i, block in enumerate(model.blocks):
        for theirs, ours in names.items():
            wanted[f"blk.{i}.{theirs}.weight"] = block.get_parameter(f"{ours}.weight")
    if wrong := wanted.keys() ^ tensors.keys():
        raise ValueError(f"missing or left over: {', '.join(sorted(wrong))}")
    if wrong := [name for name in wanted if wanted[name].shape != tensors[name].shape]:
        raise ValueError(f"the shapes of {', '.join(wrong)} are wrong")
    of = {id(parameter): name for name, parameter in model.named_parameters()}
    model.load_state_dict({of[id(wanted[name])]: tensor for name, tensor in tensors.items()})
""")

right("by_hand").source("""
def load_weights(model, tensors):
    todo = []

    def put(name, parameter):
        if name not in tensors:
            raise ValueError("there is no " + name)
        if list(tensors[name].shape) != list(parameter.shape):
            raise ValueError("wrong shape: " + name)
        todo.append((name, parameter))

    put("token_embd.weight", model.embedding.weight)
    for i, b in enumerate(model.blocks):
        put(f"blk.{i}.attn_norm.weight", b.norm1.weight)
        put(f"blk.{i}.attn_q.weight", b.attention.w_q.weight)
        put(f"blk.{i}.attn_k.weight", b.attention.w_k.weight)
        put(f"blk.{i}.attn_v.weight", b.attention.w_v.weight)
        put(f"blk.{i}.attn_output.weight", b.attention.w_o.weight)
        put(f"blk.{i}.ffn_norm.weight", b.norm2.weight)
        put(f"blk.{i}.ffn_gate.weight", b.feed_forward.w_gate.weight)
        put(f"blk.{i}.ffn_up.weight", b.feed_forward.w_up.weight)
        put(f"blk.{i}.ffn_down.weight", b.feed_forward.w_down.weight)
    put("output_norm.weight", model.norm.weight)
    for name in tensors:
        if name not in dict(todo):
            raise ValueError(f"what is {name}?")
    for name, parameter in todo:
        parameter.data.copy_(tensors[name])
""")

right("names_rewritten").source("""
def load_weights(model, tensors):
    table = [
        ("token_embd", "embedding"), ("output_norm", "norm"), ("blk.", "blocks."), ("attn_norm", "norm1"),
        ("ffn_norm", "norm2"), ("attn_output", "attention.w_o"), ("attn_", "attention.w_"), ("ffn_", "feed_forward.w_"),
    ]

    def rewritten(name, pairs):
        for old, new in pairs:
            if old in name:
                name = name.replace(old, new)
                if old != "blk.":
                    break
        return name

    own = model.state_dict()
    renamed = {}
    for name, tensor in tensors.items():
        place = rewritten(name, table)
        if place not in own:
            raise ValueError(name)
        if own[place].shape != tensor.shape:
            raise ValueError(f"{name}: {tensor.shape}")
        renamed[place] = tensor
    for number in range(-1, len(model.blocks)):
        parts = ["token_embd", "output_norm"]
        if number >= 0:
            parts = ["attn_norm", "attn_q", "attn_k", "attn_v", "attn_output", "ffn_norm", "ffn_gate", "ffn_up", "ffn_down"]
        for part in parts:
            name = (f"blk.{number}." if number >= 0 else "") + part + ".weight"
            if name not in tensors:
                raise ValueError(f"missing: {name}")
    model.load_state_dict(renamed)
""")
