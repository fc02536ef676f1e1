"""Numbers about the world: differential equations, uncertainty, factors, graphs, spectra, derivatives of all kinds."""

from __future__ import annotations

import math
from typing import Any

from tests.parity.people import Given, program


@program
def nets_of_single_neurons(torch: Any, given: Given) -> Any:
    class Module:
        def zero_grad(self) -> None:
            for p in self.parameters():
                p.grad = torch.zeros_like(p)

        def parameters(self) -> list:
            return []

    class Neuron(Module):
        def __init__(self, nin: int, nonlin: bool = True) -> None:
            self.w = [torch.tensor(v, requires_grad=True) for v in given.uniform(nin, low=-1).tolist()]
            self.b, self.nonlin = torch.tensor(0.0, requires_grad=True), nonlin

        def __call__(self, x: Any) -> Any:
            act = sum((wi * xi for wi, xi in zip(self.w, x, strict=True)), self.b)
            return act.relu() if self.nonlin else act

        def parameters(self) -> list:
            return [*self.w, self.b]

    class Layer(Module):
        def __init__(self, nin: int, nout: int, **kwargs: Any) -> None:
            self.neurons = [Neuron(nin, **kwargs) for _ in range(nout)]

        def __call__(self, x: Any) -> Any:
            out = [n(x) for n in self.neurons]
            return out[0] if len(out) == 1 else out

        def parameters(self) -> list:
            return [p for n in self.neurons for p in n.parameters()]

    layers = [Layer(2, 4), Layer(4, 1, nonlin=False)]
    parameters = [p for layer in layers for p in layer.parameters()]
    points, wanted, shown = given(8, 2).tolist(), [1, -1] * 4, []
    for k in range(4):
        scores = []
        for point in points:
            out = point
            for layer in layers:
                out = layer(out)
            scores.append(out)
        losses = [(1 + -yi * s).relu() for yi, s in zip(wanted, scores, strict=True)]
        loss = sum(losses) * (1.0 / len(losses)) + 1e-4 * sum(p * p for p in parameters)
        for layer in layers:
            layer.zero_grad()
        loss.backward()
        for p in parameters:
            p.data -= (1.0 - 0.9 * k / 100) * 0.1 * p.grad
        right = sum((yi > 0) == (s.item() > 0) for yi, s in zip(wanted, scores, strict=True))
        shown.append((loss.data.item(), right))
    a, b = torch.tensor(-4.0, requires_grad=True), torch.tensor(2.0, requires_grad=True)
    c, d = a + b, a * b + b**3
    c = c + c + 1
    c = c + 1 + c + (-a)
    d = d + d * 2 + (b + a).relu()
    d = d + 3 * d + (b - a).relu()
    e = c - d
    f = e**2
    g = f / 2.0
    g = g + 10.0 / f
    g.backward()
    return shown, [p.grad for p in parameters], g, a.grad, b.grad


@program
def a_rod_that_obeys_its_equation(torch: Any, given: Given) -> Any:
    """u'' = -sin(x) at points inside, u = 0 at the ends; first with Adam, then with LBFGS."""
    nn, grad = torch.nn, torch.autograd.grad
    net = given.fill(nn.Sequential(nn.Linear(1, 10), nn.Tanh(), nn.Linear(10, 10), nn.Tanh(), nn.Linear(10, 1)))
    inside = torch.linspace(0, math.pi, 12).view(-1, 1).requires_grad_(True)
    ends, zero = torch.tensor([[0.0], [math.pi]]), torch.zeros(2, 1)

    def objective() -> Any:
        u = net(inside)
        du = grad(u, inside, torch.ones_like(u), create_graph=True)[0]
        ddu = grad(du, inside, grad_outputs=torch.ones_like(du), retain_graph=True, create_graph=True)[0]
        return (ddu + torch.sin(inside)).pow(2).mean() + nn.functional.mse_loss(net(ends), zero)

    adam, shown = torch.optim.Adam(net.parameters(), lr=1e-2), []
    for _ in range(10):
        adam.zero_grad()
        loss = objective()
        loss.backward()
        adam.step()
        shown.append(loss.item())
    lbfgs = torch.optim.LBFGS(net.parameters(), lr=0.5, max_iter=5, line_search_fn="strong_wolfe")

    def closure() -> Any:
        lbfgs.zero_grad()
        loss = objective()
        loss.backward()
        return loss

    shown.append(lbfgs.step(closure).item())
    return shown, closure().item() < shown[0]


