#!/usr/bin/env python3
"""The loop that the paper's authors published, in brief: what a step of it costs on a GPU.

Every branch keeps its own K and V. Every step
  - decides branch by branch on the host, from logits in the model's own type;
  - stacks the K and V of all branches into one batch, runs the model once, and splits the result into branches again
    (as views: the next step's stacking copies them);
  - gives every child a copy of its parent's token ids, entropies, varentropies and a record for each token;
  - hands all memory that is free back to the driver (torch.cuda.empty_cache), to be asked for again by the next step.
--ablate also measures it without the last, without the last but one, and without both. One thing is cheaper here than
there: a branch's K and V are plain lists, not Hugging Face's caches.

The model is a Qwen2 of the given geometry with random weights in bf16:

  transformers   Hugging Face's own, as the authors run it
  plain          written out here in PyTorch with as few operations as it takes, for what the loop alone costs

Prints JSON: seconds a step, for each model there is.

    python3 bench/authors_loop.py --branches 48 --private 256,1024,4096 --ablate
"""
import argparse
import json
import statistics
import sys
import time

import torch
import torch.nn.functional as F

GEOMETRIES = {  # layers, width, heads, KV heads, feed forward, vocabulary
    "1.5b": (28, 1536, 12, 2, 8960, 151936),
    "7b": (28, 3584, 28, 4, 18944, 152064),
}
HEAD = 128
WARM_UP = 6  # steps: the allocator grows with the lengths
ABLATIONS = ([], ["release"], ["histories"], ["release", "histories"])  # what is left out; the first is the loop itself


class PlainModel:
    def __init__(self, geometry):
        self.layers, self.width, self.heads, self.kv_heads, inner, vocabulary = geometry
        q, kv = self.heads * HEAD, self.kv_heads * HEAD

        def matrix(rows, columns):
            return torch.randn(rows, columns, device="cuda", dtype=torch.bfloat16) / columns**0.5

        self.embedding = matrix(vocabulary, self.width)
        self.blocks = [
            dict(q=matrix(q, self.width), k=matrix(kv, self.width), v=matrix(kv, self.width), o=matrix(self.width, q),
                 gate=matrix(inner, self.width), up=matrix(inner, self.width), down=matrix(self.width, inner))
            for _ in range(self.layers)
        ]
        self.frequencies = 1e4 ** (-torch.arange(0, HEAD, 2, device="cuda") / HEAD)

    @staticmethod
    def norm(x):
        return F.rms_norm(x, (x.shape[-1],))

    @staticmethod
    def rotate(x, angle):  # x: [batch, heads, 1, HEAD]
        cos, sin = angle.cos()[:, None, None].to(x.dtype), angle.sin()[:, None, None].to(x.dtype)
        a, b = x.chunk(2, dim=-1)
        return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)

    @staticmethod
    def stacked(layers):
        return list(layers)

    def step(self, tokens, cache):
        """cache: a layer's K and V, [batch, KV heads, length, HEAD]. Returns logits and the longer cache."""
        x = self.embedding[tokens]
        n = x.shape[0]
        angle = torch.full((n, 1), cache[0][0].shape[2], device="cuda") * self.frequencies[None, :]
        for i, block in enumerate(self.blocks):
            y = self.norm(x)
            q = self.rotate((y @ block["q"].T).view(n, self.heads, 1, HEAD), angle)
            k = self.rotate((y @ block["k"].T).view(n, self.kv_heads, 1, HEAD), angle)
            v = (y @ block["v"].T).view(n, self.kv_heads, 1, HEAD)
            k = torch.cat((cache[i][0], k), dim=2)
            v = torch.cat((cache[i][1], v), dim=2)
            cache[i] = (k, v)
            attended = F.scaled_dot_product_attention(q, k, v, enable_gqa=True)
            x = x + attended.reshape(n, -1) @ block["o"].T
            y = self.norm(x)
            x = x + (F.silu(y @ block["gate"].T) * (y @ block["up"].T)) @ block["down"].T
        return self.norm(x) @ self.embedding.T, cache


class TransformersModel:
    def __init__(self, geometry):
        from transformers import Qwen2Config, Qwen2ForCausalLM

        self.layers, width, heads, self.kv_heads, inner, vocabulary = geometry
        config = Qwen2Config(vocab_size=vocabulary, hidden_size=width, intermediate_size=inner,
                             num_hidden_layers=self.layers, num_attention_heads=heads,
                             num_key_value_heads=self.kv_heads, max_position_embeddings=32768,
                             tie_word_embeddings=True)
        torch.set_default_dtype(torch.bfloat16)
        with torch.device("cuda"):
            self.model = Qwen2ForCausalLM(config).eval()
        torch.set_default_dtype(torch.float32)

    @staticmethod
    def stacked(layers):
        from transformers.cache_utils import DynamicCache, DynamicLayer

        cache = DynamicCache()
        for k, v in layers:  # put there as they are, as transformers 4.54 does; update() of later ones would copy them
            layer = DynamicLayer()
            layer.keys, layer.values = k, v
            layer.dtype, layer.device, layer.is_initialized = k.dtype, k.device, True
            cache.layers.append(layer)
        return cache

    def step(self, tokens, cache):
        out = self.model(input_ids=tokens[:, None], past_key_values=cache, use_cache=True)
        return out.logits[:, -1, :], [(layer.keys, layer.values) for layer in out.past_key_values.layers]


