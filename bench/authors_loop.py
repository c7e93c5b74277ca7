#!/usr/bin/env python3
"""The loop that the paper's authors published, in brief: what a step of it costs on a GPU.

Every branch keeps its own K and V. Every step stacks those of all branches into one batch, runs the model once, splits
the result into branches again, and decides branch by branch on the CPU. The model is a Qwen2 of the given geometry with
random weights in bf16, written out in PyTorch; attention is PyTorch's own. Prints JSON: seconds a step.

    python3 bench/authors_loop.py --branches 48 --private 256,1024,4096
"""
import argparse
import json
import statistics
import time

import torch
import torch.nn.functional as F

GEOMETRIES = {  # layers, width, heads, KV heads, feed forward, vocabulary
    "1.5b": (28, 1536, 12, 2, 8960, 151936),
    "7b": (28, 3584, 28, 4, 18944, 152064),
}
HEAD = 128


class Model:
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
        frequencies = 1e4 ** (-torch.arange(0, HEAD, 2, device="cuda") / HEAD)
        self.turns = lambda positions: positions[:, None] * frequencies[None, :]

    @staticmethod
    def norm(x):
        return F.rms_norm(x, (x.shape[-1],))

    @staticmethod
    def rotate(x, angle):  # x: [batch, heads, 1, HEAD]
        cos, sin = angle.cos()[:, None, None].to(x.dtype), angle.sin()[:, None, None].to(x.dtype)
        a, b = x.chunk(2, dim=-1)
        return torch.cat((a * cos - b * sin, b * cos + a * sin), dim=-1)

    def step(self, tokens, positions, keys, values):
        """keys, values: a layer's [batch, KV heads, length, HEAD]. Returns logits and the longer keys and values."""
        x = self.embedding[tokens]
        angle = self.turns(positions.float())
        new_keys, new_values = [], []
        for i, block in enumerate(self.blocks):
            y = self.norm(x)
            n = x.shape[0]
            q = self.rotate((y @ block["q"].T).view(n, self.heads, 1, HEAD), angle)
            k = self.rotate((y @ block["k"].T).view(n, self.kv_heads, 1, HEAD), angle)
            v = (y @ block["v"].T).view(n, self.kv_heads, 1, HEAD)
            k = torch.cat((keys[i], k), dim=2)
            v = torch.cat((values[i], v), dim=2)
            new_keys.append(k)
            new_values.append(v)
            attended = F.scaled_dot_product_attention(q, k, v, enable_gqa=True)
            x = x + attended.reshape(n, -1) @ block["o"].T
            y = self.norm(x)
            x = x + (F.silu(y @ block["gate"].T) * (y @ block["up"].T)) @ block["down"].T
        return self.norm(x) @ self.embedding.T, new_keys, new_values


def one_step(model, branches):
    # Stack: a tensor a layer, from as many as there are branches.
    keys = [torch.cat([b["keys"][i] for b in branches], dim=0) for i in range(model.layers)]
    values = [torch.cat([b["values"][i] for b in branches], dim=0) for i in range(model.layers)]
    tokens = torch.tensor([b["token"] for b in branches], device="cuda")
    positions = torch.tensor([b["length"] for b in branches], device="cuda")
    logits, keys, values = model.step(tokens, positions, keys, values)
    # Split again.
    for row, branch in enumerate(branches):
        branch["keys"] = [k[row : row + 1].clone() for k in keys]
        branch["values"] = [v[row : row + 1].clone() for v in values]
        branch["length"] += 1
    # Decide, branch by branch.
    for row, branch in enumerate(branches):
        p = F.softmax(logits[row].float(), dim=-1)
        log_p = torch.log(p + 1e-12)
        entropy = -(p * log_p).sum()
        varentropy = (p * (log_p + entropy) ** 2).sum()
        branch["decides"] = entropy.item() <= 2.5 and varentropy.item() >= 1.5
        branch["token"] = torch.multinomial(p, 1).item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--geometry", default="1.5b", choices=GEOMETRIES)
    parser.add_argument("--branches", type=int, default=48)
    parser.add_argument("--shared", type=int, default=512)
    parser.add_argument("--private", default="256,1024,4096")
    parser.add_argument("--steps", type=int, default=5)
    flags = parser.parse_args()
    torch.manual_seed(1)
    out = []
    with torch.inference_mode():
        model = Model(GEOMETRIES[flags.geometry])
        for private in map(int, flags.private.split(",")):
            length = flags.shared + private  # nothing is shared: every branch has its own copy of the prompt
            cache = lambda: [
                torch.randn(1, model.kv_heads, length, HEAD, device="cuda", dtype=torch.bfloat16)
                for _ in range(model.layers)
            ]
            branches = [dict(keys=cache(), values=cache(), length=length, token=1) for _ in range(flags.branches)]
            times = []
            for _ in range(flags.steps + 2):
                torch.cuda.synchronize()
                start = time.perf_counter()
                one_step(model, branches)
                torch.cuda.synchronize()
                times.append(time.perf_counter() - start)
            out.append(dict(geometry=flags.geometry, branches=flags.branches, private_tokens=private,
                            step_s=statistics.median(times[2:])))
            del branches
            torch.cuda.empty_cache()
    print(json.dumps(out, indent=2))


if __name__ == "__main__":
    main()