@program
def paths_through_a_learned_field(torch: Any, given: Given) -> Any:
    nn = torch.nn
    field = given.fill(nn.Sequential(nn.Linear(2, 12), nn.Tanh(), nn.Linear(12, 2)))
    spiral = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]])
    truth, times = [torch.tensor([[2.0, 0.0]])], torch.linspace(0.0, 0.5, 6)
    for h in (times[1:] - times[:-1]).tolist():
        truth.append(truth[-1] + h * (truth[-1] ** 3 @ spiral))
    truth = torch.stack(truth)
    optimizer, shown = torch.optim.RMSprop(field.parameters(), lr=1e-2), []
    for i in range(5):
        y = truth[0]
        path = [y]
        for h in times.diff():
            if i % 2:
                y = y + h * field(y**3)
            else:
                k1 = field(y**3)
                k2 = field((y + h / 2 * k1) ** 3)
                k3 = field((y + h / 2 * k2) ** 3)
                k4 = field((y + h * k3) ** 3)
                y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
            path.append(y)
        loss = torch.mean(torch.abs(torch.stack(path) - truth))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        shown.append(loss)
    return shown, torch.stack(path).squeeze(1), field[0].weight.grad


@program
def a_process_of_gauss(torch: Any, given: Given) -> Any:
    x = torch.linspace(-2, 2, 10)
    y = torch.sin(2 * x) + given(10, scale=0.1)
    logs = torch.zeros(3, requires_grad=True)

    def kernel(a: Any, b: Any, length: Any, height: Any) -> Any:
        return height**2 * torch.exp(-0.5 * (a.unsqueeze(1) - b.unsqueeze(0)).pow(2) / length**2)

    optimizer, shown = torch.optim.Adam([logs], lr=0.1), []
    for _ in range(10):
        length, height, noise = logs.exp().unbind()
        k = kernel(x, x, length, height) + (noise**2 + 1e-6) * torch.eye(10)
        lower = torch.linalg.cholesky(k)
        alpha = torch.cholesky_solve(y.unsqueeze(1), lower)
        loss = 0.5 * y @ alpha.squeeze(1) + lower.diagonal().log().sum() + 5 * math.log(2 * math.pi)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        shown.append(loss)
    with torch.no_grad():
        query = torch.tensor([-1.5, 0.3, 2.5])
        across = kernel(query, x, length, height)
        mean = across @ alpha
        v = torch.linalg.solve_triangular(lower, across.T, upper=False)
        cov = kernel(query, query, length, height) - v.T @ v
    return shown, mean, cov.diag().sqrt(), torch.logdet(k), torch.linalg.slogdet(k), logs


