"""Ways to answer 05_seq2seq. See `bench.similar.students` for how they are read."""

PRINT = "<<||||||||\n\t\tif @i1 % 100 == 0:\n\t\t    print(@i1, @l.item())||\n\t\tif @i1 % 50 == 0: print(f'step {@i1}: {@l.item():.3f}')>>"
CLIP = (
    "<<||\n\t\ttorch.nn.utils.clip_grad_norm_(@m.parameters(), 1.0)||\n\t\tnn.utils.clip_grad_norm_(@m.parameters(), 1.0)||"
    "\n\t\ttorch.nn.utils.clip_grad_norm_(@m.parameters(), max_norm=0.5)||\n\t\tnn.utils.clip_grad_value_(@m.parameters(), 1.0)>>"
)
ADAM = (
    "<<@opt = torch.optim.Adam(@m.parameters(), lr=lr)||@opt = optim.Adam(@m.parameters(), lr=lr)||"
    "@opt = torch.optim.Adam(@m.parameters(), lr)||@opt = torch.optim.Adam(params=@m.parameters(), lr=lr, betas=(0.9, 0.98), eps=1e-9)||"
    "@opt = torch.optim.Adam([@x for @x in @m.parameters() if @x.requires_grad], lr=lr)||@opt = torch.optim.AdamW(@m.parameters(), lr=lr, weight_decay=0.0)>>"
)
BATCH = "<<*@in, @t = make_batch()||@b = make_batch()\n\t\t@in, @t = @b[:-1], @b[-1]||@b = make_batch()\n\t\t@t = @b[-1]\n\t\t@in = @b[:-1]||(*@in, @t) = make_batch()>>"
LOSS = "<<@l = sequence_loss(@m(*@in), @t, PAD)||@o = @m(*@in)\n\t\t@l = sequence_loss(@o, @t, PAD)||@o = @m(*@in)\n\t\t@l = sequence_loss(logits=@o, targets=@t, pad_idx=PAD)||@l = sequence_loss(@m.forward(*@in), @t, pad_idx=PAD)>>"
STEP = (
    f"<<@opt.zero_grad()\n\t\t@l.backward(){CLIP}\n\t\t@opt.step()||@l.backward(){CLIP}\n\t\t@opt.step()\n\t\t@opt.zero_grad()||"
    f"@opt.zero_grad(set_to_none=True)\n\t\t@l.backward(){CLIP}\n\t\t@opt.step()||@m.zero_grad()\n\t\t@l.backward()\n\t\t@opt.step()>>"
)
RECORD = "<<@r.append(@l.item())||@r.append(float(@l))||@r.append(@l.detach().item())||@r += [@l.item()]>>"
LAST = "<<@o[:, -1, :].argmax(dim=-1)||@o[:, -1].argmax(-1)||torch.argmax(@o[:, -1, :], dim=-1)||torch.argmax(@o[:, -1], dim=1)||@o[:, -1].max(dim=-1).indices||@o[:, -1].topk(1).indices.squeeze(-1)||@o.argmax(-1)[:, -1]>>"
START = "<<torch.full((@n, 1), bos_idx)||torch.full((@n, 1), bos_idx, dtype=torch.long)||torch.ones(@n, 1, dtype=torch.long) * bos_idx||torch.tensor([[bos_idx]] * @n)||torch.full((@n, 1), bos_idx, dtype=torch.long, device=@s.device)||torch.LongTensor([[bos_idx] for _ in range(@n)])>>"
SIZE = "<<@s.shape[0]||@s.size(0)||len(@s)>>"
DONE = "<<torch.zeros(@n, dtype=torch.bool)||torch.zeros(@n).bool()||torch.zeros(@n, dtype=torch.bool, device=@s.device)||torch.full((@n,), False)>>"
WIDTHS = "<<max(@p.shape[1], @e.shape[1])||max(@p.size(1), @e.size(1))||max(@p.shape[-1], @e.shape[-1])||max([@p.shape[1], @e.shape[1]])>>"
MEAN = "<<.float().mean().item()||.double().mean().item()||.sum().item() / @p.shape[0]||.sum().item() / len(@p)||.to(torch.float).mean().item()>>"

