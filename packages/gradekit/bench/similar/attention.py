"""Ways to answer 02_attention. See `bench.similar.students` for how they are read."""

TAB = "\t    "
T = "<<T:.transpose(-2, -1)||.transpose(-1, -2)||.mT||.transpose(2, 3)||.swapaxes(-1, -2)||.movedim(-1, -2)>>"
ROOT = (
    "<<ROOT:math.sqrt(@d)||@d ** 0.5||np.sqrt(@d)||torch.sqrt(torch.tensor(@d))||@d**(1/2)||"
    "torch.sqrt(torch.tensor(@d, dtype=torch.float32))||float(@d) ** .5||pow(@d, 0.5)>>"
)
WIDTH = "<<WIDTH:@q.shape[-1]||@q.size(-1)||@k.shape[-1]||@k.size(-1)||@q.shape[3]||len(@q[0, 0, 0])>>"
SOFTMAX = (
    "<<SOFT:torch.softmax(@s, dim=-1)||F.softmax(@s, dim=-1)||@s.softmax(dim=-1)||torch.softmax(@s, -1)||"
    "torch.nn.functional.softmax(@s, dim=-1)||@s.softmax(-1)||nn.Softmax(dim=-1)(@s)||F.softmax(@s, -1)>>"
)
TIMES = "<<TIMES:@w @ @v||torch.matmul(@w, @v)||@w.matmul(@v)||torch.einsum('...qk,...kd->...qd', @w, @v)>>"
SCORES = (
    f"<<SCORES:@q @ @k{T} / {ROOT}||torch.matmul(@q, @k{T}) / {ROOT}||(@q @ @k{T}) / {ROOT}||"
    f"torch.einsum('...qd,...kd->...qk', @q, @k) / {ROOT}||@q @ @k{T} * @d ** -0.5||"
    f"(@q / {ROOT}) @ @k{T}||@q.matmul(@k{T}).div({ROOT})||torch.matmul(@q, @k{T}) * (1 / {ROOT})>>"
)
LOOK = (
    "<<||||||||||\n\t# shape (batch, queries, keys)||\n\tprint(@s.shape)||\n\tassert @s.shape[-1] == @k.shape[-2]||"
    "\n\tassert not torch.isnan(@s).any(), 'nan in the scores'||\n\tprint('max', @s.max().item())>>"
)
CORE = (
    f"<<\t@d = {WIDTH}\n\t@s = {SCORES}{LOOK}\n\t@w = {SOFTMAX}\n\t@o = {TIMES}||"
    f"\t@d = {WIDTH}\n\t@s = {SCORES}{LOOK}\n\t@w = {SOFTMAX}\n\t@o = {TIMES}||"
    f"\t@d = {WIDTH}\n\t@s = <<@q @ @k{T}||torch.matmul(@q, @k{T})||torch.einsum('bhqd,bhkd->bhqk', @q, @k)>>\n"
    f"\t@s = <<@s / {ROOT}||@s * (1.0 / {ROOT})||torch.div(@s, {ROOT})>>{LOOK}\n\t@w = {SOFTMAX}\n\t@o = {TIMES}||"
    f"\t@d = {WIDTH}\n\t@kt = <<@k{T}||torch.transpose(@k, -2, -1)||torch.swapaxes(@k, -1, -2)>>\n"
    f"\t@s = <<torch.matmul(@q, @kt)||@q @ @kt>> / {ROOT}{LOOK}\n\t@w = {SOFTMAX}\n\t@o = {TIMES}||"
    f"\t*_, @len, @d = @q.shape\n\t@s = {SCORES}\n\t@s = @s - @s.max(dim=-1, keepdim=True)"
    f"<<.values||[0]>>\n\t@e = <<torch.exp(@s)||@s.exp()>>\n\t@w = @e / @e.sum(<<dim=-1||-1||axis=-1>>, keepdim=True)"
    f"\n\t@o = {TIMES}||"
    f"\t@factor = 1 / {ROOT.replace('@d', WIDTH)}\n\t@s = @factor * <<torch.matmul(@q, @k{T})||(@q @ @k{T})>>{LOOK}\n"
    f"\t@w = {SOFTMAX}\n\t@o = {TIMES}>>"
)
MASKED = (
    "<<@s = @s.masked_fill(~@m, <<float('-inf')||-1e9||torch.finfo(@s.dtype).min||-float('inf')||-1e10||-torch.inf>>)||"
    "@s = @s.masked_fill(@m == <<0||False>>, <<-1e9||float('-inf')||float(\"-1e20\")>>)||"
    "@s = torch.where(@m, @s, <<torch.tensor(-1e9)||float('-inf')||torch.full_like(@s, -1e9)||-1e30>>)||"
    "@s = @s.masked_fill(torch.logical_not(@m), <<float('-inf')||-1e9>>)||"
    "@s[~@m.expand_as(@s)] = <<-float('inf')||-1e9||float('-inf')>>||"
    "@s = @s + (1.0 - @m.float()) * <<-1e9||-10000.0||-1e12>>>>"
)
CLEANED = (
    "<<@w = torch.nan_to_num(@w<<||, nan=0.0||, 0.0>>)||@w = @w.masked_fill(~@m, <<0.0||0>>)||@w = @w * @m||"
    "@w = @w.masked_fill(~@m.any(dim=-1, keepdim=True), <<0.0||0>>)||"
    "@w[torch.isnan(@w)] = 0||@w = torch.where(torch.isnan(@w), torch.zeros_like(@w), @w)||"
    "@empty = (~@m).all(-1, keepdim=True)\n\t    @w = torch.where(@empty, 0.0, @w)||"
    "@w = torch.where(@m.sum(-1, keepdim=True) > 0, @w, <<torch.tensor(0.0)||0.0>>)>>"
)
RETURN = "<<\treturn @o, @w||\treturn @o, @w||\treturn (@o, @w)||\treturn {TIMES}, @w>>".replace(
    "{TIMES}", TIMES
)
CORE_WITH_MASK = CORE.replace(
    f"\n\t@w = {SOFTMAX}",
    f"\n\tif @m is not None:\n\t    {MASKED}\n\t@w = {SOFTMAX}\n\tif @m is not None:\n\t    {CLEANED}",
)