@program
def who_likes_what(torch: Any, given: Given) -> Any:
    nn = torch.nn

    class Factors(nn.Module):
        def __init__(self, users: int, items: int, k: int = 3) -> None:
            super().__init__()
            self.user, self.item = nn.Embedding(users, k), nn.Embedding(items, k)
            self.user_bias, self.item_bias = nn.Embedding(users, 1), nn.Embedding(items, 1)
            self.offset = nn.Parameter(torch.tensor([2.5]))
            for table in (self.user_bias, self.item_bias):
                nn.init.zeros_(table.weight)

        def forward(self, u: Any, i: Any) -> Any:
            dot = (self.user(u) * self.item(i)).sum(1)
            return dot + self.user_bias(u).squeeze() + self.item_bias(i).squeeze() + self.offset

    model = Factors(6, 8)
    with torch.no_grad():
        model.user.weight.copy_(given(6, 3)), model.item.weight.copy_(given(8, 3))
    u, i, r = given.whole(6, 30), given.whole(8, 30), given.uniform(30, low=1, high=5)
    optimizer, shown = torch.optim.Adam(model.parameters(), lr=0.05, weight_decay=1e-3), []
    for _ in range(8):
        for batch in torch.utils.data.DataLoader(torch.utils.data.TensorDataset(u, i, r), batch_size=12):
            loss = nn.MSELoss()(model(*batch[:2]), batch[2])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        shown.append(loss.item() ** 0.5)
    table = torch.zeros(6, 8).index_put((u, i), r, accumulate=True)
    s, values = torch.linalg.svd(table, full_matrices=False)[0].abs(), torch.linalg.svdvals(table)
    return shown, table, values, s[:, 0], torch.topk(model.user.weight @ model.item.weight.T, 2).indices


@program
def a_range_instead_of_a_number(torch: Any, given: Given) -> Any:
    """Pinball losses for several quantiles, a mixture of densities, and log-likelihood of a Gaussian."""
    nn = torch.nn
    q = torch.tensor([0.1, 0.5, 0.9])
    net = given.fill(nn.Sequential(nn.Linear(1, 12), nn.Softplus(), nn.Linear(12, 3)))
    mdn = given.fill(
        nn.ModuleDict({"h": nn.Linear(1, 8), "pi": nn.Linear(8, 2), "mu": nn.Linear(8, 2), "sigma": nn.Linear(8, 2)})
    )
    both = nn.ModuleList([net, mdn])
    optimizer, shown = torch.optim.RAdam(both.parameters(), lr=0.02), []
    x = torch.linspace(-1, 1, 15)[:, None]
    y = x**3 + 0.1 * given(15, 1)
    for _ in range(8):
        error = y - net(x)
        pinball = torch.maximum(q * error, (q - 1) * error).mean(0).sum()
        h = torch.tanh(mdn["h"](x))
        log_pi, mu, sigma = mdn["pi"](h).log_softmax(-1), mdn["mu"](h), nn.functional.elu(mdn["sigma"](h)) + 1 + 1e-3
        log_p = -0.5 * ((y - mu) / sigma) ** 2 - sigma.log() - 0.5 * math.log(2 * math.pi)
        mixture = -torch.logsumexp(log_pi + log_p, dim=1).mean()
        gauss = nn.GaussianNLLLoss()(mu[:, :1], y, sigma[:, 1:] ** 2)
        loss = pinball + mixture + gauss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        shown.append([pinball, mixture, gauss])
    within = ((y >= net(x)[:, :1]) & (y <= net(x)[:, 2:])).float().mean()
    return shown, within, torch.quantile(y, q, dim=0), y.sort(dim=0, descending=True)[1]


