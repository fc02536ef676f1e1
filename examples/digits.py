"""The 1,797 handwritten digits of 8 x 8 pixels that come with scikit-learn, for the examples beside this file."""

from sklearn.datasets import load_digits

import tensorlab as torch
from tensorlab.nn import functional as F


def data(seed=0):
    """Pictures `[N, 1, 8, 8]` between 0 and 1 with their labels: three quarters to train with, and the others to test with."""
    digits = load_digits()
    images = torch.tensor(digits.images, dtype=torch.float32).unsqueeze(1) / 16
    labels = torch.tensor(digits.target, dtype=torch.int64)
    torch.manual_seed(seed)
    order = torch.randperm(len(images))
    train, test = order[:1347], order[1347:]
    return images[train], labels[train], images[test], labels[test]


def shifted(images):
    """Every picture moved by -1, 0 or 1 pixel in each direction."""
    padded = F.pad(images, (1, 1, 1, 1))
    rows, columns = torch.randint(0, 3, (2, len(images), 1))
    at = torch.arange(8)
    each = torch.arange(len(images)).view(-1, 1, 1)
    return padded[each, 0, (rows + at).unsqueeze(2), (columns + at).unsqueeze(1)].unsqueeze(1)


def accuracy(model, images, labels):
    """Which part of the pictures the model reads as they were meant."""
    model.eval()
    with torch.no_grad():
        right = (model(images).argmax(1) == labels).float().mean().item()
    model.train()
    return right


def draw(images):
    """Pictures side by side, in letters."""
    for rows in zip(*[image.view(8, 8).clamp(0, 1).tolist() for image in images], strict=True):
        print("   ".join("".join(" ░▒▓█"[round(4 * value)] * 2 for value in row) for row in rows))