ANSWERS = {
    "fresh_batch": [
        "def fresh_batch(sample, answer, batch_size, held_out):\n\t@x = []\n\twhile len(@x) < batch_size:\n\t\t@s = sample()\n"
        "\t\tif <<tuple(@s) not in held_out||not tuple(@s) in held_out||tuple(list(@s)) not in held_out>>:\n\t\t    @x.append(@s)\n"
        "<<\t@t = [answer(@s) for @s in @x]\n||\t@t = list(map(answer, @x))\n||\t@t = []\n\tfor @s in @x:\n\t\t@t.append(answer(@s))\n>>\treturn pad(@x), pad(@t)",
        "def fresh_batch(sample, answer, batch_size, held_out):\n\t@x, @t = [], []\n\twhile len(@x) < batch_size:\n\t\t@s = sample()\n"
        "\t\tif tuple(@s) in held_out:\n\t\t    continue\n<<\t\t@x.append(@s)\n\t\t@t.append(answer(@s))||\t\t@t.append(answer(@s))\n\t\t@x.append(@s)>>\n\treturn <<pad(@x), pad(@t)||(pad(@x), pad(@t))>>",
        "def fresh_batch(sample, answer, batch_size, held_out):\n\t@x = []\n\tfor <<_||@i1>> in range(batch_size):\n\t\t@s = sample()\n"
        "\t\twhile tuple(@s) in held_out:\n\t\t    @s = sample()\n\t\t@x.append(<<@s||(@s, answer(@s))>>)\n"
        "\t<<@t = [answer(@s) for @s in @x]||@t = [answer(@q) for @q in @x]>>\n\treturn pad(@x), pad(@t)",
        "def draw_one(sample, held_out):\n\twhile True:\n\t\t@s = sample()\n\t\tif tuple(@s) not in held_out:\n\t\t    return @s\n\n\n"
        "def fresh_batch(sample, answer, batch_size, held_out):\n\t@x = [draw_one(sample, held_out) for _ in range(batch_size)]\n\treturn pad(@x), pad([answer(@s) for @s in @x])",
        "def fresh_batch(sample, answer, batch_size, held_out):\n\t@i1 = 0\n\t@x = []\n\t@t = []\n\twhile @i1 < batch_size:\n\t\t@s = sample()\n"
        "\t\tif tuple(@s) not in held_out:\n\t\t    @x.append(@s)\n\t\t    @t.append(answer(@s))\n\t\t    @i1 += 1\n"
        "\t<<return pad(@x), pad(@t)||@x = pad(@x)\n\t@t = pad(@t)\n\treturn @x, @t||assert len(@x) == batch_size\n\treturn pad(@x), pad(@t)>>",
    ],
    "shift_right": [
        "def shift_right(@t, bos_idx):\n\t@b = <<torch.full((@t.shape[0], 1), bos_idx)||torch.full((@t.size(0), 1), bos_idx, dtype=@t.dtype)||"
        "torch.full_like(@t[:, :1], bos_idx)||torch.ones(@t.shape[0], 1, dtype=@t.dtype) * bos_idx||@t.new_full((@t.shape[0], 1), bos_idx)>>\n"
        "\treturn <<torch.cat([@b, @t[:, :-1]], dim=1)||torch.cat((@b, @t[:, :-1]), dim=1)||torch.cat([@b, @t[:, :-1]], 1)||torch.hstack((@b, @t[:, :-1]))||torch.cat([@b, @t[:, :-1]], dim=-1)>>",
        "def shift_right(@t, bos_idx):\n\t@x = <<torch.zeros_like(@t)||torch.empty_like(@t)||@t.clone()||torch.full_like(@t, bos_idx)>>\n"
        "<<\t@x[:, 0] = bos_idx\n\t@x[:, 1:] = @t[:, :-1]||\t@x[:, 1:] = @t[:, :-1]\n\t@x[:, 0] = bos_idx||\t@x[:, 1:] = @t[:, :-1].clone()\n\t@x[:, 0] = bos_idx>>\n\treturn @x",
        "def shift_right(@t, bos_idx):\n\t@x = <<torch.roll(@t, 1, dims=1)||@t.roll(1, 1)||torch.roll(@t, shifts=1, dims=-1)>>\n\t@x[:, 0] = bos_idx\n\treturn @x",
        "def shift_right(@t, bos_idx):\n\t<<return F.pad(@t[:, :-1], (1, 0), value=bos_idx)||@x = @t[:, :-1]\n\treturn F.pad(@x, (1, 0), value=bos_idx)>>",
    ],
    "sequence_loss": [
        "def sequence_loss(@o, @t, pad_idx):\n\treturn F.cross_entropy(<<@o.flatten(0, 1), @t.flatten()||@o.reshape(-1, @o.shape[-1]), @t.reshape(-1)||@o.view(-1, @o.size(-1)), @t.view(-1)||@o.transpose(1, 2), @t||@o.permute(0, 2, 1), @t>>, ignore_index=pad_idx)",
        "def sequence_loss(@o, @t, pad_idx):\n\t<<@n, @i1, @v = @o.shape||@n, @i1, @v = @o.size()>>\n\t@o = @o.<<reshape||view>>(<<@n * @i1, @v||-1, @v>>)\n\t@t = @t.<<reshape(-1)||view(-1)||reshape(@n * @i1)>>\n"
        "\treturn <<F.cross_entropy(@o, @t, ignore_index=pad_idx)||nn.functional.cross_entropy(@o, @t, ignore_index=pad_idx)||nn.CrossEntropyLoss(ignore_index=pad_idx)(@o, @t)>>",
        "def sequence_loss(@o, @t, pad_idx):\n\t@c = <<nn||torch.nn>>.CrossEntropyLoss(ignore_index=pad_idx)\n\treturn @c(<<@o.transpose(1, 2), @t||@o.flatten(0, 1), @t.flatten()||@o.reshape(-1, @o.shape[2]), @t.reshape(-1)||@o.permute(0, 2, 1), @t>>)",
        "def sequence_loss(@o, @t, pad_idx):\n\t@q = <<F.log_softmax(@o, dim=-1)||torch.log_softmax(@o, -1)||@o - @o.logsumexp(-1, keepdim=True)>>\n"
        "\t@l = -<<@q.gather(-1, @t.unsqueeze(-1)).squeeze(-1)||torch.gather(@q, 2, @t[:, :, None])[:, :, 0]>>\n\t@k = <<@t != pad_idx||(@t != pad_idx).float()>>\n"
        "\treturn <<(@l * @k).sum() / @k.sum()||@l[@t != pad_idx].mean()>>",
        "def sequence_loss(@o, @t, pad_idx):\n\t@k = @t != pad_idx\n\treturn F.cross_entropy(@o[@k], @t[@k])",
    ],
    "train": [
        f"def train(@m, make_batch, steps, lr):\n\t@m.train()\n\t{ADAM}\n\t@r = []\n\tfor @i1 in <<progress(steps)||range(steps)||tqdm(range(steps))||range(0, steps)>>:\n\t\t{BATCH}\n\t\t{LOSS}\n\t\t{STEP}\n\t\t{RECORD}{PRINT}\n\treturn @r",
        f"def train(@m, make_batch, steps, lr):\n\t{ADAM}\n\t@m.train()\n\t@r = []\n\tfor @i1 in <<range(steps)||progress(steps)>>:\n\t\t{BATCH}\n\t\t@opt.zero_grad()\n\t\t{LOSS}\n\t\t@l.backward(){CLIP}\n\t\t@opt.step()\n\t\t{RECORD}{PRINT}\n\treturn @r",
        f"def train(@m, make_batch, steps, lr):\n\t{ADAM}\n\t<<@sch = torch.optim.lr_scheduler.OneCycleLR(@opt, max_lr=lr, total_steps=steps)||@sch = torch.optim.lr_scheduler.CosineAnnealingLR(@opt, steps)||"
        f"@sch = torch.optim.lr_scheduler.LambdaLR(@opt, lambda @x: min((@x + 1) / 100, 1.0))||@sch = torch.optim.lr_scheduler.LinearLR(@opt, start_factor=0.1, total_iters=steps // 10)||"
        f"@sch = torch.optim.lr_scheduler.CosineAnnealingLR(@opt, T_max=steps, eta_min=lr / 10)>>\n\t@r = []\n\t@m.train()\n\tfor @i1 in <<progress(steps)||range(steps)>>:\n\t\t{BATCH}\n\t\t{LOSS}\n\t\t{STEP}\n\t\t@sch.step()\n\t\t{RECORD}{PRINT}\n\treturn @r",
        f"def train(@m, make_batch, steps, lr):\n\t{ADAM}\n\t@r = <<torch.zeros(steps)||[0.0] * steps||np.zeros(steps)>>\n\t@m.train()\n\tfor @i1 in range(steps):\n\t\t{BATCH}\n\t\t{LOSS}\n\t\t{STEP}\n\t\t@r[@i1] = @l.item()\n\treturn <<@r.tolist()||list(@r)||[float(@x) for @x in @r]>>",
    ],
    "greedy_decode": [
        f"def greedy_decode(@m, @s, max_len, bos_idx, eos_idx):\n\t@m.eval()\n\t@n = {SIZE}\n\twith <<torch.no_grad()||torch.inference_mode()>>:\n\t\t@y, @k = @m.encode(@s)\n\t\t@x = {START}\n\t\t@done = {DONE}\n"
        f"\t\tfor _ in range(max_len):\n\t\t    @o = @m.decode(@x, @y, @k)\n\t\t    @t = {LAST}\n\t\t    <<@t[@done] = PAD||@t = @t.masked_fill(@done, PAD)||@t = torch.where(@done, PAD, @t)||@t = torch.where(@done, torch.full_like(@t, PAD), @t)>>\n"
        "\t\t    @x = torch.cat(<<[@x, @t.unsqueeze(1)], dim=1||[@x, @t[:, None]], dim=1||(@x, @t.unsqueeze(-1)), dim=-1||[@x, @t.view(-1, 1)], 1||[@x, @t.unsqueeze(1)], 1>>)\n"
        "\t\t    <<@done = @done | (@t == eos_idx)||@done |= @t == eos_idx||@done = torch.logical_or(@done, @t == eos_idx)||@done[@t == eos_idx] = True>>\n\t\t    if <<@done.all()||torch.all(@done)||all(@done)||bool(@done.all())>>:\n\t\t\t    break\n\treturn @x[:, 1:]",
        f"@torch.no_grad()\ndef greedy_decode(@m, @s, max_len, bos_idx, eos_idx):\n\t@m.eval()\n\t@y, @k = @m.encode(@s)\n\t@n = {SIZE}\n\t@x = {START}\n\t@done = {DONE}\n"
        f"\twhile <<@x.shape[1] <= max_len||@x.size(1) - 1 < max_len||@x.shape[1] - 1 < max_len>> and not @done.all():\n\t\t@o = @m.decode(@x, @y, @k)\n\t\t@t = {LAST}\n\t\t<<@t[@done] = PAD||@t = torch.where(@done, PAD, @t)>>\n"
        "\t\t@done = <<@done | @t.eq(eos_idx)||@done + (@t == eos_idx)||@done.logical_or(@t == eos_idx)>>\n\t\t@x = torch.cat([@x, @t.unsqueeze(1)], <<dim=1||1||dim=-1>>)\n\treturn @x[:, 1:]",
        f"def greedy_decode(@m, @s, max_len, bos_idx, eos_idx):\n\t@m.eval()\n\t@n = {SIZE}\n\t@r = []\n\twith torch.no_grad():\n\t\t@y, @k = @m.encode(@s)\n\t\t@x = {START}\n"
        f"\t\tfor @i1 in range(max_len):\n\t\t    @o = @m.decode(@x, @y, @k)\n\t\t    @t = {LAST}\n\t\t    @r.append(@t)\n\t\t    @x = torch.cat([@x, @t.unsqueeze(1)], dim=1)\n"
        "\t\t    if <<(@x == eos_idx).any(dim=1).all()||all(eos_idx in @q for @q in @x.tolist())||((@x == eos_idx).sum(1) > 0).all()>>:\n\t\t\t    break\n\t@p = torch.stack(@r, dim=1)\n"
        "\tfor @i1 in range(@n):\n\t\t@e = (@p[@i1] == eos_idx).nonzero()\n\t\tif <<len(@e)||len(@e) > 0||@e.numel() > 0>>:\n\t\t    @p[@i1, <<@e[0, 0]||int(@e[0])||@e[0].item()>> + 1:] = PAD\n\treturn @p",
        f"def greedy_decode(@m, @s, max_len, bos_idx, eos_idx):\n\t@m.eval()\n\t@n = {SIZE}\n\twith torch.no_grad():\n\t\t@y, @k = @m.encode(@s)\n\t\t@x = {START}\n\t\tfor _ in range(max_len):\n"
        f"\t\t    @o = @m.decode(@x, @y, @k)\n\t\t    @x = torch.cat([@x, @o[:, -1:].argmax(<<-1||dim=-1||2>>)], dim=1)\n\t@x = @x[:, 1:]\n"
        "\t@e = <<(@x == eos_idx).cumsum(1)||torch.cumsum(@x == eos_idx, dim=1)||(@x == eos_idx).long().cumsum(dim=1)>>\n\t@k = <<(@e - (@x == eos_idx).long()) > 0||(@e > 0) & ~((@x == eos_idx) & (@e == 1))>>\n\treturn @x.masked_fill(@k, PAD)",
    ],
    "exact_match": [
        f"def exact_match(@p, @e):\n\t@n = {WIDTHS}\n\t@p = F.pad(@p, <<(0, @n - @p.shape[1])||[0, @n - @p.shape[1]]||(0, @n - @p.size(1))>>, value=PAD)\n\t@e = F.pad(@e, <<(0, @n - @e.shape[1])||(0, @n - @e.size(1))>>, value=PAD)\n"
        f"\treturn (@p == @e).all(<<dim=1||1||dim=-1||-1>>){MEAN}",
        "def exact_match(@p, @e):\n\tif @p.shape[1] < @e.shape[1]:\n\t\t@p = F.pad(@p, (0, @e.shape[1] - @p.shape[1]), value=PAD)\n\telif @e.shape[1] < @p.shape[1]:\n\t\t@e = F.pad(@e, (0, @p.shape[1] - @e.shape[1]), value=PAD)\n"
        f"\t@k = <<(@p == @e).all(dim=1)||torch.all(@p == @e, dim=1)||(@p != @e).sum(1) == 0>>\n\treturn @k{MEAN}",
        "def exact_match(@p, @e):\n\t@k = 0\n\tfor @q, @t in zip(@p<<.tolist(), @e.tolist()||, @e>>):\n\t\t<<@q = [@i1 for @i1 in @q if @i1 != PAD]\n\t\t@t = [@i1 for @i1 in @t if @i1 != PAD]||while @q and @q[-1] == PAD:\n\t\t    @q.pop()\n\t\twhile @t and @t[-1] == PAD:\n\t\t    @t.pop()>>\n"
        "\t\t<<if @q == @t:\n\t\t    @k += 1||@k += @q == @t||@k += int(@q == @t)>>\n\treturn @k / len(@p)",
        f"def fit(@x, @n):\n\t@y = torch.full((@x.shape[0], @n), PAD)\n\t@y[:, : @x.shape[1]] = @x\n\treturn @y\n\n\ndef exact_match(@p, @e):\n\t@n = {WIDTHS}\n\treturn <<(fit(@p, @n) == fit(@e, @n)).all(1)||torch.all(fit(@p, @n) == fit(@e, @n), dim=1)>>{MEAN}",
        "def exact_match(@p, @e):\n\t@n = min(@p.shape[1], @e.shape[1])\n\t@k = (@p[:, :@n] == @e[:, :@n]).all(1)\n\t@k = @k & (@p[:, @n:] == PAD).all(1) & (@e[:, @n:] == PAD).all(1)\n\treturn @k.float().mean().item()",
    ],
    "vocabulary": [
        "def build_vocabulary(@x):\n\t@d = <<{@w: @i1 for @i1, @w in enumerate(SPECIALS)}||dict(zip(SPECIALS, range(4)))||{}\n\tfor @i1, @w in enumerate(SPECIALS):\n\t\t@d[@w] = @i1>>\n\tfor @s in @x:\n\t\tfor @w in @s.split(<<||' '>>):\n\t\t    if @w not in @d:\n\t\t\t    @d[@w] = len(@d)\n\treturn @d\n\n\n"
        "def to_ids(@s, @d):\n\t<<return [@d.get(@w, UNK) for @w in @s.split()]||return [@d[@w] if @w in @d else UNK for @w in @s.split()]||@r = []\n\tfor @w in @s.split():\n\t\t@r.append(@d.get(@w, UNK))\n\treturn @r>>\n\n\n"
        "def to_text(@k, @d):\n\t@v = {@i1: @w for @w, @i1 in @d.items()}\n\t@r = []\n\tfor @i1 in @k:\n\t\t<<@i1 = int(@i1)\n\t\t||>>if @i1 == EOS:\n\t\t    break\n\t\tif @i1 <<not in (BOS, PAD)||!= BOS and @i1 != PAD||not in [PAD, BOS]>>:\n\t\t    @r.append(@v[@i1])\n\treturn <<' '.join(@r)||\" \".join(@r)>>",
        "def build_vocabulary(@x):\n\t@w = list(SPECIALS)\n\tfor @s in @x:\n\t\t<<@w += [@q for @q in @s.split() if @q not in @w]||for @q in @s.split():\n\t\t    if @q not in @w:\n\t\t\t    @w.append(@q)>>\n\treturn {@q: @i1 for @i1, @q in enumerate(@w)}\n\n\n"
        "def to_ids(@s, @d):\n\treturn [@d.get(@w, <<UNK||@d['<unk>']>>) for @w in @s.split()]\n\n\n"
        "def to_text(@k, @d):\n\t<<@v = list(@d)||@v = list(@d.keys())>>\n\t@k = list(@k)\n\tif EOS in @k:\n\t\t@k = @k[:@k.index(EOS)]\n\treturn ' '.join(@v[@i1] for @i1 in @k if @i1 not in (BOS, PAD))",
        "def build_vocabulary(@x):\n\t@w = <<' '.join(@x).split()||[@q for @s in @x for @q in @s.split()]>>\n\t@w = list(dict.fromkeys([*SPECIALS, *@w]))\n\treturn <<dict(zip(@w, range(len(@w))))||{@q: @i1 for @i1, @q in enumerate(@w)}>>\n\n\n"
        "def to_ids(@s, @d):\n\treturn [@d.get(@w, UNK) for @w in @s.split()]\n\n\n"
        "def to_text(@k, @d):\n\t@v = {@i1: @w for @w, @i1 in @d.items()}\n\t@r = ''\n\tfor @i1 in @k:\n\t\tif @i1 == EOS:\n\t\t    break\n\t\tif @i1 in (BOS, PAD):\n\t\t    continue\n\t\t@r += <<@v[@i1] + ' '||' ' + @v[@i1]||f'{@v[@i1]} '>>\n\treturn @r.strip()",
    ],
    "sorting_transformer": [
        "class SortingTransformer(nn.Module):\n\tdef __init__(self, vocab_size, embed_dim, seq_length, num_layers=2):\n\t\tsuper().__init__()\n\t\tself.@a = IntegerSequenceEmbedding(vocab_size, embed_dim, seq_length)\n"
        "\t\tself.@h = nn.ModuleList(<<[EncoderLayer(embed_dim, 4, 2 * embed_dim, norm_first=True) for _ in range(num_layers)]||EncoderLayer(d_model=embed_dim, num_heads=4, d_ff=2 * embed_dim, norm_first=True) for _ in range(num_layers)||[EncoderLayer(embed_dim, 4, embed_dim * 2, norm_first=True) for @i1 in range(num_layers)]||[]>>)\n"
        "<<\t\tself.@g = nn.LayerNorm(embed_dim)\n||\t\tself.@g = torch.nn.LayerNorm(embed_dim)\n||\t\tself.@g = nn.LayerNorm(embed_dim, eps=1e-6)\n>>\t\tself.@z = nn.Linear(<<embed_dim, vocab_size||in_features=embed_dim, out_features=vocab_size||embed_dim, vocab_size, bias=True>>)\n\n\tdef forward(self, ids):\n\t\t@x = self.@a(ids)\n\t\tfor @q in self.@h:\n\t\t    @x = @q(@x)\n\t\treturn <<self.@z(self.@g(@x))||self.@z(self.@g(@x))  # (batch, length, vocab)>>",
        "class SortingTransformer(nn.Module):\n\tdef __init__(self, vocab_size, embed_dim, seq_length, num_layers=2):\n\t\tsuper().__init__()\n\t\tself.@a = IntegerSequenceEmbedding(vocab_size, embed_dim, seq_length)\n"
        "\t\tself.@h = <<Encoder(num_layers, embed_dim, 4, 2 * embed_dim, norm_first=True)||nn.Sequential(*[EncoderLayer(embed_dim, 4, 2 * embed_dim, norm_first=True) for _ in range(num_layers)])||nn.Sequential(*(EncoderLayer(embed_dim, 4, 2 * embed_dim, norm_first=True) for _ in range(num_layers)), nn.LayerNorm(embed_dim))>>\n"
        "\t\tself.@z = nn.Linear(embed_dim, vocab_size)\n\n\tdef forward(self, ids):\n\t\t<<@x = self.@a(ids)\n\t\t@x = self.@h(@x)\n\t\treturn self.@z(@x)||return self.@z(self.@h(self.@a(ids)))>>",
    ],
}
NAMES = {
    "x": ["sources", "tokens", "xs", "out", "ys"],
    "s": ["source", "src", "seq", "drawn"],
    "t": ["targets", "tgt", "target", "y"],
    "q": ["row", "layer", "item", "u"],
    "b": ["batch", "bos", "b"],
    "m": ["model", "net"],
    "o": ["logits", "pred", "output", "scores"],
    "l": ["loss", "l", "batch_loss"],
    "r": ["losses", "history", "result", "res"],
    "in": ["inputs", "inp", "xb"],
    "opt": ["optimizer", "opt", "optim1"],
    "sch": ["scheduler", "sched", "schedule"],
    "y": ["memory", "mem", "enc"],
    "k": ["mask", "memory_mask", "keep", "m1"],
    "done": ["finished", "done", "ended", "stop"],
    "n": ["batch_size1", "n", "B", "width"],
    "i1": ["i", "step", "idx"],
    "v": ["vocab", "V", "words1"],
    "c": ["criterion", "loss_fn", "ce"],
    "p": ["predicted", "pred1", "a"],
    "e": ["expected", "gold", "c1"],
    "d": ["vocabulary", "vocab1", "table"],
    "w": ["word", "w", "token1"],
    "a": ["embedding", "embed", "emb"],
    "h": ["layers", "blocks", "encoder"],
    "g": ["norm", "ln", "final_norm"],
    "z": ["output1", "head", "fc", "linear"],
    "enc": ["encoded", "enc1"],
}
