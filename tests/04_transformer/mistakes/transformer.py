"""Wrong answers to exercise 6, `transformer`."""

from gradekit.checks import mistakes_in, with_costs

mistake = mistakes_in("transformer")

MISTAKES = [
    mistake(
        "t_softmax",
        [("return self.output(y)", "return torch.softmax(self.output(y), dim=-1)")],
        "test_logits_are_not_probabilities",
        "Your model ends in a softmax. Return logits; the loss applies the softmax.",
    ),
    mistake(
        "t_log_softmax",
        [("return self.output(y)", "return torch.log_softmax(self.output(y), dim=-1)")],
        "test_logits_are_not_probabilities",
        "Your model ends in a log-softmax. Return logits; the loss applies the softmax.",
    ),
    mistake(
        "t_relu_at_the_end",
        [("return self.output(y)", "return torch.relu(self.output(y))")],
        "test_forward",
        "You applied a ReLU after the last linear layer. Logits may be negative.",
    ),
    mistake(
        "t_memory_mask_dropped",
        [("self.decoder(tgt, memory, memory_mask)", "self.decoder(tgt, memory)")],
        ["test_pads", "test_encode_and_decode"],
        "You don't pass the mask of the memory to the decoder, so padding in the source is visible.",
    ),
    mistake(
        "t_mask_dropped_in_forward",
        [("return self.decode(tgt, memory, memory_mask)", "return self.decode(tgt, memory, None)")],
        ["test_pads", "test_encode_and_decode"],
        "The mask of the memory doesn't reach the decoder, so padding in the source is visible.",
    ),
    mistake(
        "t_pad_idx_not_passed_on",
        [("pad_idx, dropout, norm_first)\n        self", "0, dropout, norm_first)\n        self")],
        "test_pads",
        "You don't pass `pad_idx` to the two halves, so they hide the id 0.",
    ),
    mistake(
        "t_dropout_not_passed_on",
        [("pad_idx, dropout, norm_first)\n        self", "pad_idx, 0.0, norm_first)\n        self")],
        "test_sizes_and_defaults",
        "You don't pass `dropout` to the two halves.",
    ),
    mistake(
        "t_norm_first_not_passed_on",
        [("pad_idx, dropout, norm_first)\n        self", "pad_idx, dropout)\n        self")],
        ["test_sizes_and_defaults", "test_forward"],
        "Your two halves are post-norm. Pass `norm_first` on to them; its default is True here.",
    ),
    mistake(
        "t_one_layer",
        [
            (
                "d_ff, num_layers, max_seq_len, pad_idx, dropout, norm_first)\n        self",
                "d_ff, 1, max_seq_len, pad_idx, dropout, norm_first)\n        self",
            )
        ],
        "test_sizes_and_defaults",
        "Your halves always have one layer each. Pass num_layers on.",
    ),
    mistake(
        "t_max_seq_len_20",
        [
            (
                "num_layers, max_seq_len, pad_idx, dropout, norm_first)\n        self",
                "num_layers, 20, pad_idx, dropout, norm_first)\n        self",
            )
        ],
        "test_sizes_and_defaults",
        "You don't pass `max_seq_len` to the two halves.",
    ),
    mistake(
        "t_vocabularies_exchanged",
        [
            ("Encoder(src_vocab_size", "Encoder(tgt_vocab_size"),
            ("Decoder(tgt_vocab_size", "Decoder(src_vocab_size"),
        ],
        "test_forward",
        "You swapped the two vocabularies: the encoder needs that of the source, the decoder that of the "
        "target.",
    ),
    mistake(
        "t_logits_of_the_source_vocabulary",
        [("nn.Linear(d_model, tgt_vocab_size)", "nn.Linear(d_model, src_vocab_size)")],
        "test_sizes_and_defaults",
        "Your logits are over the source vocabulary. The decoder predicts target tokens.",
    ),
    mistake(
        "t_no_output_bias",
        [("nn.Linear(d_model, tgt_vocab_size)", "nn.Linear(d_model, tgt_vocab_size, bias=False)")],
        "test_sizes_and_defaults",
        "The last linear layer has no bias. It needs one.",
    ),
    mistake(
        "t_embedding_as_memory",
        [("return self.encoder(src)", "return self.encoder.embedding(src), self.encoder(src)[1]")],
        "test_forward",
        "The decoder gets the embeddings of the source. "
        "It should get the memory, the output of the last encoder layer.",
    ),
    mistake(
        "t_memory_detached",
        [
            (
                "memory, memory_mask = self.encode(src)",
                "memory, memory_mask = (t.detach() for t in self.encode(src))",
            )
        ],
        "test_gradients_and_dtype",
        "The memory is detached, so the encoder never learns.",
    ),
    mistake(
        "t_sequences_exchanged",
        [
            ("memory, memory_mask = self.encode(src)", "memory, memory_mask = self.encode(tgt)"),
            ("return self.decode(tgt, memory, memory_mask)", "return self.decode(src, memory, memory_mask)"),
        ],
        "test_forward",
        "You swapped the two sequences: the encoder reads src, the decoder tgt.",
        cost="It stops with an error unless the two vocabularies have the same size.",
    ),
    mistake(
        "t_post_norm_by_default",
        [("norm_first=True,", "norm_first=False,")],
        "test_sizes_and_defaults",
        "Your two halves are post-norm. Pass `norm_first` on to them; its default is True here.",
    ),
    mistake(
        "t_decoder_with_the_source_vocabulary",
        [("Decoder(tgt_vocab_size", "Decoder(src_vocab_size")],
        "test_forward",
        "The decoder embeds target tokens, so it needs the size of the target vocabulary.",
    ),
]

# why some mistakes cost less than 5 or more than 70 % of their exercise
MISTAKES = with_costs(
    MISTAKES,
    {
        "It changes all logits, or the model can't be built.": [
            "t_softmax",
            "t_log_softmax",
            "t_relu_at_the_end",
            "t_vocabularies_exchanged",
        ],
    },
)
