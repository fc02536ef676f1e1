"""Pictures: classifiers, what they look at, adversaries, style, segmentation, generation."""

from __future__ import annotations

import copy
from typing import Any

from tests.parity.people import Given, program


def small_network(torch: Any, given: Given, channels: int = 1) -> Any:
    nn = torch.nn

    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv1, self.conv2 = nn.Conv2d(channels, 6, 3, 1), nn.Conv2d(6, 8, kernel_size=3, padding="same")
            self.bn, self.pool = nn.BatchNorm2d(8), nn.MaxPool2d(2)
            self.fc1, self.fc2 = nn.Linear(8 * 5 * 5, 16), nn.Linear(16, 10)
            self.dropout = nn.Dropout(0.0)

        def forward(self, x: Any) -> Any:
            x = torch.nn.functional.relu(self.conv1(x), inplace=True)
            x = self.pool(torch.nn.functional.relu(self.bn(self.conv2(x))))
            x = torch.flatten(x, 1)
            x = self.dropout(torch.nn.functional.relu(self.fc1(x)))
            return torch.nn.functional.log_softmax(self.fc2(x), dim=1)

    return given.fill(Net())


def pictures(given: Given, count: int = 8, channels: int = 1) -> Any:
    return given.uniform(count, channels, 12, 12), given.whole(10, count)


@program
def a_classifier_of_digits(torch: Any, given: Given) -> Any:
    F, model = torch.nn.functional, small_network(torch, given)
    x, y = pictures(given, 24)
    dataset = torch.utils.data.TensorDataset(x, y)
    loader = torch.utils.data.DataLoader(dataset, batch_size=8, shuffle=False, drop_last=True)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.7)
    shown = []
    for epoch in range(3):
        model.train()
        for batch, (data, target) in enumerate(loader):
            optimizer.zero_grad()
            output = model(data)
            loss = F.nll_loss(output, target)
            loss.backward()
            optimizer.step()
            if batch % 2 == 0:
                shown.append(f"epoch {epoch} [{batch * len(data)}/{len(loader.dataset)}] loss: {loss.item():.1f}")
        model.eval()
        test_loss, correct = 0, 0
        with torch.no_grad():
            for data, target in loader:
                output = model(data)
                test_loss += F.nll_loss(output, target, reduction="sum").item()
                pred = output.argmax(dim=1, keepdim=True)
                correct += pred.eq(target.view_as(pred)).sum().item()
        schedule.step()
        shown += [test_loss / len(loader.dataset), correct, optimizer.param_groups[0]["lr"]]
    return shown, model.bn.running_mean, model.bn.num_batches_tracked, model.state_dict()["fc2.bias"]


@program
def where_a_classifier_looks(torch: Any, given: Given) -> Any:
    """The regions that speak for a class, from hooks; and three other maps."""
    model, F = small_network(torch, given).eval(), torch.nn.functional
    seen: dict[str, Any] = {}
    handles = [
        model.conv2.register_forward_hook(lambda module, args, output: seen.update(activation=output)),
        model.conv2.register_full_backward_hook(
            lambda module, gi, go: seen.update(gradient=go[0].detach(), inputs=gi[0])
        ),
        model.pool.register_forward_pre_hook(lambda module, args: seen.update(before=args[0].shape)),
    ]
    x, _ = pictures(given, 2)
    x.requires_grad_()
    logits = model(x)
    picked = logits.gather(1, logits.argmax(1, keepdim=True)).sum()
    model.zero_grad()
    picked.backward()
    weights = seen["gradient"].mean(dim=(2, 3), keepdim=True)
    cam = F.relu((weights * seen["activation"]).sum(1, keepdim=True))
    cam = F.interpolate(cam, size=x.shape[2:], mode="bilinear", align_corners=False)
    low, high = cam.amin((1, 2, 3), keepdim=True), cam.amax((1, 2, 3), keepdim=True)
    cam = ((cam - low) / (high - low + 1e-8)).detach()
    for handle in handles:
        handle.remove()
    saliency = x.grad.abs().max(dim=1).values
    path = torch.zeros_like(x)
    for alpha in torch.linspace(0, 1, 5):
        at = (alpha * x.detach()).requires_grad_(True)
        (slope,) = torch.autograd.grad(model(at)[:, 3].sum(), at)
        path += slope / 5
    hidden = []
    with torch.no_grad():
        for i in range(0, 12, 4):
            covered = x.detach().clone()
            covered[:, :, i : i + 4, i : i + 4] = 0.5
            hidden.append(model(covered)[:, 3])
    return cam, saliency, path * x, torch.stack(hidden), sorted(seen), seen["before"], seen["inputs"]