def decide(branch):
    """The next token of a branch, by the logits of the last step; no tree branches any more at 48."""
    log_p = F.log_softmax(branch["logits"] / 0.6, dim=-1)
    p = log_p.exp()
    entropy = -(p * log_p).sum().item()
    varentropy = (p * (-log_p - entropy) ** 2).sum().item()
    branch["entropies"].append(entropy)
    branch["varentropies"].append(varentropy)
    branch["token"] = torch.multinomial(F.softmax(branch["logits"] / 0.6, dim=-1), 1).item()


def child_of(branch, layers, logits, row, without):
    token = branch["token"]
    log_p = F.log_softmax(branch["logits"], dim=-1)
    child = dict(cache=[(k[row : row + 1], v[row : row + 1]) for k, v in layers], logits=logits[row],
                 log_probability=branch["log_probability"] + log_p[token].item())
    record = dict(token=token, log_probability=log_p[token].item(), entropy=branch["entropies"][-1],
                  varentropy=branch["varentropies"][-1])
    for history, new in (("tokens", [token]), ("entropies", []), ("varentropies", []), ("records", [record])):
        child[history] = [] if "histories" in without else branch[history] + new
    return child


def one_step(model, branches, without):
    for branch in branches:
        decide(branch)
    # Stack: a tensor a layer, from as many as there are branches. Nothing else holds them: the model replaces each.
    cache = model.stacked(tuple(torch.cat([b["cache"][i][part] for b in branches], dim=0) for part in (0, 1))
                          for i in range(model.layers))
    tokens = torch.tensor([b["token"] for b in branches], device="cuda")
    logits, layers = model.step(tokens, cache)
    del cache
    # Split again.
    children = [child_of(branch, layers, logits, row, without) for row, branch in enumerate(branches)]
    for branch in branches:
        branch["cache"] = branch["logits"] = None
    branches[:] = children
    del children, layers, logits
    if "release" not in without:
        torch.cuda.empty_cache()


def measure(name, model, vocabulary, flags, without):
    for private in map(int, flags.private.split(",")):
        length = flags.shared + private  # nothing is shared: every branch has its own copy of the prompt
        part = lambda: torch.randn(1, model.kv_heads, length, HEAD, device="cuda", dtype=torch.bfloat16)
        branches = [dict(cache=[(part(), part()) for _ in range(model.layers)], log_probability=0.0,
                         logits=torch.randn(vocabulary, device="cuda", dtype=torch.bfloat16),
                         tokens=list(range(private)), entropies=[float(i) for i in range(private)],
                         varentropies=[float(i) for i in range(private)],
                         records=[dict(token=i) for i in range(private)])
                    for _ in range(flags.branches)]
        times = []
        for _ in range(flags.steps + WARM_UP):
            torch.cuda.synchronize()
            start = time.perf_counter()
            one_step(model, branches, without)
            torch.cuda.synchronize()
            times.append(time.perf_counter() - start)
        yield dict(model=name, without=without, geometry=flags.geometry, branches=flags.branches,
                   private_tokens=private, step_s=statistics.median(times[WARM_UP:]))
        del branches
        torch.cuda.empty_cache()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--geometry", default="1.5b", choices=GEOMETRIES)
    parser.add_argument("--branches", type=int, default=48)
    parser.add_argument("--shared", type=int, default=512)
    parser.add_argument("--private", default="256,1024,4096")
    parser.add_argument("--steps", type=int, default=15)
    parser.add_argument("--ablate", action="store_true")
    flags = parser.parse_args()
    torch.manual_seed(1)
    geometry = GEOMETRIES[flags.geometry]
    out = []
    with torch.inference_mode():
        for name, make in (("plain", PlainModel), ("transformers", TransformersModel)):
            try:
                model = make(geometry)
                for without in ABLATIONS if flags.ablate else ABLATIONS[:1]:
                    out += measure(name, model, geometry[-1], flags, without)
            except (ImportError, AttributeError, TypeError) as error:
                print(f"authors_loop: without {name}: {error}", file=sys.stderr)
    print(json.dumps(out, indent=2))


if __name__ == "__main__":
    main()