@program
def a_flow_that_can_be_turned_back(torch: Any, given: Given) -> Any:
    nn = torch.nn

    class Coupling(nn.Module):
        def __init__(self, flip: bool) -> None:
            super().__init__()
            self.flip, self.net = flip, nn.Sequential(nn.Linear(1, 8), nn.LeakyReLU(), nn.Linear(8, 2))

        def forward(self, x: Any) -> Any:
            a, b = x.chunk(2, dim=1)
            a, b = (b, a) if self.flip else (a, b)
            s, t = self.net(a).chunk(2, 1)
            s = torch.tanh(s)
            b = b * s.exp() + t
            return torch.cat([b, a] if self.flip else [a, b], 1), s.sum(1)

        def inverse(self, z: Any) -> Any:
            a, b = z.split([1, 1], 1)
            a, b = (b, a) if self.flip else (a, b)
            s, t = self.net(a).tensor_split(2, dim=1)
            b = (b - t) * torch.exp(-torch.tanh(s))
            return torch.hstack([b, a] if self.flip else [a, b])

    flow = given.fill(nn.ModuleList([Coupling(bool(i % 2)) for i in range(4)]))
    optimizer, shown = torch.optim.Adam(flow.parameters(), lr=0.01), []
    for _ in range(6):
        x = given(16, 2) * torch.tensor([1.0, 0.3])
        z, log_det = x, x.new_zeros(len(x))
        for layer in flow:
            z, part = layer(z)
            log_det = log_det + part
        loss = (0.5 * (z**2).sum(1) - log_det).mean() + math.log(2 * math.pi)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        shown.append(loss)
    with torch.no_grad():
        z = x
        for layer in flow:
            z, _ = layer(z)
        for layer in list(flow)[::-1]:
            z = layer.inverse(z)
        jacobian = torch.autograd.functional.jacobian(lambda v: flow[1](flow[0](v[None])[0])[0][0], x[0])
    return shown, torch.allclose(z, x, atol=1e-5), jacobian, torch.det(jacobian)


@program
def messages_along_the_edges_of_a_graph(torch: Any, given: Given) -> Any:
    nn, F = torch.nn, torch.nn.functional
    edges = torch.tensor([[0, 1, 1, 2, 3, 4, 4, 0], [1, 0, 2, 1, 4, 3, 0, 4]])
    loops = torch.arange(5).repeat(2, 1)
    src, dst = torch.cat([edges, loops], dim=1)
    degree = torch.zeros(5).scatter_add_(0, dst, torch.ones(len(dst)))
    norm = degree.rsqrt()[src] * degree.rsqrt()[dst]

    class Conv(nn.Module):
        def __init__(self, i: int, o: int) -> None:
            super().__init__()
            self.lin, self.att = nn.Linear(i, o, bias=False), nn.Parameter(given(2 * o, scale=0.3))

        def forward(self, x: Any) -> Any:
            h = self.lin(x)
            plain = torch.zeros(5, h.size(1)).index_add(0, dst, h[src] * norm[:, None])
            e = F.leaky_relu(torch.cat([h[src], h[dst]], 1) @ self.att, 0.2)
            top = torch.full((5,), -1e9).scatter_reduce(0, dst, e, "amax")
            a = (e - top[dst]).exp()
            a = a / torch.zeros(5).index_add_(0, dst, a)[dst]
            return plain + torch.zeros_like(h).scatter_add(0, dst[:, None].expand(-1, h.size(1)), a[:, None] * h[src])

    model = given.fill(nn.Sequential(Conv(3, 6), nn.ELU(), Conv(6, 2)))
    x, y, known = given(5, 3), torch.tensor([0, 0, 0, 1, 1]), torch.tensor([True, False, True, True, False])
    optimizer, shown = torch.optim.Adam(model.parameters(), lr=0.05, weight_decay=5e-4), []
    for _ in range(6):
        out = model(x)
        loss = F.cross_entropy(out[known], y[known])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        shown.append(loss)
    accuracy = (out.argmax(-1)[~known] == y[~known]).float().mean()
    adjacency = torch.zeros(5, 5).index_put_((src, dst), torch.tensor(1.0))
    return shown, accuracy, adjacency, torch.linalg.matrix_power(adjacency, 3), model[0].att.grad