@program
def a_picture_changed_to_deceive(torch: Any, given: Given) -> Any:
    model, F = small_network(torch, given).eval(), torch.nn.functional
    x, y = pictures(given)
    x.requires_grad = True
    F.nll_loss(model(x), y).backward()
    fast = torch.clamp(x + 0.1 * x.grad.data.sign(), 0, 1)
    original, slow = x.detach(), x.detach().clone()
    for _ in range(3):
        slow.requires_grad_(True)
        loss = F.nll_loss(model(slow), y)
        grad = torch.autograd.grad(loss, [slow])[0]
        slow = slow.detach() + 0.04 * torch.sign(grad.detach())
        slow = torch.min(torch.max(slow, original - 0.1), original + 0.1)
        slow = torch.clamp(slow, 0.0, 1.0)
    return model(fast), model(slow), (fast != original).sum()


@program
def one_picture_in_the_style_of_another(torch: Any, given: Given) -> Any:
    nn, F = torch.nn, torch.nn.functional

    class Normalization(nn.Module):
        def __init__(self, mean: Any, std: Any) -> None:
            super().__init__()
            self.mean, self.std = mean.clone().detach().view(-1, 1, 1), std.clone().detach().view(-1, 1, 1)

        def forward(self, img: Any) -> Any:
            return (img - self.mean) / self.std

    features = given.fill(
        nn.Sequential(
            nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.AvgPool2d(2), nn.Conv2d(4, 6, 3, padding=1), nn.ReLU()
        )
    )
    features.requires_grad_(False).eval()
    norm = Normalization(torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225]))

    def maps(x: Any) -> list:
        x, kept = norm(x), []
        for layer in features:
            x = layer(x)
            if isinstance(layer, nn.ReLU):
                kept.append(x)
        return kept

    def gram(x: Any) -> Any:
        a, b, c, d = x.size()
        flat = x.view(a * b, c * d)
        return torch.mm(flat, flat.t()).div(a * b * c * d)

    content, style = given.uniform(1, 3, 8, 8), given.uniform(1, 3, 8, 8)
    grams, wanted = [gram(each).detach() for each in maps(style)], maps(content)[-1].detach()
    picture = content.clone().requires_grad_(True)
    optimizer, run, losses = torch.optim.LBFGS([picture], max_iter=4), [0], []
    while run[0] <= 12:

        def closure() -> Any:
            with torch.no_grad():
                picture.clamp_(0, 1)
            optimizer.zero_grad()
            found = maps(picture)
            style_score = sum(F.mse_loss(gram(f), g) for f, g in zip(found, grams, strict=True)) * 1e3
            loss = style_score + F.mse_loss(found[-1], wanted)
            loss.backward()
            run[0] += 1
            losses.append(loss.item())
            return loss

        optimizer.step(closure)
    with torch.no_grad():
        picture.clamp_(0, 1)
    return losses[:8], len(losses) > 8, losses[-1] < losses[0], all(p.grad is None for p in features.parameters())


@program
def a_forger_and_a_judge(torch: Any, given: Given) -> Any:
    nn = torch.nn
    g = nn.Sequential(
        nn.ConvTranspose2d(5, 8, 3, 1, 0, bias=False),
        nn.BatchNorm2d(8),
        nn.ReLU(True),
        nn.ConvTranspose2d(8, 1, 4, 2, 1, bias=False),
        nn.Tanh(),
    )
    d = nn.Sequential(
        nn.Conv2d(1, 8, 4, 2, 1, bias=False),
        nn.LeakyReLU(0.2, inplace=True),
        nn.Conv2d(8, 1, 3, 1, 0, bias=False),
        nn.Sigmoid(),
    )

    def begin(m: Any) -> None:
        name = m.__class__.__name__
        if name.find("Conv") != -1:
            m.weight.data.copy_(given(*m.weight.shape, scale=0.2))
        elif name.find("BatchNorm") != -1:
            m.weight.data.copy_(1 + given(*m.weight.shape, scale=0.02))
            nn.init.constant_(m.bias.data, 0)

    g.apply(begin), d.apply(begin)
    criterion, losses = nn.BCELoss(), []
    od = torch.optim.Adam(d.parameters(), lr=2e-3, betas=(0.5, 0.999))
    og = torch.optim.Adam(g.parameters(), lr=2e-3, betas=(0.5, 0.999))
    for _ in range(5):
        real, noise = given.uniform(4, 1, 6, 6, low=-1), given(4, 5, 1, 1)
        d.zero_grad()
        label = torch.full((4,), 1.0, dtype=torch.float)
        output = d(real).view(-1)
        err_real = criterion(output, label)
        err_real.backward()
        fake = g(noise)
        label.fill_(0.0)
        output = d(fake.detach()).view(-1)
        err_fake = criterion(output, label)
        err_fake.backward()
        od.step()
        g.zero_grad()
        label.fill_(1.0)
        err_g = criterion(d(fake).view(-1), label)
        err_g.backward()
        og.step()
        losses.append([(err_real + err_fake).item(), err_g.item(), output.mean().item()])
    return losses, g(given(1, 5, 1, 1)), d[0].weight


