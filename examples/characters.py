"""A transformer that learns to write Python's reference manual, letter by letter. `python examples/characters.py`

The text is the one that `help()` prints, so every Python has it: some 700,000 letters. The last tenth is kept back; what counts is
how well the next letter of that part is foreseen. The loss is in nats a letter: 4.6 is a guess among a hundred letters.
"""

import time

import tensorlab as torch
from tensorlab import nn
from tensorlab.nn import functional as F


def text():
    from pydoc_data.topics import topics

    return "\n".join(topics[name] for name in sorted(topics))


class Letters:
    """A text as numbers, and back."""

    def __init__(self, text):
        self.known = sorted(set(text))
        self.number = {letter: i for i, letter in enumerate(self.known)}

    def encode(self, text):
        return torch.tensor([self.number[letter] for letter in text])

    def decode(self, numbers):
        return "".join(self.known[i] for i in numbers)


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        q, k, v = self.qkv(self.norm1(x)).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4).unbind(0)
        seen = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).flatten(2))
        return x + self.mlp(self.norm2(x))


class Writer(nn.Module):
    def __init__(self, letters, context=64, width=64, depth=3, heads=4):
        super().__init__()
        self.context = context
        self.letter, self.place = nn.Embedding(letters, width), nn.Embedding(context, width)
        self.blocks = nn.ModuleList([Block(width, heads) for _ in range(depth)])
        self.norm, self.scores = nn.LayerNorm(width), nn.Linear(width, letters, bias=False)
        for weight in (self.letter.weight, self.place.weight):
            nn.init.normal_(weight, std=0.02)

    def forward(self, x):
        h = self.letter(x) + self.place(torch.arange(x.shape[1]))
        for block in self.blocks:
            h = block(h)
        return self.scores(self.norm(h))

    @torch.no_grad()
    def write(self, begin, count, heat=0.7):
        """Go on from a row of numbers, by so many letters."""
        for _ in range(count):
            scores = self(begin[None, -self.context :])[0, -1]
            begin = torch.cat([begin, torch.multinomial((scores / heat).softmax(0), 1)])
        return begin


def loss_of(model, stream, starts):
    x = stream[starts[:, None] + torch.arange(model.context + 1)]
    return F.cross_entropy(model(x[:, :-1]).flatten(0, 1), x[:, 1:].flatten())


@torch.no_grad()
def held_out(model, stream, count=64):
    """The mean loss over so many stretches, evenly spread over the text."""
    starts = torch.linspace(0, len(stream) - model.context - 1, count).long()
    return loss_of(model, stream, starts).item()


def train(model, stream, kept, steps=1000, batch=16, lr=4e-3, say=print):
    """Train. Gives back the loss of every step, and the loss on the text kept back before and along the way."""
    decayed = [p for p in model.parameters() if p.dim() > 1]
    others = [p for p in model.parameters() if p.dim() <= 1]
    groups = [{"params": decayed, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=lr, betas=(0.9, 0.98))
    warm = torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, total_iters=steps // 10)
    cool = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps - steps // 10, eta_min=lr / 20)
    schedule = torch.optim.lr_scheduler.SequentialLR(optimizer, [warm, cool], milestones=[steps // 10])
    losses, along = [], [held_out(model, kept)]
    for step in range(steps):
        loss = loss_of(model, stream, torch.randint(0, len(stream) - model.context - 1, (batch,)))
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        if step % max(1, steps // 8) == steps // 8 - 1:
            along.append(held_out(model, kept))
            say(f"step {step + 1:4}: loss {losses[-1]:.3f}, on the text kept back {along[-1]:.3f}")
    return losses, along


def main():
    torch.manual_seed(0)
    whole = text()
    letters = Letters(whole)
    stream = letters.encode(whole)
    stream, kept = stream[: -len(stream) // 10], stream[-len(stream) // 10 :]
    model = Writer(len(letters.known))
    began = time.perf_counter()
    _, along = train(model, stream, kept)
    print(f"text kept back: from {along[0]:.2f} to {along[-1]:.2f} after {time.perf_counter() - began:.0f} s\n")
    print(letters.decode(model.write(letters.encode("The "), 300).tolist()))


if __name__ == "__main__":
    main()
