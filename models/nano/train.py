"""Imitation: next-token prediction on the generator's corpus.

    python3 train.py CORPUS OUT.pt [--steps N | --seconds S] [--width W --layers L --hidden H]

With --steps the learning rate follows the step count: what reproduce.sh does. With --seconds it follows the clock, for
trials that must end on time on whatever GPU there is.
"""
import argparse
import glob
import math
import time

import numpy as np
import torch
import torch.nn.functional as F

from generate import NO_LOSS
from model import Config, Nano, save

BUCKETS = (128, 160, 208, 352, 640)   # padded lengths; a batch holds documents of one bucket


def read_corpus(folder, device):
    """All tokens in one flat tensor, and for each bucket its documents' (start, length)."""
    tokens = np.concatenate([np.fromfile(f, dtype=np.uint16) for f in sorted(glob.glob(folder + "/tokens-*.bin"))])
    lengths = np.concatenate([np.fromfile(f, dtype=np.uint16) for f in sorted(glob.glob(folder + "/lengths-*.bin"))]).astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(lengths)[:-1]])
    flat = torch.from_numpy(tokens.astype(np.int32)).to(device)
    buckets, low = [], 0
    for high in BUCKETS:
        pick = (lengths > low) & (lengths <= high)
        buckets.append((high, torch.from_numpy(starts[pick]).to(device), torch.from_numpy(lengths[pick]).to(device)))
        low = high
    return flat, buckets


def epoch_batches(buckets, batch_tokens, generator):
    """Every document at most once, in batches of one bucket each, the batches in random order."""
    batches = []
    for b, (high, starts, _) in enumerate(buckets):
        order = torch.randperm(len(starts), generator=generator).to(starts.device)
        size = batch_tokens // high   # only whole batches: every bucket has one shape
        batches += [(b, order[i:i + size]) for i in range(0, len(order) - size + 1, size)]
    for i in torch.randperm(len(batches), generator=generator).tolist():
        yield batches[i]


def fetch(flat, bucket, chosen):
    """ids [B, T] and targets [B, T], -1 where there is nothing to learn."""
    high, starts, lengths = bucket
    at = torch.arange(high, device=flat.device)
    index = (starts[chosen][:, None] + at).clamp_(max=len(flat) - 1)
    raw = flat[index]
    inside = at < lengths[chosen][:, None]
    ids = torch.where(inside, raw & (NO_LOSS - 1), torch.zeros_like(raw)).long()
    learn = inside & (raw < NO_LOSS)
    targets = torch.where(learn, ids, torch.full_like(ids, -1))
    return ids[:, :-1], targets[:, 1:]


class Trainer:
    """One optimisation step for a batch. On a GPU a step is captured as a CUDA graph, one a bucket: the network is so small
    that launching its kernels one by one would take longer than running them."""

    def __init__(self, model, batch_tokens, rate, device, graphs):
        self.model, self.batch_tokens, self.device = model, batch_tokens, device
        matrices = [x for x in model.parameters() if x.dim() == 2]
        vectors = [x for x in model.parameters() if x.dim() < 2]
        extra = {}
        if device == "cuda":
            extra = {"fused": True}
        if graphs:
            extra = {"fused": True, "capturable": True}
            rate = torch.tensor(rate, device=device)
        self.optimizer = torch.optim.AdamW([{"params": matrices, "weight_decay": 0.05}, {"params": vectors, "weight_decay": 0.0}],
                                           lr=rate, betas=(0.9, 0.98), **extra)
        self.graphs = {} if graphs else None

    def set_rate(self, rate):
        for group in self.optimizer.param_groups:
            if self.graphs is None:
                group["lr"] = rate
            else:
                group["lr"].fill_(rate)

    def plain_step(self, ids, targets):
        with torch.autocast(self.device, dtype=torch.bfloat16, enabled=self.device == "cuda", cache_enabled=False):
            logits = self.model.logits(self.model.hidden(ids))
        # Divided by a constant, not by the batch's own count: long (mostly wrong) and short (mostly right) documents must
        # weigh the same, or the odds at the decisions would be learnt askew.
        loss = F.cross_entropy(logits.float().flatten(0, 1), targets.flatten(), ignore_index=-1, reduction="sum")
        loss = loss / (self.batch_tokens / 2)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        return loss.detach()

    def capture(self, ids, targets):
        ids, targets = ids.clone(), targets.clone()
        self.set_rate(0.0)   # the rehearsals a capture needs must not train
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.plain_step(ids, targets)
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        self.optimizer.zero_grad(set_to_none=True)
        with torch.cuda.graph(graph):
            loss = self.plain_step(ids, targets)
        return graph, ids, targets, loss

    def step(self, ids, targets, rate):
        if self.graphs is None:
            self.set_rate(rate)
            return self.plain_step(ids, targets)
        if ids.shape not in self.graphs:
            self.graphs[ids.shape] = self.capture(ids, targets)
        graph, static_ids, static_targets, loss = self.graphs[ids.shape]
        static_ids.copy_(ids)
        static_targets.copy_(targets)
        self.set_rate(rate)
        graph.replay()
        return loss