@program
def a_judge_whose_slope_is_one(torch: Any, given: Given) -> Any:
    nn = torch.nn
    critic = nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.InstanceNorm2d(4, affine=True), nn.LeakyReLU(0.2), nn.Flatten(), nn.Linear(64, 1)
    )
    forger = nn.Sequential(nn.Linear(3, 36), nn.Unflatten(1, (1, 6, 6)), nn.Tanh())
    given.fill(critic), given.fill(forger)
    oc = torch.optim.Adam(critic.parameters(), lr=1e-2, betas=(0.0, 0.9))
    of = torch.optim.Adam(forger.parameters(), lr=1e-2, betas=(0.0, 0.9))
    shown = []
    for step in range(5):
        real, fake, eps = given(4, 1, 6, 6), forger(given(4, 3)), given.uniform(4, 1, 1, 1)
        mixed = (eps * real + (1 - eps) * fake.detach()).requires_grad_(True)
        scores = critic(mixed)
        gradients = torch.autograd.grad(
            outputs=scores,
            inputs=mixed,
            grad_outputs=torch.ones_like(scores),
            create_graph=True,
            retain_graph=True,
            only_inputs=True,
        )[0]
        penalty = ((gradients.view(gradients.size(0), -1).norm(2, dim=1) - 1) ** 2).mean()
        loss = critic(fake.detach()).mean() - critic(real).mean() + 10 * penalty
        oc.zero_grad()
        loss.backward()
        oc.step()
        shown.append([loss, penalty])
        if step % 2:
            for p in critic.parameters():
                p.requires_grad = False
            of.zero_grad()
            (-critic(fake).mean()).backward()
            of.step()
            for p in critic.parameters():
                p.requires_grad = True
    return shown, [p.grad.norm() for p in critic.parameters()], forger[0].bias


