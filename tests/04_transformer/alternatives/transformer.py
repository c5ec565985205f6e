"""Other right answers to exercise 6, `transformer`."""

from gradekit.checks import Alternatives

right = Alternatives("t_")

right("keywords", "sizes = (d_model, num_heads, d_ff, num_layers, max_seq_len, pad_idx, dropout, norm_first)")
right.to("pass")
right.edit(
    "self.encoder = Encoder(src_vocab_size, *sizes)",
    "shared = dict(d_model=d_model, num_heads=num_heads, d_ff=d_ff, num_layers=num_layers)\n"
    "        shared |= dict(max_seq_len=max_seq_len, pad_idx=pad_idx, dropout=dropout, norm_first=norm_first)\n"
    "        self.output = nn.Linear(in_features=d_model, out_features=tgt_vocab_size)\n"
    "        self.encoder = Encoder(vocab_size=src_vocab_size, **shared)",
)
right.edit("self.decoder = Decoder(tgt_vocab_size, *sizes)")
right.to("self.decoder = Decoder(vocab_size=tgt_vocab_size, **shared)")
right.edit("self.output = nn.Linear(d_model, tgt_vocab_size)", "pass")

right("super_with_its_own_name", "super().__init__()", "super(Transformer, self).__init__()")
right.edit("return self.decode(tgt, memory, memory_mask)")
right.to("return self.output(self.decoder(tgt, memory, memory_mask))")

right("forward_in_one_line", "memory, memory_mask = self.encode(src)", "encoded = self.encode(src)")
right.edit("return self.decode(tgt, memory, memory_mask)", "return self.decode(tgt, *encoded)")

right("linear_by_hand", "return self.output(y)", "return y @ self.output.weight.mT + self.output.bias")
