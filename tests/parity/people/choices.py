"""Acting and adapting: bandits, corridors, policies, learning to learn, many tasks at once."""

from __future__ import annotations

import copy
import random
from collections import deque, namedtuple
from typing import Any

from tests.parity.people import Given, program

Transition = namedtuple("Transition", ("state", "action", "next_state", "reward"))


@program
def a_corridor_learned_from_a_memory_of_moves(torch: Any, given: Given) -> Any:
    nn, dice = torch.nn, random.Random(0)
    policy, target = (given.fill(nn.Sequential(nn.Linear(5, 12), nn.ReLU(), nn.Linear(12, 2))) for _ in range(2))
    target.load_state_dict(policy.state_dict())
    optimizer, criterion = torch.optim.AdamW(policy.parameters(), lr=1e-2, amsgrad=True), nn.SmoothL1Loss()
    memory: deque = deque([], maxlen=50)
    place, losses, shown = 0, [], []
    for _ in range(40):
        state = torch.nn.functional.one_hot(torch.tensor([place]), 5).float()
        if dice.random() > 0.5:
            with torch.no_grad():
                action = policy(state).max(1).indices.view(1, 1)
        else:
            action = torch.tensor([[dice.randrange(2)]], device=state.device, dtype=torch.long)
        place = min(place + 1, 4) if action.item() == 1 else max(place - 1, 0)
        done = place == 4
        after = None if done else torch.eye(5)[place].unsqueeze(0)
        memory.append(Transition(state, action, after, torch.tensor([1.0 if done else -0.1])))
        place = 0 if done else place
        if len(memory) < 8:
            continue
        batch = Transition(*zip(*dice.sample(list(memory), 8), strict=True))
        alive = torch.tensor(tuple(s is not None for s in batch.next_state), dtype=torch.bool)
        following = torch.cat([s for s in batch.next_state if s is not None])
        values = policy(torch.cat(batch.state)).gather(1, torch.cat(batch.action))
        next_values = torch.zeros(8)
        with torch.no_grad():
            next_values[alive] = target(following).max(1).values
        loss = criterion(values, (next_values * 0.9 + torch.cat(batch.reward)).unsqueeze(1))
        optimizer.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_value_(policy.parameters(), 100)
        optimizer.step()
        losses.append(loss.item())
        kept, new = target.state_dict(), policy.state_dict()
        for key in new:
            kept[key] = new[key] * 0.05 + kept[key] * 0.95
        target.load_state_dict(kept)
        shown.append(place)
    return losses, shown, policy(torch.eye(5)), target(torch.eye(5))


@program
def arms_of_a_bandit(torch: Any, given: Given) -> Any:
    preferences, wins = torch.zeros(4, requires_grad=True), torch.tensor([0.1, 0.5, 0.2, 0.9])
    optimizer, baseline, shown = torch.optim.SGD([preferences], lr=0.5), 0.0, []
    for draw in given.uniform(20).tolist():
        probabilities = torch.softmax(preferences, dim=-1)
        action = int((probabilities.detach().cumsum(0) < draw).sum().clamp(max=3))
        reward = wins[action].item()
        loss = -torch.log(probabilities[action]) * (reward - baseline)
        baseline += 0.1 * (reward - baseline)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        shown.append((action, loss.item()))
    return shown, preferences, preferences.grad.sum()


