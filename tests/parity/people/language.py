"""Text: counting bigrams, networks over characters, translation, word vectors, tagging."""

from __future__ import annotations

import math
from typing import Any

from tests.parity.people import Given, program

WORDS = "emma olivia ava isabella sophia mia amelia harper evelyn abigail ella luna camila aria".split()
LETTERS = sorted(set("".join(WORDS)))
INDEX = {".": 0} | {letter: i + 1 for i, letter in enumerate(LETTERS)}


def windows(torch: Any, block: int) -> Any:
    """Every stretch of so many letters, and the letter after it."""
    xs, ys = [], []
    for word in WORDS:
        context = [0] * block
        for letter in word + ".":
            xs.append(context)
            ys.append(INDEX[letter])
            context = context[1:] + [INDEX[letter]]
    return torch.tensor(xs), torch.tensor(ys)


@program
def bigrams_counted_and_learned(torch: Any, given: Given) -> Any:
    counts = torch.zeros((len(INDEX), len(INDEX)), dtype=torch.int32)
    for word in WORDS:
        for a, b in zip("." + word, word + ".", strict=True):
            counts[INDEX[a], INDEX[b]] += 1
    p = (counts + 1).float()
    p /= p.sum(1, keepdim=True)
    x, y = windows(torch, 1)
    x = x.squeeze(1)
    surprise = -p[x, y].log().mean()
    w, losses = given(len(INDEX), len(INDEX), requires_grad=True), []
    for _ in range(10):
        logits = torch.nn.functional.one_hot(x, num_classes=len(INDEX)).float() @ w
        odds = logits.exp()
        probabilities = odds / odds.sum(1, keepdims=True)
        loss = -probabilities[torch.arange(len(x)), y].log().mean() + 0.01 * (w**2).mean()
        w.grad = None
        loss.backward()
        w.data += -20 * w.grad
        losses.append(loss.item())
    return counts, surprise, losses, p.argmax(1)


@program
def letters_through_a_hidden_layer_with_gradients_by_hand(torch: Any, given: Given) -> Any:
    x, y = windows(torch, 3)
    size, n = len(INDEX), len(x)
    c, w1, w2 = given(size, 4), given(12, 16, scale=0.4), given(16, size, scale=0.1)
    gain, shift, b2 = torch.ones((1, 16)), torch.zeros((1, 16)), torch.zeros(size)
    parameters = [c, w1, gain, shift, w2, b2]
    for p in parameters:
        p.requires_grad = True
    emb = c[x]
    flat = emb.view(emb.shape[0], -1)
    before = flat @ w1
    mean = 1 / n * before.sum(0, keepdim=True)
    centred = before - mean
    var = 1 / (n - 1) * (centred**2).sum(0, keepdim=True)
    inverse = (var + 1e-5) ** -0.5
    raw = centred * inverse
    h = torch.tanh(gain * raw + shift)
    logits = h @ w2 + b2
    largest = logits.max(1, keepdim=True).values
    odds = (logits - largest).exp()
    probs = odds * odds.sum(1, keepdims=True) ** -1
    loss = -probs.log()[range(n), y].mean()
    stops = [logits, h, raw, inverse, var, centred, mean, before, emb]
    for t in stops:
        t.retain_grad()
    loss.backward()
    dlogits = torch.nn.functional.softmax(logits, 1)
    dlogits[range(n), y] -= 1
    dlogits /= n
    dh = dlogits @ w2.T
    dpre = (1.0 - h**2) * dh
    dbefore = gain * inverse / n * (n * dpre - dpre.sum(0) - n / (n - 1) * raw * (dpre * raw).sum(0))
    dc = torch.zeros_like(c)
    demb = (dbefore @ w1.T).view(emb.shape)
    for k in range(x.shape[0]):
        for j in range(x.shape[1]):
            dc[x[k, j]] += demb[k, j]
    by_hand = [dlogits, dh, dbefore, demb, dc]
    right = [
        torch.allclose(a, b, atol=1e-5)
        for a, b in zip(by_hand, [logits.grad, h.grad, before.grad, emb.grad, c.grad], strict=True)
    ]
    return loss, right, [p.grad for p in parameters], [t.grad for t in stops]


