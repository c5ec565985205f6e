"""Wrong answers to 08_modern, written from the text of its exercises."""

from answers import Unseen


def wrong(name: str, cell: str, *edits: tuple[str, str], fault: str) -> Unseen:
    return Unseen(name, cell, edits, fault=fault)


UNSEEN = [
    wrong(
        "rotate_halves",
        "rotate",
        ("x[..., 0::2], x[..., 1::2]", "x[..., : width // 2], x[..., width // 2 :]"),
        ("turned = torch.stack([", "turned = torch.cat(["),
        ("turned.flatten(-2)", "turned"),
        fault="pairs column i with column i + width / 2",
    ),
    wrong(
        "rotate_angles_in_the_dtype_of_x",
        "rotate",
        (
            "angle = positions[:, None] * speed",
            "angle = positions[:, None].to(x.dtype) * speed.to(x.dtype)",
        ),
        fault="computes the angles in the dtype of x",
    ),
    wrong(
        "rms_eps_outside",
        "rms_norm",
        ("torch.sqrt(mean_square + self.eps)", "(torch.sqrt(mean_square) + self.eps)"),
        fault="adds eps after the root",
    ),
    wrong(
        "swiglu_gates_exchanged",
        "swiglu",
        ("F.silu(self.w_gate(x))", "self.w_gate(x)"),
        ("gate * self.w_up(x)", "gate * F.silu(self.w_up(x))"),
        fault="silu on w_up, none on w_gate",
    ),
    wrong(
        "grouped_values_in_turn",
        "grouped_attention",
        ("v.repeat_interleave(heads // groups, dim=1)", "v.repeat(1, heads // groups, 1, 1)"),
        fault="neighbors share keys, but values are dealt out in turn",
    ),
    wrong(
        "causal_mask_from_zero",
        "causal_attention",
        ("<= positions[:, None]", "<= torch.arange(x.shape[1])[:, None]"),
        fault="the mask forgets how long the cache is",
    ),
    wrong(
        "causal_keys_rotated_when_read",
        "causal_attention",
        ("rotate(q, positions), rotate(k, positions)", "rotate(q, positions), k"),
        (
            "        mask = torch.arange",
            "        k = rotate(k, torch.arange(k.shape[2]))\n        mask = torch.arange",
        ),
        fault="puts keys into the cache unrotated, and rotates all of them in every call",
    ),
    wrong(
        "block_norm_after",
        "decoder_only",
        (
            "x = x + self.attention(self.norm1(x), cache)\n        return x + self.feed_forward(self.norm2(x))",
            "x = self.norm1(x + self.attention(x, cache))\n        return self.norm2(x + self.feed_forward(x))",
        ),
        fault="norms after the residual connection",
    ),
    wrong(
        "generate_caches_in_every_step",
        "generate",
        ("    caches = new_caches(model)\n", ""),
        ("logits = model(following, caches)", "logits = model(following, new_caches(model))"),
        fault="new, empty caches in every step",
    ),
    wrong(
        "bytes_of_keys_twice",
        "cache_bytes",
        ("cache.k.nbytes + cache.v.nbytes", "2 * cache.k.nbytes"),
        fault="takes values to be as large as keys",
    ),
]