def main():
    p = argparse.ArgumentParser()
    p.add_argument("corpus")
    p.add_argument("out")
    p.add_argument("--steps", type=int, default=0)
    p.add_argument("--seconds", type=float, default=60)
    p.add_argument("--batch-tokens", type=int, default=32768)
    p.add_argument("--no-graphs", action="store_true")
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--width", type=int, default=Config.width)
    p.add_argument("--layers", type=int, default=Config.layers)
    p.add_argument("--hidden", type=int, default=Config.hidden)
    p.add_argument("--heads", type=int, default=Config.heads)
    p.add_argument("--kv-heads", type=int, default=Config.kv_heads)
    p.add_argument("--seed", type=int, default=1)
    a = p.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    torch.manual_seed(a.seed)
    generator = torch.Generator().manual_seed(a.seed)
    flat, buckets = read_corpus(a.corpus, device)
    model = Nano(Config(width=a.width, layers=a.layers, hidden=a.hidden, heads=a.heads, kv_heads=a.kv_heads)).to(device)
    count = sum(x.numel() for x in model.parameters())
    print(f"{count / 1e6:.2f}M parameters, {len(flat) / 1e6:.0f}M tokens, buckets", [(h, len(s)) for h, s, _ in buckets], flush=True)
    trainer = Trainer(model, a.batch_tokens, a.lr, device, graphs=device == "cuda" and not a.no_graphs)
    began, step, seen, shown = time.time(), 0, 0, time.time()
    pace, mark = 0.0, (began, 0)
    done = False
    while not done:
        for b, chosen in epoch_batches(buckets, a.batch_tokens, generator):
            progress = step / a.steps if a.steps else (time.time() - began) / a.seconds
            if progress >= 1:
                done = True
                break
            rate = a.lr * min(1.0, (step + 1) / 200) * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * progress)))
            ids, targets = fetch(flat, buckets[b], chosen)
            loss = trainer.step(ids, targets, rate)
            step += 1
            seen += ids.numel()
            if step % 50 == 0 and time.time() - shown > 5:
                mean = loss.item() * a.batch_tokens / 2 / max(1, int((targets >= 0).sum()))
                shown = time.time()
                pace, mark = (seen - mark[1]) / (shown - mark[0]) / 1e6, (shown, seen)
                print(f"step {step} {shown - began:.0f}s loss/token {mean:.4f} {pace:.1f}M tokens/s lr {rate:.1e}", flush=True)
    if device == "cuda":
        torch.cuda.synchronize()
    print(f"{step} steps, {seen / 1e6:.0f}M positions, {time.time() - began:.0f}s; last {pace:.2f} M/s")
    save(model, a.out)


if __name__ == "__main__":
    main()
