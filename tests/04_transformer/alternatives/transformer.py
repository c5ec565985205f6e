"""Other right answers to exercise 6, `transformer`."""

from gradekit.checks import Alternative

ALTERNATIVES = [
    Alternative(
        "t_keywords",
        cell="transformer",
        edits=[
            (
                "sizes = (d_model, num_heads, d_ff, num_layers, max_seq_len, pad_idx, dropout, norm_first)",
                "pass",
            ),
            (
                "self.encoder = Encoder(src_vocab_size, *sizes)",
                "shared = dict(d_model=d_model, num_heads=num_heads, d_ff=d_ff, num_layers=num_layers)\n"
                "        shared |= dict(max_seq_len=max_seq_len, pad_idx=pad_idx, dropout=dropout, norm_first=norm_first)\n"
                "        self.output = nn.Linear(in_features=d_model, out_features=tgt_vocab_size)\n"
                "        self.encoder = Encoder(vocab_size=src_vocab_size, **shared)",
            ),
            (
                "self.decoder = Decoder(tgt_vocab_size, *sizes)",
                "self.decoder = Decoder(vocab_size=tgt_vocab_size, **shared)",
            ),
            ("self.output = nn.Linear(d_model, tgt_vocab_size)", "pass"),
        ],
    ),
    Alternative(
        "t_super_with_its_own_name",
        cell="transformer",
        edits=[
            ("super().__init__()", "super(Transformer, self).__init__()"),
            (
                "return self.decode(tgt, memory, memory_mask)",
                "return self.output(self.decoder(tgt, memory, memory_mask))",
            ),
        ],
    ),
    Alternative(
        "t_forward_in_one_line",
        cell="transformer",
        edits=[
            ("memory, memory_mask = self.encode(src)", "encoded = self.encode(src)"),
            ("return self.decode(tgt, memory, memory_mask)", "return self.decode(tgt, *encoded)"),
        ],
    ),
    Alternative(
        "t_linear_by_hand",
        cell="transformer",
        edits=[("return self.output(y)", "return y @ self.output.weight.mT + self.output.bias")],
    ),
]