@program
def an_actor_and_a_critic_kept_close(torch: Any, given: Given) -> Any:
    """Advantages summed backwards, and the clipped ratio of new to old."""
    nn = torch.nn

    class Both(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.body = nn.Sequential(nn.Linear(4, 16), nn.Tanh())
            self.mean, self.value = nn.Linear(16, 2), nn.Linear(16, 1)
            self.log_std = nn.Parameter(torch.zeros(1, 2))

        def forward(self, x: Any) -> Any:
            h = self.body(x)
            return self.mean(h), self.log_std.expand_as(self.mean(h)), self.value(h).squeeze(-1)

    def log_prob(model: Any, s: Any, a: Any) -> Any:
        mean, log_std, value = model(s)
        each = -((a - mean) ** 2) / (2 * torch.exp(log_std) ** 2) - log_std - 0.9189385
        return each.sum(-1), (log_std + 1.4189385).sum(-1), value

    for orthogonal in (nn.init.orthogonal_,):
        assert orthogonal(torch.empty(4, 4)).shape == (4, 4)
    model = given.fill(Both())
    s, noise, r = given(10, 4), given(10, 2), given(10)
    done = torch.tensor([0, 0, 0, 1, 0, 0, 0, 0, 0, 1]).bool()
    with torch.no_grad():
        mean, log_std, value = model(s)
        a = mean + log_std.exp() * noise
        old, _, _ = log_prob(model, s, a)
        advantages, last = torch.zeros_like(r), 0
        for t in reversed(range(len(r))):
            following = value[t + 1] if t + 1 < len(r) else 0.0
            delta = r[t] + 0.99 * following * ~done[t] - value[t]
            advantages[t] = last = delta + 0.99 * 0.95 * (1.0 - done[t].float()) * last
        returns = advantages + value
    optimizer, shown = torch.optim.Adam(model.parameters(), lr=3e-3, eps=1e-5), []
    for epoch in range(3):
        for at in torch.arange(10).view(2, 5):
            new, entropy, v = log_prob(model, s[at], a[at])
            ratio = (new - old[at]).exp()
            adv = (advantages[at] - advantages[at].mean()) / (advantages[at].std() + 1e-8)
            policy = torch.max(-adv * ratio, -adv * torch.clamp(ratio, 0.8, 1.2)).mean()
            loss = policy - 0.01 * entropy.mean() + 0.5 * nn.functional.mse_loss(v, returns[at])
            optimizer.zero_grad()
            loss.backward()
            norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm=0.5)
            optimizer.step()
            shown.append([loss, norm, ((ratio - 1.0).abs() > 0.2).float().mean()])
        optimizer.param_groups[0]["lr"] = 3e-3 * (1 - epoch / 3)
    return shown, advantages, returns, model.log_std


@program
def learning_to_learn(torch: Any, given: Given) -> Any:
    nn, F = torch.nn, torch.nn.functional
    model = given.fill(nn.Sequential(nn.Linear(1, 10), nn.Tanh(), nn.Linear(10, 1)))
    meta, shown = torch.optim.Adam(model.parameters(), lr=1e-2), []
    for _ in range(4):
        total = torch.tensor(0.0)
        for _ in range(2):
            amplitude, phase = given.uniform(1, low=0.5, high=2), given.uniform(1, high=3)
            x, query = given.uniform(6, 1, low=-3, high=3), given.uniform(6, 1, low=-3, high=3)
            weights = dict(model.named_parameters())
            for _ in range(2):
                inner = F.mse_loss(torch.func.functional_call(model, weights, (x,)), amplitude * torch.sin(x + phase))
                grads = torch.autograd.grad(inner, list(weights.values()), create_graph=True)
                weights = {name: w - 0.1 * g for (name, w), g in zip(weights.items(), grads, strict=True)}
            total = total + F.mse_loss(
                torch.func.functional_call(model, weights, (query,)), amplitude * torch.sin(query + phase)
            )
        meta.zero_grad()
        total.backward()
        meta.step()
        shown.append(total.item())
    fast = copy.deepcopy(model)
    F.mse_loss(fast(x), torch.sin(x)).backward()
    with torch.no_grad():
        for p, q in zip(model.parameters(), fast.parameters(), strict=True):
            p -= 0.1 * (p - (q - 0.1 * q.grad))
    return shown, list(model.parameters()), [p.grad.norm() for p in model.parameters()]