@program
def letters_joined_two_by_two(torch: Any, given: Given) -> Any:
    class Linear:
        def __init__(self, fan_in: int, fan_out: int, bias: bool = True) -> None:
            self.weight = given(fan_in, fan_out) / fan_in**0.5
            self.bias = torch.zeros(fan_out) if bias else None

        def __call__(self, x: Any) -> Any:
            self.out = x @ self.weight
            if self.bias is not None:
                self.out += self.bias
            return self.out

        def parameters(self) -> list:
            return [self.weight] + ([] if self.bias is None else [self.bias])

    class BatchNorm:
        def __init__(self, dim: int, momentum: float = 0.1) -> None:
            self.momentum, self.training = momentum, True
            self.gamma, self.beta = torch.ones(dim), torch.zeros(dim)
            self.mean, self.var = torch.zeros(dim), torch.ones(dim)

        def __call__(self, x: Any) -> Any:
            if self.training:
                dim = 0 if x.ndim == 2 else (0, 1)
                mean, var = x.mean(dim, keepdim=True), x.var(dim, keepdim=True)
                with torch.no_grad():
                    self.mean = (1 - self.momentum) * self.mean + self.momentum * mean
                    self.var = (1 - self.momentum) * self.var + self.momentum * var
            else:
                mean, var = self.mean, self.var
            self.out = self.gamma * (x - mean) / torch.sqrt(var + 1e-5) + self.beta
            return self.out

        def parameters(self) -> list:
            return [self.gamma, self.beta]

    class Tanh:
        def __call__(self, x: Any) -> Any:
            return torch.tanh(x)

        def parameters(self) -> list:
            return []

    class Join:
        def __call__(self, x: Any) -> Any:
            b, t, c = x.shape
            x = x.view(b, t // 2, c * 2)
            return x.squeeze(1) if x.shape[1] == 1 else x

        def parameters(self) -> list:
            return []

    size, width = len(INDEX), 12
    table = given(size, 6)
    layers = [
        *[
            each
            for fan in (6, width, width)
            for each in (Join(), Linear(fan * 2, width, bias=False), BatchNorm(width), Tanh())
        ],
        Linear(width, size),
    ]
    parameters = [table] + [p for layer in layers for p in layer.parameters()]
    for p in parameters:
        p.requires_grad = True
    x, y = windows(torch, 8)
    losses = []
    for i in range(6):
        out = table[x[i * 16 : i * 16 + 16]]
        for layer in layers:
            out = layer(out)
        loss = torch.nn.functional.cross_entropy(out, y[i * 16 : i * 16 + 16])
        for p in parameters:
            p.grad = None
        loss.backward()
        for p in parameters:
            p.data += -0.1 * p.grad
        losses.append(loss.log10().item())
    for layer in layers:
        layer.training = False
    with torch.no_grad():
        out = table[x]
        for layer in layers:
            out = layer(out)
    return losses, out.softmax(1)[:5], [tuple(p.shape) for p in parameters]


@program
def a_small_gpt(torch: Any, given: Given) -> Any:
    nn, F = torch.nn, torch.nn.functional
    size, width, heads, block = len(INDEX), 16, 2, 8

    class Attention(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width)
            self.register_buffer("mask", torch.tril(torch.ones(block, block)).view(1, 1, block, block))

        def forward(self, x: Any) -> Any:
            b, t, c = x.size()
            q, k, v = self.qkv(x).split(width, dim=2)
            q, k, v = (each.view(b, t, heads, c // heads).transpose(1, 2) for each in (q, k, v))
            att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
            att = att.masked_fill(self.mask[:, :, :t, :t] == 0, float("-inf"))
            y = (F.softmax(att, dim=-1) @ v).transpose(1, 2).contiguous().view(b, t, c)
            return self.out(y)

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.ln1, self.ln2, self.attn = nn.LayerNorm(width), nn.LayerNorm(width), Attention()
            self.mlp = nn.Sequential(
                nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width), nn.Dropout(0.0)
            )

        def forward(self, x: Any) -> Any:
            x = x + self.attn(self.ln1(x))
            return x + self.mlp(self.ln2(x))

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            parts = {
                "wte": nn.Embedding(size, width),
                "wpe": nn.Embedding(block, width),
                "h": nn.ModuleList([Block() for _ in range(2)]),
            }
            self.transformer = nn.ModuleDict(parts | {"ln_f": nn.LayerNorm(width)})
            self.head = nn.Linear(width, size, bias=False)
            self.transformer.wte.weight = self.head.weight

        def forward(self, idx: Any, targets: Any = None) -> Any:
            pos = torch.arange(0, idx.size(1), dtype=torch.long, device=idx.device)
            x = self.transformer.wte(idx) + self.transformer.wpe(pos)
            for each in self.transformer.h:
                x = each(x)
            logits = self.head(self.transformer.ln_f(x))
            loss = (
                None if targets is None else F.cross_entropy(logits.view(-1, size), targets.view(-1), ignore_index=-1)
            )
            return logits, loss

        @torch.no_grad()
        def generate(self, idx: Any, count: int) -> Any:
            for _ in range(count):
                logits, _ = self(idx[:, -block:])
                logits = logits[:, -1, :] / 0.8
                v, _ = torch.topk(logits, 3)
                logits[logits < v[:, [-1]]] = -float("Inf")
                idx = torch.cat((idx, torch.argmax(F.softmax(logits, dim=-1), dim=-1, keepdim=True)), dim=1)
            return idx

    model = given.fill(Model())
    stream = torch.tensor([INDEX[c] for c in "." + ".".join(WORDS) + "."])
    decay = [p for p in model.parameters() if p.dim() >= 2]
    rest = [p for p in model.parameters() if p.dim() < 2]
    groups = [{"params": decay, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=1e-2, betas=(0.9, 0.95))
    losses, norms = [], []
    for step in range(6):
        starts = [7 * step + 3 * i for i in range(4)]
        x = torch.stack([stream[i : i + block] for i in starts])
        y = torch.stack([stream[i + 1 : i + 1 + block] for i in starts])
        _, loss = model(x, y)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        norms.append(nn.utils.clip_grad_norm_(model.parameters(), 1.0))
        optimizer.step()
        losses.append(loss)
    written = model.generate(torch.zeros((1, 1), dtype=torch.long), 12)
    return losses, norms, written, sorted(model.state_dict()), sum(p.numel() for p in model.parameters())


@program
def words_near_each_other(torch: Any, given: Given) -> Any:
    nn, F = torch.nn, torch.nn.functional
    centre, around = nn.Embedding(20, 6), nn.Embedding(20, 6)
    given.fill(centre), given.fill(around)
    optimizer = torch.optim.Adagrad([*centre.parameters(), *around.parameters()], lr=0.5)
    losses = []
    for _ in range(8):
        c, o, negative = given.whole(20, 12), given.whole(20, 12), given.whole(20, 12, 5)
        v = centre(c).unsqueeze(2)
        good = F.logsigmoid(torch.bmm(around(o).unsqueeze(1), v)).squeeze()
        bad = F.logsigmoid(torch.bmm(around(negative).neg(), v)).squeeze(2).sum(1)
        loss = -(good + bad).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    vectors = F.normalize(centre.weight.detach(), dim=1)
    nearest = (vectors @ vectors.t()).fill_diagonal_(-1).topk(3, dim=1)
    return losses, nearest.indices, nearest.values, F.cosine_similarity(vectors[:1], vectors[1:])


@program
def translation_with_attention(torch: Any, given: Given) -> Any:
    nn, F = torch.nn, torch.nn.functional
    from importlib import import_module

    rnn = import_module(f"{torch.__name__}.nn.utils.rnn")

    class Encoder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table, self.gru = (
                nn.Embedding(11, 8, padding_idx=0),
                nn.GRU(8, 8, batch_first=True, bidirectional=True),
            )
            self.bridge = nn.Linear(16, 8)

        def forward(self, x: Any, lengths: Any) -> Any:
            packed = rnn.pack_padded_sequence(self.table(x), lengths, batch_first=True, enforce_sorted=False)
            out, h = self.gru(packed)
            out, _ = rnn.pad_packed_sequence(out, batch_first=True)
            return out, torch.tanh(self.bridge(torch.cat([h[0], h[1]], dim=1)))

    class Decoder(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table, self.cell = nn.Embedding(11, 8, padding_idx=0), nn.GRUCell(24, 8)
            self.score, self.out = nn.Linear(24, 1), nn.Linear(24, 11)

        def forward(self, token: Any, h: Any, memory: Any, mask: Any) -> Any:
            wide = h.unsqueeze(1).expand(-1, memory.size(1), -1)
            e = self.score(torch.cat((memory, wide), dim=2)).squeeze(2).masked_fill(~mask, -1e9)
            a = F.softmax(e, dim=1)
            context = torch.bmm(a.unsqueeze(1), memory).squeeze(1)
            h = self.cell(torch.cat([self.table(token), context], 1), h)
            return self.out(torch.cat([h, context], 1)), h, a

    encoder, decoder = given.fill(Encoder()), given.fill(Decoder())
    sequences = [given.whole(9, n) + 2 for n in (5, 3, 6)]
    source = rnn.pad_sequence(sequences, batch_first=True)
    target = rnn.pad_sequence([s.flip(0) for s in sequences], batch_first=True)
    lengths = torch.tensor([len(s) for s in sequences])
    mask = torch.arange(source.size(1))[None, :] < lengths[:, None]
    optimizer = torch.optim.RMSprop([*encoder.parameters(), *decoder.parameters()], lr=0.01)
    losses = []
    for _ in range(4):
        memory, h = encoder(source, lengths)
        token, loss = torch.ones(3, dtype=torch.long), 0
        for t in range(target.size(1)):
            logits, h, _ = decoder(token, h, memory, mask)
            loss += F.cross_entropy(logits, target[:, t], ignore_index=0, reduction="sum")
            token = target[:, t] if t % 2 else logits.argmax(1)
        loss = loss / mask.sum()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_value_(decoder.parameters(), 0.5)
        optimizer.step()
        losses.append(loss)
    _, _, attention = decoder(token, h, memory, mask)
    return losses, attention, encoder.table.weight.grad[0], decoder.table.weight


@program
def sentences_sorted_by_an_encoder(torch: Any, given: Given) -> Any:
    nn = torch.nn

    class Positions(nn.Module):
        def __init__(self, width: int, most: int = 50) -> None:
            super().__init__()
            pe, position = torch.zeros(most, width), torch.arange(0, most, dtype=torch.float).unsqueeze(1)
            div = torch.exp(torch.arange(0, width, 2).float() * (-math.log(10000.0) / width))
            pe[:, 0::2], pe[:, 1::2] = torch.sin(position * div), torch.cos(position * div)
            self.register_buffer("pe", pe.unsqueeze(0).transpose(0, 1))

        def forward(self, x: Any) -> Any:
            return x + self.pe[: x.size(0), :]

    layer = nn.TransformerEncoderLayer(12, 3, 24, dropout=0.0, activation="gelu", norm_first=True)
    model = nn.ModuleDict(
        {
            "table": nn.Embedding(9, 12),
            "pos": Positions(12),
            "body": nn.TransformerEncoder(layer, 2, enable_nested_tensor=False),
            "head": nn.Linear(12, 3),
        }
    )
    given.fill(model)
    tokens, y = given.whole(9, 7, 5), given.whole(3, 5)
    padding = torch.zeros(5, 7, dtype=torch.bool)
    padding[0, 4:] = True
    padding[3, 2:] = True
    causal = nn.Transformer.generate_square_subsequent_mask(7)
    warm = torch.optim.AdamW(model.parameters(), lr=1.0, betas=(0.9, 0.98), eps=1e-9)
    schedule = torch.optim.lr_scheduler.LambdaLR(
        warm, lambda s: 12**-0.5 * min((s + 1) ** -0.5, (s + 1) * 4**-1.5) / 20
    )
    losses, rates = [], []
    for _ in range(5):
        h = model["body"](model["pos"](model["table"](tokens)), src_key_padding_mask=padding)
        kept = (~padding).t().unsqueeze(-1)
        logits = model["head"]((h * kept).sum(0) / kept.sum(0))
        loss = nn.CrossEntropyLoss(label_smoothing=0.1)(logits, y)
        warm.zero_grad()
        loss.backward()
        warm.step()
        schedule.step()
        losses.append(loss)
        rates.append(schedule.get_last_lr()[0])
    model.eval()
    return losses, rates, logits, model["body"](model["table"](tokens), mask=causal)


@program
def tags_that_follow_each_other(torch: Any, given: Given) -> Any:
    """A chain of tags: the sum over all paths forwards, and the best one."""
    tags, steps = 4, 6
    move, start = given(tags, tags, requires_grad=True), given(tags, requires_grad=True)
    emit, gold = given(steps, tags), given.whole(tags, steps).tolist()
    optimizer, losses = torch.optim.SGD([move, start], lr=0.1, momentum=0.9, nesterov=True), []
    for _ in range(5):
        alpha = start + emit[0]
        for t in range(1, steps):
            alpha = torch.logsumexp(alpha.unsqueeze(1) + move + emit[t].unsqueeze(0), dim=0)
        score = start[gold[0]] + emit[0, gold[0]]
        for t in range(1, steps):
            score = score + move[gold[t - 1], gold[t]] + emit[t, gold[t]]
        loss = torch.logsumexp(alpha, 0) - score
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss)
    with torch.no_grad():
        best, back = start + emit[0], []
        for t in range(1, steps):
            best, at = (best.unsqueeze(1) + move).max(dim=0)
            best = best + emit[t]
            back.append(at)
        path = [int(best.argmax())]
        for at in reversed(back):
            path.append(at[path[-1]].item())
    return losses, path[::-1], move.grad


@program
def sounds_to_letters(torch: Any, given: Given) -> Any:
    nn = torch.nn
    model = nn.Sequential(nn.Conv1d(6, 12, 3, padding=1), nn.ReLU(), nn.Conv1d(12, 5, 3, padding=1))
    given.fill(model)
    x, y = given(3, 6, 14), given.whole(4, 3, 5) + 1
    lengths, wanted = torch.tensor([14, 11, 9]), torch.tensor([5, 3, 2])
    ctc, optimizer, losses = nn.CTCLoss(blank=0, zero_infinity=True), torch.optim.Adam(model.parameters(), lr=0.02), []
    for _ in range(6):
        logp = model(x).permute(2, 0, 1).log_softmax(2)
        loss = ctc(logp, y, lengths, wanted)
        optimizer.zero_grad(set_to_none=False)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    said = [torch.unique_consecutive(row[:n]) for row, n in zip(logp.argmax(2).t(), lengths, strict=True)]
    return losses, [row[row != 0] for row in said], model[0].weight.grad


@program
def the_best_of_several_sentences(torch: Any, given: Given) -> Any:
    """Beam search over a table of scores."""
    table = given(7, 7).log_softmax(-1)
    beams, scores = torch.zeros(3, 1, dtype=torch.long), torch.tensor([0.0, -1e9, -1e9])
    for _ in range(5):
        total = scores[:, None] + table[beams[:, -1]]
        scores, flat = total.flatten().topk(3)
        rows, tokens = torch.div(flat, 7, rounding_mode="floor"), flat % 7
        beams = torch.cat([beams.index_select(0, rows), tokens.unsqueeze(-1)], dim=-1)
    return beams, scores
