"""What a memory is good for: add two numbers that stood far apart in a sequence. `python examples/adding.py`

A sequence holds numbers between 0 and 1, two of them marked. An LSTM reads it from start to end and must give their sum. Always
answering 1 has a squared error of 1/6; less can only be had by remembering. After Hochreiter and Schmidhuber, "Long Short-Term
Memory", 1997.
"""

import time

import tensorlab as torch
from tensorlab import nn
from tensorlab.nn import functional as F


def sequences(count, length):
    """Sequences `[length, count, 2]` of numbers and marks, and the sums `[count]`."""
    numbers = torch.rand(length, count)
    first = torch.randint(0, length // 2, (count,))
    second = torch.randint(length // 2, length, (count,))
    marks = F.one_hot(first, length) + F.one_hot(second, length)
    x = torch.stack([numbers, marks.t().to(numbers.dtype)], dim=2)
    return x, x.prod(dim=2).sum(dim=0)


class Adder(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.memory, self.answer = nn.LSTM(2, width), nn.Linear(width, 1)

    def forward(self, x):
        _, (last, _) = self.memory(x)
        return self.answer(last[-1]).squeeze(1)


def train(model, steps=1200, length=30, batch=64, lr=5e-3, say=print):
    """Train, and give back the loss of every step."""
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    losses = []
    for step in range(steps):
        x, wanted = sequences(batch, length)
        loss = F.mse_loss(model(x), wanted)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
        losses.append(loss.item())
        if step % 200 == 199:
            say(f"step {step + 1:4}: squared error {sum(losses[-50:]) / 50:.4f}")
    return losses


def main():
    torch.manual_seed(0)
    model = Adder()
    began = time.perf_counter()
    train(model)
    seconds = time.perf_counter() - began
    x, wanted = sequences(1000, 30)
    with torch.no_grad():
        error = F.mse_loss(model(x), wanted).item()
    print(
        f"squared error {error:.4f} on new sequences (answering 1: {(wanted - 1).square().mean():.4f}), {seconds:.0f} s"
    )


if __name__ == "__main__":
    main()
