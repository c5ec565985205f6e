"""Wrong answers to exercise 6, `transformer`."""

from gradekit.checks import Mistakes

ALL_LOGITS = "It changes all logits, or the model can't be built."

wrong = Mistakes()

wrong.about("test_logits_are_not_probabilities")
wrong("t_softmax", "return self.output(y)", "return torch.softmax(self.output(y), dim=-1)")
wrong.says("Your model ends in a softmax. Return logits; the loss applies the softmax.")
wrong.costs(ALL_LOGITS)
wrong("t_log_softmax", "return self.output(y)", "return torch.log_softmax(self.output(y), dim=-1)")
wrong.says("Your model ends in a log-softmax. Return logits; the loss applies the softmax.")
wrong.costs(ALL_LOGITS)

wrong.about("test_forward")
wrong("t_relu_at_the_end", "return self.output(y)", "return torch.relu(self.output(y))")
wrong.says("You applied a ReLU after the last linear layer. Logits may be negative.")
wrong.costs(ALL_LOGITS)
wrong("t_vocabularies_exchanged", "Encoder(src_vocab_size", "Encoder(tgt_vocab_size")
wrong.edit("Decoder(tgt_vocab_size", "Decoder(src_vocab_size")
wrong.says(
    "You swapped the two vocabularies: the encoder needs that of the source, the decoder that of the target."
)
wrong.costs(ALL_LOGITS)
wrong("t_embedding_as_memory")
wrong.edit("return self.encoder(src)", "return self.encoder.embedding(src), self.encoder(src)[1]")
wrong.says("The decoder gets the embeddings of the source.")
wrong.says("It should get the memory, the output of the last encoder layer.")
wrong.costs("The decoder reads nothing that the encoder has made.", "t_embedding_as_memory")
wrong("t_sequences_exchanged")
wrong.edit("memory, memory_mask = self.encode(src)", "memory, memory_mask = self.encode(tgt)")
wrong.edit("return self.decode(tgt, memory, memory_mask)", "return self.decode(src, memory, memory_mask)")
wrong.says("You swapped the two sequences: the encoder reads src, the decoder tgt.")
wrong.costs("It stops with an error unless the two vocabularies have the same size.")
wrong("t_decoder_with_the_source_vocabulary", "Decoder(tgt_vocab_size", "Decoder(src_vocab_size")
wrong.says("The decoder embeds target tokens, so it needs the size of the target vocabulary.")

wrong.about("test_pads", "test_encode_and_decode")
wrong("t_memory_mask_dropped", "self.decoder(tgt, memory, memory_mask)", "self.decoder(tgt, memory)")
wrong.says("You don't pass the mask of the memory to the decoder, so padding in the source is visible.")
wrong("t_mask_dropped_in_forward")
wrong.edit("return self.decode(tgt, memory, memory_mask)", "return self.decode(tgt, memory, None)")
wrong.says("The mask of the memory doesn't reach the decoder, so padding in the source is visible.")

wrong.about("test_pads")
wrong("t_pad_idx_not_passed_on")
wrong.edit("pad_idx, dropout, norm_first)\n        self", "0, dropout, norm_first)\n        self")
wrong.says("You don't pass `pad_idx` to both halves, so the id 0 is hidden.")

wrong.about("test_sizes_and_defaults")
wrong("t_dropout_not_passed_on")
wrong.edit("pad_idx, dropout, norm_first)\n        self", "pad_idx, 0.0, norm_first)\n        self")
wrong.says("You don't pass `dropout` to both halves.")
wrong("t_one_layer", "d_ff, num_layers, max_seq_len, pad_idx, dropout, norm_first)\n        self")
wrong.to("d_ff, 1, max_seq_len, pad_idx, dropout, norm_first)\n        self")
wrong.says("Your halves always have one layer each. Pass num_layers on.")
wrong("t_max_seq_len_20", "num_layers, max_seq_len, pad_idx, dropout, norm_first)\n        self")
wrong.to("num_layers, 20, pad_idx, dropout, norm_first)\n        self")
wrong.says("You don't pass `max_seq_len` to both halves.")
wrong("t_logits_of_the_source_vocabulary")
wrong.edit("nn.Linear(d_model, tgt_vocab_size)", "nn.Linear(d_model, src_vocab_size)")
wrong.says("Your logits are over the source vocabulary. The decoder predicts target tokens.")
wrong("t_no_output_bias")
wrong.edit("nn.Linear(d_model, tgt_vocab_size)", "nn.Linear(d_model, tgt_vocab_size, bias=False)")
wrong.says("The last linear layer has no bias. It needs one.")
wrong("t_post_norm_by_default", "norm_first=True,", "norm_first=False,")
wrong.says("Your two halves are post-norm. Pass `norm_first` on to them; its default is True here.")

wrong.about("test_sizes_and_defaults", "test_forward")
wrong("t_norm_first_not_passed_on")
wrong.edit("pad_idx, dropout, norm_first)\n        self", "pad_idx, dropout)\n        self")
wrong.says("Your two halves are post-norm. Pass `norm_first` on to them; its default is True here.")

wrong.about("test_gradients_and_dtype")
wrong("t_memory_detached", "memory, memory_mask = self.encode(src)")
wrong.to("memory, memory_mask = (t.detach() for t in self.encode(src))")
wrong.says(
    "No gradient reaches the memory, so the encoder never learns. Neither detach it nor compute it under `no_grad`."
)

wrong.unnamed("Its exceptions have other causes, too.", "t_vocabularies_exchanged", "t_sequences_exchanged")
wrong.unnamed(
    "Its checks compare values for drawn inputs, of which none are recorded.", "t_dropout_not_passed_on"
)