ANSWERS = {
    "by_hand": [
        CORE.replace("\t", "") + "\nresult = @o",
        f"@d = {WIDTH}\nresult = torch.softmax({SCORES}, <<dim=-1||-1>>) @ @v",
        f"@d = <<8||{WIDTH}>>\n@s = {SCORES}\nprint(@s<<||.shape||[0, 0]>>)\n@w = {SOFTMAX}\n"
        "print(@w.sum(<<-1||dim=-1>>))\nresult = @w @ @v",
    ],
    "attention": [
        f"def attention(@q, @k, @v):\n{CORE}\n{RETURN}",
        f"def attention(@q, @k, @v):\n    @d = {WIDTH}\n    @w = torch.softmax({SCORES}, dim=-1)\n"
        f"    return <<@w @ @v||torch.matmul(@w, @v)>>, @w",
        f"def my_softmax(@x):\n    @e = torch.exp(@x - <<@x.max(dim=-1, keepdim=True).values||@x.amax(-1, keepdim=True)||"
        "@x.max(-1, keepdim=True)[0]>>)\n    return @e / @e.sum(<<dim=-1||-1>>, keepdim=True)\n\n"
        f"def attention(@q, @k, @v):\n    @d = {WIDTH}\n    @w = my_softmax({SCORES})\n    return <<@w @ @v||torch.matmul(@w, @v)>>, @w",
    ],
    "padding_mask": [
        "def make_padding_mask(@ids, @pad=0):\n    return (@ids != @pad).<<unsqueeze(1)||unsqueeze(-2)>>",
        "def make_padding_mask(@ids, @pad=0):\n    @m = <<@ids != @pad||(@ids != @pad)||~(@ids == @pad)||torch.ne(@ids, @pad)>>\n"
        "    return @m<<.unsqueeze(1)||[:, None, :]||.unsqueeze(-2)||[:, None]||.unsqueeze(dim=1)>>",
        "def make_padding_mask(@ids, @pad=0):\n    @b, @len = @ids.<<shape||size()>>\n"
        "    return (@ids != @pad).<<view||reshape>>(@b, 1, @len)",
        "def make_padding_mask(@ids, @pad=0):\n    @m = torch.ones_like(@ids, dtype=torch.bool)\n"
        "    @m[@ids == @pad] = False\n    @m = @m.unsqueeze(<<1||-2>>)\n    return @m",
        "def make_padding_mask(@ids, @pad=0):\n    return torch.where(@ids == @pad, False, True).unsqueeze(<<1||-2>>)",
        "def make_padding_mask(@ids, @pad=0):\n    @m = torch.zeros(@ids.shape[0], 1, @ids.shape[1]).bool()\n"
        "    for @i1 in range(@ids.shape[0]):\n        for @j1 in range(@ids.shape[1]):\n"
        "            @m[@i1, 0, @j1] = <<@ids[@i1, @j1] != @pad||bool(@ids[@i1][@j1] != @pad)>>\n    return @m",
    ],
    "causal_mask": [
        "def make_causal_mask(@n):\n    return <<torch.tril(torch.ones(@n, @n, dtype=torch.bool))||"
        "torch.tril(torch.ones(@n, @n)).bool()||torch.tril(torch.ones((@n, @n))) == 1||"
        "torch.tril(torch.ones(@n, @n)).to(torch.bool)||torch.ones(@n, @n).tril() > 0>>",
        "def make_causal_mask(@n):\n    return torch.ones(@n, @n, dtype=torch.bool).tril()",
        "def make_causal_mask(@n):\n    @m = torch.triu(torch.ones(@n, @n), diagonal=1)<<.bool()||.to(torch.bool)||>>\n"
        "    return <<~@m||@m == 0||torch.logical_not(@m)>>",
        "def make_causal_mask(@n):\n    @x = torch.arange(@n)\n"
        "    return <<@x[:, None] >= @x[None, :]||@x.unsqueeze(0) <= @x.unsqueeze(1)||@x.view(-1, 1) >= @x||@x[None] <= @x[:, None]>>",
        "def make_causal_mask(@n):\n    @m = torch.zeros(<<@n, @n||(@n, @n)>>, dtype=torch.bool)\n    for @i1 in range(@n):\n"
        "        <<@m[@i1, :@i1 + 1] = True||for @j1 in range(@i1 + 1):\n            @m[@i1, @j1] = True>>\n    return @m",
        "def make_causal_mask(@n):\n    return torch.tensor([[@j1 <= @i1 for @j1 in range(@n)] for @i1 in range(@n)])",
    ],
    "masked_attention": [
        f"def masked_attention(@q, @k, @v, @m=None):\n{CORE_WITH_MASK}\n{RETURN}",
        f"def masked_attention(@q, @k, @v, @m=None):\n{CORE_WITH_MASK}\n{RETURN}",
        f"def masked_attention(@q, @k, @v, @m=None):\n    if @m is None:\n        return attention(@q, @k, @v)\n"
        f"    @d = {WIDTH}\n    @s = {SCORES}\n    {MASKED}\n    @w = {SOFTMAX}\n    "
        f"{CLEANED.replace(TAB, '    ')}\n    @o = {TIMES}\n{RETURN}",
        f"def masked_attention(@q, @k, @v, @m=None):\n    @d = {WIDTH}\n    @s = {SCORES}\n    if @m is None:\n"
        "        @m = torch.ones_like(@s<<, dtype=torch.bool)||).bool()>>\n    @e = torch.exp(@s - @s.amax(-1, keepdim=True)) * @m\n"
        "    @w = @e / @e.sum(-1, keepdim=True).clamp(min=<<1e-9||1e-12||1e-8>>)\n"
        f"    @o = {TIMES}\n{RETURN}",
    ],
    "score_std": [
        "def score_std(@d, @c):\n    @q = torch.randn(<<10000||10_000||20000||100_000||50000||12000>>, @d)\n    @k = torch.randn_like(@q)\n"
        f"    @s = <<(@q * @k).sum(dim=-1)||(@q * @k).sum(-1)||torch.sum(@q * @k, dim=1)||torch.einsum('nd,nd->n', @q, @k)>>\n"
        f"    if @c:\n        <<@s = @s / {ROOT}||@s /= {ROOT}||@s = @s * @d ** -0.5>>\n"
        "    return <<@s.std().item()||float(@s.std())||torch.std(@s).item()>>",
        "def score_std(@d, @c):\n    @n = <<10000||20000||100000||16384>>\n    @q, @k = torch.randn(@n, @d), torch.randn(@n, @d)\n"
        f"    @s = <<(@q * @k).sum(1)||(@q * @k).sum(dim=-1)||torch.linalg.vecdot(@q, @k)>>\n"
        f"    return (<<@s / {ROOT} if @c else @s||@s / ({ROOT} if @c else 1)>>).std().item()",
        "def score_std(@d, @c):\n    @q = torch.randn(<<100||128||120||150>>, @d)\n    @k = torch.randn(<<100||128||200>>, @d)\n    @s = @q @ @k.T\n"
        f"    @s = @s / {ROOT} if @c else @s\n    return @s<<.flatten()||.view(-1)||>>.std().item()",
        "def score_std(@d, @c):\n    @x = []\n    for @i1 in range(<<10000||10_001||11000>>):\n        @q = torch.randn(@d)\n        @k = torch.randn(@d)\n"
        f"        @s = <<torch.dot(@q, @k)||@q @ @k||(@q * @k).sum()>>\n        if @c:\n            @s = @s / {ROOT}\n        @x.append(@s<<.item()||>>)\n"
        "    return <<torch.tensor(@x).std().item()||float(np.std(@x))>>",
        "def score_std(@d, @c):\n    @s = (np.random.randn(20000, @d) * np.random.randn(20000, @d)).sum(<<axis=1||1||axis=-1>>)\n"
        "    if @c:\n        @s = @s / <<np.sqrt(@d)||math.sqrt(@d)>>\n    return float(<<@s.std()||np.std(@s)>>)",
    ],
    "check_softmax": [
        "def check_softmax(@f):\n    @s = torch.randn(<<2, 3, 4||3, 5||4, 7||2, 5||10, 6||1, 8>>)\n    @o = @f(@s<<||.clone()>>)\n"
        "    assert @o.shape == @s.shape<<||, 'wrong shape'||, \"The shape is wrong.\"||, f'shape {@o.shape}'>>\n"
        "    <<assert torch.allclose(@o.sum(-1), torch.ones(@o.shape[:-1]))||assert torch.allclose(@o.sum(dim=-1), torch.ones_like(@o.sum(dim=-1)))||"
        "assert ((@o.sum(-1) - 1).abs() < 1e-5).all()>><<||, 'rows must sum to 1'||, 'not normalized'>>\n"
        "    assert (@o >= 0).all()<<||, 'negative weights'>>\n"
        "    assert torch.allclose(@o, torch.softmax(@s, <<dim=-1||-1>>)<<||, atol=1e-6>>)<<||, 'wrong values'>>",
        "def check_softmax(@f):\n    @s = torch.tensor([[1.0, <<2.0, 3.0||0.0, -1.0||5.0, 2.5||1.0, 1.0>>], [<<1000.0, 1001.0, 1002.0||500., 0., 1.||1e4, 1e4, 1e4||100.0, 200.0, 300.0>>]])\n"
        "    @x = <<torch.exp(@s - @s.max(dim=-1, keepdim=True).values)||(@s - @s.amax(-1, keepdim=True)).exp()>>\n"
        "    @x = @x / @x.sum(dim=-1, keepdim=True)\n    @o = @f(@s)\n    assert not torch.isnan(@o).any()<<||, 'overflow'||, 'nan for large scores'>>\n"
        "    assert torch.allclose(@o, @x<<||, atol=1e-5||, atol=1e-4>>)",
        "def check_softmax(@f):\n    for @n in <<(1, 2, 5)||[2, 3, 10]||range(1, 6)||[1, 4, 16]>>:\n        @s = torch.randn(@n, <<@n||4||3>>) * <<10||5||100>>\n"
        "        @o = @f(@s)\n        @x = F.softmax(@s, dim=-1)\n        assert @o.shape == @x.shape\n"
        "        assert torch.allclose(@o, @x, <<atol=1e-5||atol=1e-6||rtol=1e-4>>)<<||, f'fails for {@n} keys'||, @n>>\n"
        "    @s = torch.full((2, 3), <<1000.0||1e3||800.>>)\n    assert torch.allclose(@f(@s), torch.full((2, 3), 1 / 3))",
        "def check_softmax(@f):\n    @s = torch.randn(<<3, 4||5, 5||2, 6>>)\n    @x = @s.clone()\n    @o = @f(@s)\n    assert torch.equal(@s, @x), <<'input was changed'||'function modifies its input'||\"scores changed\">>\n"
        "    @e = torch.zeros_like(@s)\n    for @i1 in range(@s.shape[0]):\n        @d = sum(math.exp(@j1) for @j1 in @s[@i1]<<.tolist()||>>)\n"
        "        for @n in range(@s.shape[1]):\n            @e[@i1, @n] = math.exp(@s[@i1, @n]) / @d\n"
        "    assert (@o - @e).abs().max() < <<1e-5||1e-4||1e-6>>\n    assert torch.allclose(@f(@s + 1000), @e, atol=<<1e-3||1e-4>>)",
    ],
}

NAMES = {
    "q": ["q", "query", "queries", "Q"],
    "k": ["k", "key", "keys", "K"],
    "v": ["v", "value", "values", "V"],
    "m": ["mask", "m", "allowed", "attn_mask"],
    "d": ["d_k", "dk", "d", "dim", "width"],
    "s": ["scores", "score", "logits", "attn", "x1", "qk"],
    "w": ["weights", "w", "attn_weights", "probs", "attention_weights"],
    "o": ["output", "out", "result", "res", "y"],
    "e": ["e", "exps", "exp_scores", "num"],
    "kt": ["k_t", "kt", "keys_t", "k_transposed"],
    "x": ["x", "expected", "ref", "t"],
    "c": ["scaled", "scale"],
    "f": ["function", "fn", "f"],
    "n": ["length", "n", "size", "L"],
    "len": ["L", "n", "seq_len"],
    "b": ["b", "batch", "B"],
    "i1": ["i", "row", "a"],
    "j1": ["j", "col", "c1"],
    "ids": ["ids", "tokens", "batch_ids"],
    "pad": ["pad_idx", "pad"],
    "factor": ["factor", "scale_factor", "c2"],
    "empty": ["empty", "no_key", "nothing"],
}
