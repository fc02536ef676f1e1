"""Digits through a gate of eight numbers, and back. `python examples/autoencoder.py`

The best that straight lines can do is known: keep the eight directions in which the pictures differ most. A network that may bend
leaves half of that error.
"""

import time

from digits import data, draw

import tensorlab as torch
from tensorlab import nn
from tensorlab.nn import functional as F


class Autoencoder(nn.Module):
    def __init__(self, code=8, width=128):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Flatten(), nn.Linear(64, width), nn.SiLU(), nn.Linear(width, width), nn.SiLU(), nn.Linear(width, code)
        )
        self.decoder = nn.Sequential(
            nn.Linear(code, width),
            nn.SiLU(),
            nn.Linear(width, width),
            nn.SiLU(),
            nn.Linear(width, 64),
            nn.Unflatten(1, (1, 8, 8)),
        )

    def forward(self, x):
        return self.decoder(self.encoder(x))


def straight(images, unseen, code):
    """The squared error of the best straight map through so many numbers, found from `images`, on `unseen`."""
    mean = images.flatten(1).mean(0)
    _, _, directions = torch.linalg.svd(images.flatten(1) - mean, full_matrices=False)
    kept = directions[:code]
    x = unseen.flatten(1) - mean
    return F.mse_loss(x @ kept.T @ kept, x).item()


def train(model, images, epochs=100, batch=64, lr=3e-3, say=print):
    """Train, and give back the loss of every step."""
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    losses = []
    for epoch in range(epochs):
        for at in torch.randperm(len(images)).split(batch):
            loss = F.mse_loss(model(images[at]), images[at])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        schedule.step()
        if epoch % 20 == 19:
            say(f"epoch {epoch + 1:3}: squared error {losses[-1]:.4f}")
    return losses


def main():
    images, _, unseen, _ = data()
    model = Autoencoder()
    began = time.perf_counter()
    train(model, images)
    seconds = time.perf_counter() - began
    with torch.no_grad():
        back = model(unseen)
    print(f"squared error on unseen digits: {F.mse_loss(back, unseen):.4f}, {seconds:.1f} s")
    print(f"            with straight lines: {straight(images, unseen, 8):.4f}\n")
    draw(unseen[:6])
    draw(back[:6])


if __name__ == "__main__":
    main()