@program
def waves_mixed_in_their_spectrum(torch: Any, given: Given) -> Any:
    nn = torch.nn

    class Spectral(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = nn.Parameter(torch.complex(given(2, 3, 4, scale=0.3), given(2, 3, 4, scale=0.3)))

        def forward(self, x: Any) -> Any:
            f = torch.fft.rfft(x)
            out = torch.zeros(x.size(0), 3, f.size(-1), dtype=torch.cfloat)
            out[:, :, :4] = torch.einsum("bix,iox->box", f[:, :, :4], self.weight)
            return torch.fft.irfft(out, n=x.size(-1))

    layer, mix = Spectral(), given.fill(nn.Conv1d(3, 1, 1))
    optimizer, shown = torch.optim.Adam([*layer.parameters(), *mix.parameters()], lr=0.05), []
    for _ in range(6):
        x = given(4, 2, 16)
        y = x.cumsum(-1).mean(1, keepdim=True)
        pred = mix(nn.functional.gelu(layer(x)))
        loss = torch.norm(pred - y, dim=-1).div(torch.norm(y, dim=-1)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        shown.append(loss)
    spectrum = torch.stft(x[0], n_fft=8, hop_length=4, window=torch.hann_window(8), return_complex=True)
    return shown, layer.weight, layer.weight.grad, spectrum.abs().pow(2), torch.fft.fftshift(torch.fft.fftfreq(8))


@program
def slopes_and_curvatures_of_all_kinds(torch: Any, given: Given) -> Any:
    """Newton's method, products with the Hessian, gradients of each sample, the Jacobian both ways, influence."""
    func = torch.func
    x, y, w = given(12, 3), given.whole(2, 12).float(), torch.zeros(3)

    def loss_of(w: Any, x: Any = x, y: Any = y) -> Any:
        return torch.nn.functional.binary_cross_entropy_with_logits(x @ w, y) + 0.1 * w.dot(w)

    shown = []
    for _ in range(4):
        g, h = torch.func.grad(loss_of)(w), torch.func.hessian(loss_of)(w)
        w = w - torch.linalg.solve(h, g)
        shown.append([loss_of(w), g.norm()])
    v = given(3)
    leaf = w.clone().requires_grad_()
    (g,) = torch.autograd.grad(loss_of(leaf), leaf, create_graph=True)
    (hv,) = torch.autograd.grad(g, leaf, grad_outputs=v)
    _, hvp = torch.autograd.functional.hvp(loss_of, w, v)
    _, jvp = func.jvp(func.grad(loss_of), (w,), (v,))
    each = func.vmap(func.grad(loss_of), in_dims=(None, 0, 0))(w, x, y)
    influence = -each @ torch.linalg.inv(h) @ each[0]
    field = lambda z: torch.stack([z[0] * z[1], z[1].sin(), (z**2).sum()])  # noqa: E731
    forward, reverse = func.jacfwd(field)(v), func.jacrev(field)(v)
    value, pull = func.vjp(field, v)
    trace = sum(torch.autograd.functional.hessian(loss_of, w).diagonal())
    return shown, hv, hvp, jvp, each, influence, forward, reverse, value, pull(torch.ones(3)), trace


@program
def clusters_components_and_margins(torch: Any, given: Given) -> Any:
    data = torch.cat([given(8, 2, scale=0.3) + torch.tensor([c, -c]) for c in (-2.0, 0.0, 2.0)])
    centres = data[[0, 8, 16]].clone()
    for _ in range(5):
        nearest = torch.cdist(data, centres).argmin(dim=1)
        one_hot = torch.zeros(len(data), 3).scatter_(1, nearest.view(-1, 1), 1)
        centres = (one_hot.T @ data) / one_hot.sum(0).clamp(min=1).unsqueeze(-1)
    middle = data - data.mean(0)
    values, vectors = torch.linalg.eigh(middle.T @ middle / (len(data) - 1))
    order = values.argsort(descending=True)
    projected = (middle @ vectors[:, order]).abs()
    w, b = torch.zeros(2, requires_grad=True), torch.zeros(1, requires_grad=True)
    y = torch.where(nearest == 0, 1.0, -1.0)
    for _ in range(10):
        loss = torch.clamp(1 - y * (data @ w + b), min=0).mean() + 0.01 * w.pow(2).sum()
        loss.backward()
        with torch.no_grad():
            for p in (w, b):
                p -= 0.1 * p.grad
                p.grad.zero_()
    beta = torch.linalg.lstsq(torch.cat([data, torch.ones(24, 1)], 1), y[:, None]).solution
    soft = data.new_zeros(24)
    d2 = torch.cdist(data, data).square()
    p = torch.exp(-d2) * (1 - torch.eye(24))
    p = p / p.sum()
    low = given(24, 2, scale=0.1, requires_grad=True)
    num = 1 / (1 + torch.pdist(low).pow(2))
    kl = (p[torch.triu_indices(24, 24, 1).unbind()] * (num.sum() / num).log()).sum()
    kl.backward()
    return (
        centres,
        nearest.unique(return_counts=True),
        values,
        projected,
        loss,
        w,
        b,
        beta,
        soft,
        kl,
        low.grad,
        torch.cov(data.T),
        torch.corrcoef(data.T),
    )


@program
def a_filter_that_follows_a_track(torch: Any, given: Given) -> Any:
    step, seen = torch.tensor([[1.0, 1.0], [0.0, 1.0]]), torch.tensor([[1.0, 0.0]])
    noise = torch.tensor([-2.0, -1.0], requires_grad=True)
    measured = torch.arange(8.0) * 0.5 + given(8, scale=0.2)
    optimizer, shown = torch.optim.Rprop([noise], lr=0.1), []
    for _ in range(5):
        q, r = noise.exp()
        x, p, total = torch.zeros(2, 1), torch.eye(2), measured.new_tensor(0.0)
        track = []
        for z in measured:
            x, p = step @ x, step @ p @ step.mT + q * torch.eye(2)
            s = seen @ p @ seen.T + r
            innovation = z - seen @ x
            gain = p @ seen.T / s
            x, p = x + gain * innovation, (torch.eye(2) - gain @ seen) @ p
            total = total + 0.5 * (innovation**2 / s + s.log()).sum()
            track.append(x[0])
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
        shown.append(total)
    return shown, torch.cat(track), noise, p


@program
def rules_with_gradients_of_their_own(torch: Any, given: Given) -> Any:
    class Sign(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, width: float) -> Any:
            ctx.save_for_backward(x)
            ctx.width = width
            return x.sign()

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (x,) = ctx.saved_tensors
            return grad.masked_fill(x.abs() > ctx.width, 0), None

    class Reverse(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, alpha: float) -> Any:
            ctx.alpha = alpha
            return x.view_as(x)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            return grad.neg() * ctx.alpha, None

    class LegendrePoly(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return 0.5 * (5 * x**3 - 3 * x)

        @staticmethod
        def backward(ctx: Any, grad: Any) -> Any:
            (x,) = ctx.saved_tensors
            return grad * 1.5 * (5 * x**2 - 1)

    x = torch.linspace(-math.pi, math.pi, 50)
    a, b, c, d = (torch.full((), v, requires_grad=True) for v in (0.0, -1.0, 0.0, 0.3))
    shown = []
    for _ in range(10):
        y = a + b * LegendrePoly.apply(c + d * x)
        loss = (y - torch.sin(x)).pow(2).sum()
        loss.backward()
        with torch.no_grad():
            for p in (a, b, c, d):
                p -= 5e-4 * p.grad
                p.grad = None
        shown.append(loss.item())
    w = given(4, 3, requires_grad=True)
    h = Sign.apply(given(5, 4) @ w, 1.0)
    (h * given(5, 3)).sum().backward()
    domain = given(3, requires_grad=True)
    (Reverse.apply(domain, 0.5) * torch.arange(3.0)).sum().backward()
    double = torch.tensor([0.3, -0.7], dtype=torch.float64, requires_grad=True)
    checked = torch.autograd.gradcheck(LegendrePoly.apply, (double,)) and torch.autograd.gradgradcheck(
        LegendrePoly.apply, (double,)
    )
    return shown, (a, b, c, d), w.grad, domain.grad, checked
