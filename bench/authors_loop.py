#!/usr/bin/env python3
"""The loop that the paper's authors published, in brief: what a step of it costs on a GPU.

Every branch keeps its own K and V. Every step decides branch by branch on the host, stacks the K and V of all branches
into one batch, runs the model once, and splits the result into branches again (as views: the next step's stacking copies
them). The model is a Qwen2 of the given geometry with random weights in bf16:

  transformers   Hugging Face's own, as the authors run it
  plain          written out here in PyTorch with as few operations as it takes, for what the loop alone costs

Prints JSON: seconds a step, for each model there is.

    python3 bench/authors_loop.py --branches 48 --private 256,1024,4096
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

    def step(self, tokens, keys, values):
        """keys, values: a layer's [batch, KV heads, length, HEAD]. Returns logits and the longer keys and values."""
        x = self.embedding[tokens]
        n = x.shape[0]
        angle = torch.full((n, 1), keys[0].shape[2], device="cuda") * self.frequencies[None, :]
        new_keys, new_values = [], []
        for i, block in enumerate(self.blocks):
            y = self.norm(x)
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

    def step(self, tokens, keys, values):
        from transformers.cache_utils import DynamicCache, DynamicLayer

        cache = DynamicCache()
        for k, v in zip(keys, values):  # put there as they are: update() would copy them once more
            layer = DynamicLayer()
            layer.keys, layer.values = k, v
            layer.dtype, layer.device, layer.is_initialized = k.dtype, k.device, True
            cache.layers.append(layer)
        out = self.model(input_ids=tokens[:, None], past_key_values=cache, use_cache=True)
        layers = out.past_key_values.layers
        return out.logits[:, -1, :], [layer.keys for layer in layers], [layer.values for layer in layers]


def one_step(model, branches):
    # Decide, branch by branch, by the logits of the last step.
    for branch in branches:
        logits = branch["logits"].float()
        log_p = F.log_softmax(logits / 0.6, dim=-1)
        p = log_p.exp()
        entropy = -(p * log_p).sum().item()
        varentropy = (p * (-log_p - entropy) ** 2).sum().item()
        branch["decides"] = entropy <= 2.5 and varentropy >= 1.5
        branch["token"] = torch.multinomial(F.softmax(logits, dim=-1), 1).item()
    # Stack: a tensor a layer, from as many as there are branches.
    keys = [torch.cat([b["keys"][i] for b in branches], dim=0) for i in range(model.layers)]
    values = [torch.cat([b["values"][i] for b in branches], dim=0) for i in range(model.layers)]
    tokens = torch.tensor([b["token"] for b in branches], device="cuda")
    logits, keys, values = model.step(tokens, keys, values)
    # Split again.
    for row, branch in enumerate(branches):
        branch["keys"] = [k[row : row + 1] for k in keys]
        branch["values"] = [v[row : row + 1] for v in values]
        branch["log_probability"] += F.log_softmax(branch["logits"].float(), dim=-1)[branch["token"]].item()
        branch["logits"] = logits[row]


def measure(name, model, vocabulary, flags):
    for private in map(int, flags.private.split(",")):
        length = flags.shared + private  # nothing is shared: every branch has its own copy of the prompt
        cache = lambda: [
            torch.randn(1, model.kv_heads, length, HEAD, device="cuda", dtype=torch.bfloat16)
            for _ in range(model.layers)
        ]
        branches = [dict(keys=cache(), values=cache(), token=1, log_probability=0.0,
                         logits=torch.randn(vocabulary, device="cuda", dtype=torch.bfloat16))
                    for _ in range(flags.branches)]
        times = []
        for _ in range(flags.steps + WARM_UP):
            torch.cuda.synchronize()
            start = time.perf_counter()
            one_step(model, branches)
            torch.cuda.synchronize()
            times.append(time.perf_counter() - start)
        yield dict(model=name, geometry=flags.geometry, branches=flags.branches, private_tokens=private,
                   step_s=statistics.median(times[WARM_UP:]))
        del branches
        torch.cuda.empty_cache()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--geometry", default="1.5b", choices=GEOMETRIES)
    parser.add_argument("--branches", type=int, default=48)
    parser.add_argument("--shared", type=int, default=512)
    parser.add_argument("--private", default="256,1024,4096")
    parser.add_argument("--steps", type=int, default=15)
    flags = parser.parse_args()
    torch.manual_seed(1)
    geometry = GEOMETRIES[flags.geometry]
    out = []
    with torch.inference_mode():
        for name, make in (("plain", PlainModel), ("transformers", TransformersModel)):
            try:
                model = make(geometry)
                out += measure(name, model, geometry[-1], flags)
            except (ImportError, AttributeError, TypeError) as error:
                print(f"authors_loop: without {name}: {error}", file=sys.stderr)
    print(json.dumps(out, indent=2))


if __name__ == "__main__":
    main()
