"""ResNet-18 and -34, layer for layer as they are known, with the names of their published weights. `python examples/resnet.py`

After He, Zhang, Ren and Sun, "Deep Residual Learning for Image Recognition", 2015. `load_state_dict(tensorlab.load(path))` takes
a file of weights that PyTorch wrote.
"""

import time

import tensorlab as torch
from tensorlab import nn


class BasicBlock(nn.Module):
    def __init__(self, inside, width, stride=1):
        super().__init__()
        self.conv1 = nn.Conv2d(inside, width, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.downsample = None
        if stride != 1 or inside != width:
            self.downsample = nn.Sequential(nn.Conv2d(inside, width, 1, stride, bias=False), nn.BatchNorm2d(width))

    def forward(self, x):
        straight = x if self.downsample is None else self.downsample(x)
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += straight
        return self.relu(out)


class ResNet(nn.Module):
    def __init__(self, depths, classes=1000, width=64):
        super().__init__()
        self.conv1 = nn.Conv2d(3, width, 7, 2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, padding=1)
        inside = width
        for i, depth in enumerate(depths):
            outside = width * 2**i
            first = BasicBlock(inside, outside, stride=1 if i == 0 else 2)
            rest = [BasicBlock(outside, outside) for _ in range(depth - 1)]
            setattr(self, f"layer{i + 1}", nn.Sequential(first, *rest))
            inside = outside
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(inside, classes)
        for m in self.modules():
            if isinstance(m, nn.Conv2d):
                nn.init.kaiming_normal_(m.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(torch.flatten(self.avgpool(x), 1))


def resnet18(**options):
    return ResNet([2, 2, 2, 2], **options)


def resnet34(**options):
    return ResNet([3, 4, 6, 3], **options)


def main():
    torch.manual_seed(0)
    model = resnet18().eval()
    x = torch.randn(4, 3, 224, 224)
    with torch.no_grad():
        model(x)
        began = time.perf_counter()
        scores = model(x)
    seconds = (time.perf_counter() - began) / len(x)
    count = sum(p.numel() for p in model.parameters())
    print(f"{count:,} parameters, scores {list(scores.shape)}, {1000 * seconds:.0f} ms a picture of 224 x 224")


if __name__ == "__main__":
    main()