@program
def which_pixel_belongs_to_what(torch: Any, given: Given) -> Any:
    nn, F = torch.nn, torch.nn.functional

    class UNet(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.down1, self.down2 = self.twice(1, 4), self.twice(4, 8)
            self.up, self.mix, self.head = nn.ConvTranspose2d(8, 4, 2, stride=2), self.twice(8, 4), nn.Conv2d(4, 2, 1)

        @staticmethod
        def twice(i: int, o: int) -> Any:
            return nn.Sequential(
                nn.Conv2d(i, o, 3, padding=1),
                nn.GroupNorm(2, o),
                nn.SiLU(),
                nn.Conv2d(o, o, 3, padding=1, padding_mode="reflect"),
                nn.ReLU(inplace=True),
            )

        def forward(self, x: Any) -> Any:
            a = self.down1(x)
            b = self.up(self.down2(F.max_pool2d(a, 2)))
            dy, dx = a.size(2) - b.size(2), a.size(3) - b.size(3)
            b = F.pad(b, [dx // 2, dx - dx // 2, dy // 2, dy - dy // 2])
            return self.head(self.mix(torch.cat([a, b], dim=1)))

    model, losses = given.fill(UNet()), []
    x = given(2, 1, 9, 7)
    y = (x[:, 0] > 0).long()
    optimizer = torch.optim.NAdam(model.parameters(), lr=0.02)
    plan = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=0.05, total_steps=6)
    for _ in range(5):
        logits = model(x)
        p = logits.softmax(1)[:, 1]
        dice = 1 - (2 * (p * y).sum() + 1) / (p.sum() + y.sum() + 1)
        loss = F.cross_entropy(logits, y, weight=torch.tensor([0.3, 0.7])) + dice
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        plan.step()
        losses.append(loss)
    mask = logits.argmax(1).bool()
    union = (mask | y.bool()).sum().item()
    return losses, (mask & y.bool()).sum().item() / union, model.up.weight.grad


@program
def noise_taken_away_step_by_step(torch: Any, given: Given) -> Any:
    nn, F = torch.nn, torch.nn.functional
    steps = 10
    betas = torch.linspace(1e-4, 0.2, steps)
    alphas = 1.0 - betas
    bar = torch.cumprod(alphas, dim=0)
    previous = F.pad(bar[:-1], (1, 0), value=1.0)
    posterior = betas * (1.0 - previous) / (1.0 - bar)

    def extract(a: Any, t: Any, shape: Any) -> Any:
        return a.gather(-1, t).reshape(t.shape[0], *((1,) * (len(shape) - 1)))

    class Eps(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.time = nn.Sequential(nn.Linear(8, 12), nn.GELU(), nn.Linear(12, 12))
            self.inp, self.out = nn.Conv2d(1, 12, 3, padding=1), nn.Conv2d(12, 1, 3, padding=1)

        def forward(self, x: Any, t: Any) -> Any:
            half = torch.exp(torch.arange(4) * -(torch.log(torch.tensor(10000.0)) / 3))
            e = t[:, None] * half[None, :]
            e = self.time(torch.cat((e.sin(), e.cos()), dim=-1))
            return self.out(F.silu(self.inp(x) + e[..., None, None]))

    model, losses = given.fill(Eps()), []
    average = torch.optim.swa_utils.AveragedModel(model, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(0.9))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(4):
        x, noise, t = given.uniform(4, 1, 6, 6, low=-1), given(4, 1, 6, 6), given.whole(steps, 4)
        noisy = extract(bar.sqrt(), t, x.shape) * x + extract((1 - bar).sqrt(), t, x.shape) * noise
        loss = F.smooth_l1_loss(model(noisy, t), noise)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        average.update_parameters(model)
        losses.append(loss)
    with torch.inference_mode():
        img = given(2, 1, 6, 6)
        for i in reversed(range(steps)):
            t = torch.full((2,), i, dtype=torch.long)
            mean = alphas[i] ** -0.5 * (img - betas[i] / torch.sqrt(1 - bar[i]) * average(img, t))
            img = mean if i == 0 else mean + torch.sqrt(posterior[i]) * given(2, 1, 6, 6)
    return losses, img, average.n_averaged, posterior


@program
def pictures_through_a_narrow_gate(torch: Any, given: Given) -> Any:
    """A variational autoencoder, and one with a book of codes that gradients skip."""
    nn, F = torch.nn, torch.nn.functional
    enc, mu, logvar, dec = (
        nn.Linear(16, 12),
        nn.Linear(12, 3),
        nn.Linear(12, 3),
        nn.Sequential(nn.Linear(3, 12), nn.ReLU(), nn.Linear(12, 16)),
    )
    book = nn.Embedding(6, 3)
    book.weight.data.copy_(given(6, 3))
    everything = nn.ModuleList([enc, mu, logvar, dec])
    given.fill(everything)
    optimizer, shown = torch.optim.Adam([*everything.parameters(), book.weight], lr=1e-2), []
    for _ in range(5):
        x, eps = given.uniform(5, 16), given(5, 3)
        h = F.relu(enc(x))
        m, lv = mu(h), logvar(h)
        z = m + eps * torch.exp(0.5 * lv)
        bce = F.binary_cross_entropy(torch.sigmoid(dec(z)), x, reduction="sum")
        kld = -0.5 * torch.sum(1 + lv - m.pow(2) - lv.exp())
        distance = (m**2).sum(1, keepdim=True) - 2 * m @ book.weight.t() + (book.weight**2).sum(1)
        code = distance.argmin(1)
        quantized = book(code)
        commitment = F.mse_loss(quantized.detach(), m) * 0.25 + F.mse_loss(quantized, m.detach())
        through = m + (quantized - m).detach()
        loss = bce + kld + commitment + F.mse_loss(dec(through), x)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        usage = torch.bincount(code, minlength=6).float() / 5
        shown.append(
            [bce.item(), kld.item(), commitment.item(), torch.exp(-(usage * torch.log(usage + 1e-10)).sum()).item()]
        )
    return shown, code, book.weight.grad, mu.weight.grad


@program
def pictures_that_are_alike(torch: Any, given: Given) -> Any:
    """Contrastive pairs, triplets, a slow copy of the encoder, and a small network taught by a large one."""
    nn, F = torch.nn, torch.nn.functional
    encoder = given.fill(nn.Sequential(nn.Flatten(), nn.Linear(16, 12), nn.ReLU(), nn.Linear(12, 6)))
    slow = copy.deepcopy(encoder)
    for p in slow.parameters():
        p.requires_grad_(False)
    small = given.fill(nn.Sequential(nn.Flatten(), nn.Linear(16, 6)))
    optimizer, shown = torch.optim.SGD([*encoder.parameters(), *small.parameters()], lr=0.1), []
    for _ in range(5):
        x = given(4, 1, 4, 4)
        a, b = encoder(x + given(4, 1, 4, 4, scale=0.1)), encoder(x + given(4, 1, 4, 4, scale=0.1))
        z = F.normalize(torch.cat([a, b]), dim=-1)
        logits = (z @ z.t() / 0.5).masked_fill(torch.eye(8, dtype=torch.bool), float("-inf"))
        pairs = F.cross_entropy(logits, torch.arange(8).roll(4))
        triplet = F.triplet_margin_loss(a, b, a.roll(1, 0).detach(), margin=1.0)
        with torch.no_grad():
            teacher = slow(x)
        temperature = 2.0
        taught = (
            F.kl_div(
                F.log_softmax(small(x) / temperature, 1), F.softmax(teacher / temperature, 1), reduction="batchmean"
            )
            * temperature**2
        )
        byol = 2 - 2 * F.cosine_similarity(a, teacher, dim=-1).mean()
        loss = pairs + triplet + taught + byol
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with torch.no_grad():
            for kept, new in zip(slow.parameters(), encoder.parameters(), strict=True):
                kept.mul_(0.9).add_(new, alpha=0.1)
            for kept, new in zip(slow.buffers(), encoder.buffers(), strict=True):
                kept.copy_(new)
        shown.append([pairs, triplet, taught, byol])
    return shown, list(slow.parameters()), {k: tuple(v.shape) for k, v in small.state_dict().items()}


@program
def residual_blocks_and_attention_to_channels(torch: Any, given: Given) -> Any:
    nn = torch.nn

    class Block(nn.Module):
        expansion = 2

        def __init__(self, width: int, stride: int = 1, down: Any = None) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(4, width, 3, stride, 1, bias=False)
            self.bn1, self.relu = nn.BatchNorm2d(width), nn.ReLU(inplace=True)
            self.conv2 = nn.Conv2d(width, width, 3, 1, 1, groups=width, bias=False)
            self.bn2, self.downsample = nn.BatchNorm2d(width), down
            self.squeeze = nn.Sequential(
                nn.AdaptiveAvgPool2d(1), nn.Conv2d(width, 2, 1), nn.ReLU6(), nn.Conv2d(2, width, 1), nn.Hardsigmoid()
            )

        def forward(self, x: Any) -> Any:
            identity = x if self.downsample is None else self.downsample(x)
            out = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
            out = out * self.squeeze(out)
            out += identity
            return self.relu(out)

    model = given.fill(
        nn.Sequential(
            Block(4),
            Block(8, 2, nn.Sequential(nn.Conv2d(4, 8, 1, 2), nn.BatchNorm2d(8))),
            nn.AdaptiveAvgPool2d((1, 1)),
            nn.Flatten(),
            nn.Linear(8, 3),
        )
    )
    optimizer, shown = torch.optim.RMSprop(model.parameters(), lr=1e-3, momentum=0.9, alpha=0.9, centered=True), []
    for _ in range(4):
        x, y = given(4, 4, 7, 7).to(memory_format=torch.channels_last), given.whole(3, 4)
        mix = 0.3 * x + 0.7 * x[torch.tensor([2, 3, 0, 1])]
        out = model(mix)
        loss = 0.3 * nn.functional.cross_entropy(out, y) + 0.7 * nn.functional.cross_entropy(out, y.roll(2))
        pt = torch.exp(-nn.functional.cross_entropy(out, y, reduction="none"))
        loss = loss + (0.25 * (1 - pt) ** 2 * -pt.log()).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        shown.append(loss)
    model.eval()
    return shown, model(given(2, 4, 7, 7)), [name for name, _ in model.named_buffers()], model[1].bn2.running_var
