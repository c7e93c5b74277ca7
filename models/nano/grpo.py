"""Reinforcement learning on top of imitation, with the group-relative, length-normalised objective:

    J = E[ 1/|G| sum over traces of 1/|trace| sum over tokens of min(r A, clip(r, 1 - e, 1 + e) A) ],   A = (reward - mean) / std within the group

    python3 grpo.py IN.pt OUT.pt [--iterations N] [--problems P] [--group G]

The paper argues that the division by the trace's length is where "shorter is more accurate" comes from. `--no-length-norm`
divides by a constant instead, for comparison. Not part of the shipped model: see the card for what it does.
"""
import argparse
import time

import torch

import problems as families
from evaluate import Cache, advance, boxed, prefill
from model import load, save
from vocab import END, encode, prompt_text

BUDGET = 288   # tokens a trace: a right one needs 150 at most


@torch.no_grad()
def sample(model, prompts, group, generator, device):
    """`group` traces a prompt at temperature 1: tokens [traces, BUDGET], lengths, and whether each ended."""
    n = len(prompts) * group
    lengths = torch.tensor([len(p) for p in prompts], device=device).repeat_interleave(group)
    cache = Cache(model, n, int(lengths.max()) + BUDGET, device)
    written = torch.zeros(n, BUDGET, dtype=torch.long, device=device)
    used = torch.full((n,), BUDGET, device=device)
    ended = torch.zeros(n, dtype=torch.bool, device=device)
    logits = prefill(model, prompts, cache, group, device).repeat_interleave(group, 0)
    rows = torch.arange(n, device=device)
    for step in range(BUDGET):
        token = torch.multinomial(logits.float().softmax(-1), 1, generator=generator)[:, 0]
        written[rows, step] = token
        over = token == END
        used[rows[over]] = step + 1
        ended[rows[over]] = True
        rows, token = rows[~over], token[~over]
        if len(rows) == 0 or step + 1 == BUDGET:
            break
        logits = advance(model, cache, rows, token, lengths[rows] + step)
    return written, used, ended


def log_probabilities(model, ids, targets):
    """Of `targets` [B, T], given the ids before each."""
    with torch.autocast(ids.device.type, dtype=torch.bfloat16, enabled=ids.is_cuda):
        logits = model.logits(model.hidden(ids))
    return -torch.nn.functional.cross_entropy(logits.float().flatten(0, 1), targets.flatten(), reduction="none").view(targets.shape)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("model")
    p.add_argument("out")
    p.add_argument("--iterations", type=int, default=30)
    p.add_argument("--seconds", type=float, default=1e9)
    p.add_argument("--problems", type=int, default=128)
    p.add_argument("--group", type=int, default=16)
    p.add_argument("--minibatches", type=int, default=4)
    p.add_argument("--lr", type=float, default=1e-4)
    p.add_argument("--clip", type=float, default=0.2)
    p.add_argument("--no-length-norm", action="store_true")
    p.add_argument("--seed", type=int, default=1)
    a = p.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = load(a.model, device)
    generator = torch.Generator(device=device).manual_seed(a.seed)
    optimizer = torch.optim.AdamW(model.parameters(), lr=a.lr, betas=(0.9, 0.95), weight_decay=0.0)
    began = time.time()
    for iteration in range(a.iterations):
        if time.time() - began > a.seconds:
            break
        chosen = [families.make(f"grpo-{a.seed}-{iteration}-{i}") for i in range(a.problems)]
        prompts = [encode(prompt_text(q.question)) for q in chosen]
        written, used, ended = sample(model, prompts, a.group, generator, device)
        texts, ends = written.tolist(), used.tolist()
        right = [done and boxed(t[:n]) == str(chosen[i // a.group].answer) for i, (t, n, done) in enumerate(zip(texts, ends, ended.tolist()))]
        reward = torch.tensor(right, device=device, dtype=torch.float32)
        groups = reward.view(-1, a.group)
        advantage = ((groups - groups.mean(1, keepdim=True)) / (groups.std(1, keepdim=True) + 1e-4)).flatten()
        longest = max(map(len, prompts)) + BUDGET
        ids = torch.zeros(len(texts), longest, dtype=torch.long, device=device)
        mask = torch.zeros(len(texts), longest, dtype=torch.bool, device=device)
        for i, prompt in enumerate(prompts):
            rows = slice(i * a.group, (i + 1) * a.group)
            ids[rows, :len(prompt)] = torch.tensor(prompt, device=device)
            ids[rows, len(prompt):len(prompt) + BUDGET] = written[rows]
            mask[rows, len(prompt):len(prompt) + BUDGET] = torch.arange(BUDGET, device=device) < used[rows, None]
        weight = mask[:, 1:].float() / (BUDGET / 2 if a.no_length_norm else used[:, None].float())
        useful = (advantage != 0).nonzero()[:, 0]
        if len(useful) == 0:
            continue
        order = useful[torch.randperm(len(useful), device=device)]
        with torch.no_grad():
            old = torch.cat([log_probabilities(model, ids[r, :-1], ids[r, 1:]) for r in order.split(128)])
        for part, before in zip(order.chunk(a.minibatches), old.chunk(a.minibatches)):
            optimizer.zero_grad(set_to_none=True)
            for rows, earlier in zip(part.split(128), before.split(128)):
                new = log_probabilities(model, ids[rows, :-1], ids[rows, 1:])
                ratio = (new - earlier).exp()
                gain = advantage[rows, None]
                term = torch.minimum(ratio * gain, ratio.clamp(1 - a.clip, 1 + a.clip) * gain)
                (-(term * weight[rows]).sum() / len(part)).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
        if iteration % 5 == 0:
            lengths = used.float()
            ok = reward.bool()
            mean = lambda x: x.mean().item() if len(x) else 0.0
            print(f"iteration {iteration} {time.time() - began:.0f}s reward {reward.mean().item():.3f} length right {mean(lengths[ok]):.0f} "
                  f"wrong {mean(lengths[~ok]):.0f} ended {ended.float().mean().item():.3f}", flush=True)
    save(model, a.out)


if __name__ == "__main__":
    main()
