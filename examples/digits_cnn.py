"""Handwritten digits with a convolutional network. `python examples/digits_cnn.py`

Two blocks of convolution, batch norm and pooling. Each picture is shown shifted by up to one pixel, and what is tested at the end
is an average of the weights over the last steps. It comes to read 99% of the digits that it has not seen.
"""

import time

from digits import accuracy, data, shifted

import tensorlab as torch
from tensorlab import nn
from tensorlab.nn import functional as F
from tensorlab.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn


class Network(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, width, 3, padding=1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Conv2d(width, 2 * width, 3, padding=1, bias=False),
            nn.BatchNorm2d(2 * width),
            nn.ReLU(),
            nn.MaxPool2d(2),
        )
        self.scores = nn.Linear(2 * width * 2 * 2, 10)

    def forward(self, x):
        return self.scores(self.features(x).flatten(1))


def train(model, images, labels, epochs=15, batch=64, lr=0.1, say=print):
    """Train. Gives back the loss of every step, and an average of the model's states."""
    steps = -(-len(images) // batch) * epochs
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9, nesterov=True, weight_decay=5e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=lr, total_steps=steps)
    average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.98), use_buffers=True)
    losses = []
    for epoch in range(epochs):
        for at in torch.randperm(len(images)).split(batch):
            loss = F.cross_entropy(model(shifted(images[at])), labels[at], label_smoothing=0.05)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
            average.update_parameters(model)
            losses.append(loss.item())
        say(f"epoch {epoch + 1:2}: loss {losses[-1]:.3f}")
    return losses, average


def main():
    images, labels, unseen, wanted = data()
    model = Network()
    began = time.perf_counter()
    _, average = train(model, images, labels)
    seconds = time.perf_counter() - began
    print(f"{accuracy(average, unseen, wanted):.1%} of {len(unseen)} unseen digits are right, after {seconds:.1f} s")


if __name__ == "__main__":
    main()