@program
def several_tasks_weighed_by_doubt(torch: Any, given: Given) -> Any:
    nn, F = torch.nn, torch.nn.functional
    body = given.fill(nn.Sequential(nn.Linear(6, 8), nn.Mish(), nn.LayerNorm(8)))
    heads = given.fill(nn.ModuleDict({"size": nn.Linear(8, 1), "kind": nn.Linear(8, 3), "tags": nn.Linear(8, 4)}))
    doubt = nn.ParameterDict({name: nn.Parameter(torch.zeros(())) for name in heads})
    optimizer = torch.optim.Adamax(
        [
            {"params": body.parameters()},
            {"params": heads.parameters(), "lr": 1e-2},
            {"params": doubt.values(), "lr": 0.1},
        ],
        lr=5e-3,
    )
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="min", factor=0.5, patience=1)
    shown = []
    for _ in range(8):
        h = body(given(5, 6))
        losses = {
            "size": F.huber_loss(heads["size"](h).squeeze(-1), given(5), delta=0.5),
            "kind": F.cross_entropy(heads["kind"](h), given.whole(3, 5)),
            "tags": F.binary_cross_entropy_with_logits(
                heads["tags"](h), given.whole(2, 5, 4).float(), pos_weight=torch.tensor([1.0, 2, 3, 4])
            ),
        }
        loss = sum(torch.exp(-doubt[name]) * each + doubt[name] for name, each in losses.items())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        plateau.step(loss.item())
        shown.append([loss, *losses.values(), [g["lr"] for g in optimizer.param_groups]])
    return shown, dict(doubt.items()), plateau.num_bad_epochs


@program
def a_large_model_adapted_by_small_matrices(torch: Any, given: Given) -> Any:
    """Low-rank additions to frozen weights, a lottery ticket, and a weight split into length and direction."""
    from importlib import import_module

    nn = torch.nn
    parametrize, prune = nn.utils.parametrize, import_module(f"{torch.__name__}.nn.utils.prune")

    class LowRank(nn.Module):
        def __init__(self, fan_in: int, fan_out: int, rank: int = 2) -> None:
            super().__init__()
            self.a, self.b = nn.Parameter(given(rank, fan_in, scale=0.1)), nn.Parameter(torch.zeros(fan_out, rank))
            self.enabled = True

        def forward(self, weight: Any) -> Any:
            return weight + (self.b @ self.a) * 2.0 if self.enabled else weight

    model = given.fill(nn.Sequential(nn.Linear(5, 7), nn.ReLU(), nn.Linear(7, 2)))
    for p in model.parameters():
        p.requires_grad = False
    parametrize.register_parametrization(model[0], "weight", LowRank(5, 7))
    trainable = [name for name, p in model.named_parameters() if p.requires_grad]
    optimizer, shown = torch.optim.Adam(filter(lambda p: p.requires_grad, model.parameters()), lr=0.05), []
    x, y = given(6, 5), given(6, 2)
    for _ in range(4):
        loss = ((model(x) - y) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        shown.append(loss)
    parametrize.remove_parametrizations(model[0], "weight", leave_parametrized=True)
    after = model(x)
    prune.l1_unstructured(model[0], name="weight", amount=0.4)
    prune.ln_structured(model[2], name="weight", amount=1, n=2, dim=1)
    sparse = [float((m.weight == 0).sum()) / m.weight.nelement() for m in (model[0], model[2])]
    prune.remove(model[0], "weight")
    layer = nn.utils.parametrizations.weight_norm(given.fill(nn.Linear(4, 3)))
    layer(given(2, 4)).square().sum().backward()
    return (
        shown,
        trainable,
        after,
        sparse,
        sorted(model.state_dict()),
        [(n, p.grad) for n, p in layer.named_parameters()],
    )


@program
def little_memory(torch: Any, given: Given) -> Any:
    """Gradients summed over several batches, halves of a network computed twice, and numbers of 16 bits."""
    nn = torch.nn
    from importlib import import_module

    checkpoint = import_module(f"{torch.__name__}.utils.checkpoint").checkpoint
    model = given.fill(nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 1)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    scaler, shown = torch.amp.GradScaler("cpu", init_scale=256.0, growth_interval=2), []
    for step in range(6):
        x, y = given(4, 6), given(4, 1)
        with torch.autocast(device_type="cpu", dtype=torch.bfloat16, enabled=step >= 4):
            h = checkpoint(model[:2], x, use_reentrant=False)
            loss = nn.functional.mse_loss(model[2:](h).float(), y) / 2
        scaler.scale(loss).backward()
        if step % 2:
            scaler.unscale_(optimizer)
            norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
            shown += [norm] if step < 4 else [norm.isfinite()]
    return shown, scaler.get_scale(), [p.grad for p in model.parameters()], h.dtype == (torch.bfloat16)
