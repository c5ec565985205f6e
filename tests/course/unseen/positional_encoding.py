"""Wrong answers to 01_positional_encoding, written from the text of its exercises."""

from answers import Unseen


def encoder(name: str, old: str, new: str, fault: str) -> Unseen:
    return Unseen(f"encoder_{name}", "positional_encoder", [(old, new)], fault=fault)


def curves(name: str, old: str, new: str, fault: str) -> Unseen:
    return Unseen(f"curves_{name}", "encoding_curves", [(old, new)], fault=fault)


def shift(name: str, old: str, new: str, fault: str) -> Unseen:
    return Unseen(f"shift_{name}", "shift_matrix", [(old, new)], fault=fault)


def integers(name: str, old: str, new: str, fault: str) -> Unseen:
    return Unseen(f"integers_{name}", "integer_sequence_embedding", [(old, new)], fault=fault)


ANGLE = "angle = position / 10000 ** (even / d_model)"
UNSEEN = [
    encoder("degrees", ANGLE, "angle = torch.deg2rad(position / 10000 ** (even / d_model))", "angles in degrees"),
    encoder("natural_base", "10000 **", "math.e **", "base e in place of 10000"),
    encoder("halves", "pe[:, 0::2] = torch.sin(angle)\n        pe[:, 1::2]", "pe[:, : d_model // 2] = torch.sin(angle)\n        pe[:, d_model // 2 :]", "sines left, cosines right"),
    encoder("sqrt_of_table", "x + self.pe[:, :length]", "x + self.pe[:, :length] * math.sqrt(self.d_model)", "positions scaled, too"),
    encoder("in_place", "x = x * math.sqrt(self.d_model)", "x *= math.sqrt(self.d_model)", "input changed in place"),
    encoder("last_positions", "self.pe[:, :length]", "self.pe[:, -length:]", "last rows of the table"),
    encoder("parameter", 'self.register_buffer("pe", pe.unsqueeze(0))', "self.pe = nn.Parameter(pe.unsqueeze(0))", "table is trained"),
    encoder("length_of_batch", "x.size(1), self.pe.size(1)", "x.size(0), self.pe.size(1)", "length read off the batch"),
    encoder("one_too_few", "if length > max_seq_len:", "if length >= max_seq_len:", "full length refused"),
    encoder("exponent_twice", "(even / d_model)  #", "(2 * even / d_model)  #", "exponent doubled"),
    encoder("normed", "return x + self.pe[:, :length]", "x = x + self.pe[:, :length]\n        return x / x.norm(dim=-1, keepdim=True)", "result scaled to length 1"),
    encoder("averaged", "return x + self.pe[:, :length]", "return (x + self.pe[:, :length]) / 2", "mean in place of the sum"),
    curves("from_zero", "dim - 1 for dim", "dim for dim", "dimensions counted from 0"),
    curves("not_turned", "return curves.T", "return curves", "not transposed"),
    curves("sorted", "in hidden_dims]", "in sorted(hidden_dims)]", "order of the dimensions lost"),
    curves("positions", "curves = table[:, columns]", "curves = table[columns]", "rows in place of columns"),
    curves("batch_kept", "return curves.T", "return curves.T.unsqueeze(0)", "one axis too many"),
    shift("other_way", "angle = offset /", "angle = -offset /", "shifts the other way"),
    shift("no_frequency", "angle = offset / 10000 ** (even / d_model)", "angle = torch.full((d_model // 2,), float(offset))", "the same angle for all pairs"),
    shift("absolute", "angle = offset /", "angle = abs(offset) /", "sign of the offset lost"),
    shift("ones_elsewhere", "matrix = torch.zeros(d_model, d_model)", "matrix = torch.ones(d_model, d_model)", "ones off the blocks"),
    shift("cos_only", "matrix[odd, even] = -torch.sin(angle)", "matrix[odd, even] = 0", "a sine forgotten"),
    integers("product", "return tokens + positions", "return tokens * positions", "product in place of the sum"),
    integers("no_positions", "return tokens + positions", "return tokens", "positions forgotten"),
    integers("positions_of_ids", "self.position(torch.arange(length, device=ids.device))", "self.position(ids.clamp(max=seq_length - 1))", "ids looked up in both tables"),
    integers("backwards", "torch.arange(length, device=ids.device)", "torch.arange(length - 1, -1, -1)", "positions from the end"),
    integers("from_one", "torch.arange(length, device=ids.device)", "(torch.arange(length) + 1).clamp(max=seq_length - 1)", "positions from 1"),
    integers("scaled", "return tokens + positions", "return tokens * tokens.shape[-1] ** 0.5 + positions", "tokens scaled as in the encoder"),
]  # fmt: skip
