"""Digits out of noise: a small diffusion model that is told which digit to draw. `python examples/diffusion.py`

A picture is drowned in noise in a hundred steps. A network learns to say which noise was added; asked again and again, from
nothing but noise, it draws. After Ho, Jain and Abbeel, "Denoising Diffusion Probabilistic Models", 2020.
"""

import time

from digits import accuracy, data, draw

import tensorlab as torch
from tensorlab import nn
from tensorlab.nn import functional as F

STEPS = 100


def schedule():
    """The share of noise in each step, and how much of the picture is left after it."""
    betas = torch.linspace(0.001, 0.12, STEPS)
    return betas, torch.cumprod(1 - betas, dim=0)


class Denoiser(nn.Module):
    """Which noise is in a picture `[N, 1, 8, 8]` at step `t`, given its label."""

    def __init__(self, width=256):
        super().__init__()
        self.time, self.label = nn.Linear(32, width), nn.Embedding(10, width)
        self.first = nn.Linear(64, width)
        self.middle = nn.ModuleList(
            [
                nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, width))
                for _ in range(3)
            ]
        )
        self.last = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 64))
        self.register_buffer("waves", torch.exp(torch.linspace(0, -5, 16)))

    def forward(self, x, t, label):
        angle = t[:, None] * self.waves
        told = self.time(torch.cat([angle.sin(), angle.cos()], dim=1)) + self.label(label)
        h = self.first(x.flatten(1))
        for layer in self.middle:
            h = h + layer(h + told)
        return self.last(h).view_as(x)


def train(model, images, labels, epochs=200, batch=128, lr=2e-3, say=print):
    """Train, and give back the loss of every step."""
    _, left = schedule()
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr)
    slower = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    losses = []
    for epoch in range(epochs):
        for at in torch.randperm(len(images)).split(batch):
            x = 2 * images[at] - 1
            t = torch.randint(0, STEPS, (len(at),))
            noise = torch.randn(*x.shape)
            share = left[t].view(-1, 1, 1, 1)
            loss = F.mse_loss(model(share.sqrt() * x + (1 - share).sqrt() * noise, t, labels[at]), noise)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        slower.step()
        if epoch % 40 == 39:
            say(f"epoch {epoch + 1:3}: loss {sum(losses[-50:]) / len(losses[-50:]):.3f}")
    return losses


@torch.no_grad()
def sample(model, labels):
    """A picture for each label, out of noise."""
    betas, left = schedule()
    x = torch.randn(len(labels), 1, 8, 8)
    for t in reversed(range(STEPS)):
        noise = model(x, torch.full((len(labels),), t), labels)
        x = (x - betas[t] / (1 - left[t]).sqrt() * noise) / (1 - betas[t]).sqrt()
        if t:
            x = x + (betas[t] * (1 - left[t - 1]) / (1 - left[t])).sqrt() * torch.randn(*x.shape)
    return (x + 1) / 2


def main():
    from digits_mlp import network
    from digits_mlp import train as train_reader

    images, labels, unseen, wanted = data()
    model = Denoiser()
    began = time.perf_counter()
    train(model, images, labels)
    print(f"{time.perf_counter() - began:.0f} s\n")
    drawn = sample(model, torch.arange(10).repeat(30))
    draw(drawn[:5])
    draw(drawn[5:10])
    reader = network()
    train_reader(reader, images, labels, epochs=30, say=lambda words: None)
    print(f"a classifier reads {accuracy(reader, unseen, wanted):.1%} of unseen real digits as they were meant,")
    print(f"               and {accuracy(reader, drawn, torch.arange(10).repeat(30)):.1%} of the drawn ones")


if __name__ == "__main__":
    main()
