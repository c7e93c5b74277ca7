"""The built-in model a second time, in numpy: its GGUF file read and its graph written out, as an engine for dts.

Slow and obvious: what the library's own engine is compared with, and an example of a model of one's own.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import dts

_SCALARS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9


def read_gguf(path: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Metadata and tensors (f32 and f16, as f32) of a GGUF file, version 3."""
    with open(path, "rb") as file:
        data = file.read()
    at = 0

    def scalar(code: str) -> Any:
        nonlocal at
        (value,) = struct.unpack_from("<" + code, data, at)
        at += struct.calcsize("<" + code)
        return value

    def text() -> str:
        nonlocal at
        size = scalar("Q")
        at += size
        return data[at - size : at].decode("utf-8", "replace")

    def value(kind: int) -> Any:
        if kind == _STRING:
            return text()
        if kind == _ARRAY:
            inner, count = scalar("I"), scalar("Q")
            return [value(inner) for _ in range(count)]
        return scalar(_SCALARS[kind])

    assert scalar("I") == 0x46554747 and scalar("I") == 3
    tensors, pairs = scalar("Q"), scalar("Q")
    metadata = {}
    for _ in range(pairs):
        key = text()
        metadata[key] = value(scalar("I"))
    entries = []
    for _ in range(tensors):
        name = text()
        shape = [scalar("Q") for _ in range(scalar("I"))]
        entries.append((name, shape[::-1], scalar("I"), scalar("Q")))
    base = -(-at // 32) * 32
    weights = {}
    for name, shape, kind, offset in entries:
        dtype = {0: "<f4", 1: "<f2"}[kind]
        flat = np.frombuffer(data, dtype, int(np.prod(shape)), base + offset)
        weights[name] = flat.reshape(shape).astype(np.float32)
    return metadata, weights


@dataclass
class Cache:
    """Keys and values of a branch, [layers, kv heads, context, head dimension], and how many tokens it holds."""

    keys: Any
    values: Any
    length: int = 0


def normed(x: Any, weight: Any, eps: float) -> Any:
    return x / np.sqrt(np.mean(x * x, -1, keepdims=True) + eps) * weight


class NumpyNano(dts.Engine):
    """One token at a time, every branch for itself."""

    name = "dts-nano in numpy"
    batch_invariant = True

    def __init__(self, path: str, dtype: Any = np.float32) -> None:
        facts, weights = read_gguf(path)
        self.w = {name: weight.astype(dtype) for name, weight in weights.items()}
        self.dtype = dtype
        self.layers = facts["qwen3.block_count"]
        self.heads = facts["qwen3.attention.head_count"]
        self.kv_heads = facts["qwen3.attention.head_count_kv"]
        self.dim = facts["qwen3.attention.key_length"]
        self.eps = facts["qwen3.attention.layer_norm_rms_epsilon"]
        self.base = facts["qwen3.rope.freq_base"]
        self.vocab_size = self.w["token_embd.weight"].shape[0]
        self.context_length = facts["qwen3.context_length"]

    def open(self) -> Cache:
        shape = (self.layers, self.kv_heads, self.context_length, self.dim)
        return Cache(np.zeros(shape, self.dtype), np.zeros(shape, self.dtype))

    def fork(self, state: Cache) -> Cache:
        return Cache(state.keys.copy(), state.values.copy(), state.length)

    def step(self, feeds: Sequence[dts.Feed]) -> list[Any]:
        rows = []
        for feed in feeds:
            for token in feed.tokens:
                logits = self.feed(feed.state, token)
            rows.append(logits)
        return rows

    def rotate(self, x: Any, position: int) -> Any:
        """x [heads, dim]: halves turned against each other (NeoX)."""
        half = self.dim // 2
        angle = position * self.base ** (-np.arange(half) / half)
        cos, sin = np.cos(angle).astype(self.dtype), np.sin(angle).astype(self.dtype)
        a, b = x[:, :half], x[:, half:]
        return np.concatenate([a * cos - b * sin, b * cos + a * sin], 1)

    def feed(self, cache: Cache, token: int) -> Any:
        """Appends a token to a branch and returns the logits after it."""
        w, at = self.w, cache.length
        x = w["token_embd.weight"][token]
        for layer in range(self.layers):
            p = f"blk.{layer}."
            y = normed(x, w[p + "attn_norm.weight"], self.eps)
            q = (w[p + "attn_q.weight"] @ y).reshape(self.heads, self.dim)
            k = (w[p + "attn_k.weight"] @ y).reshape(self.kv_heads, self.dim)
            v = (w[p + "attn_v.weight"] @ y).reshape(self.kv_heads, self.dim)
            q = self.rotate(normed(q, w[p + "attn_q_norm.weight"], self.eps), at)
            k = self.rotate(normed(k, w[p + "attn_k_norm.weight"], self.eps), at)
            # The library's engine keeps keys and values as f16.
            cache.keys[layer, :, at] = k.astype(np.float16)
            cache.values[layer, :, at] = v.astype(np.float16)
            keys, values = cache.keys[layer, :, : at + 1], cache.values[layer, :, : at + 1]  # [kv heads, tokens, dim]
            q = q.reshape(self.kv_heads, -1, self.dim)  # [kv heads, heads that share one, dim]
            scores = q @ keys.transpose(0, 2, 1) / np.sqrt(self.dim).astype(self.dtype)
            weights = np.exp(scores - scores.max(-1, keepdims=True))
            attended = weights / weights.sum(-1, keepdims=True) @ values
            x = x + w[p + "attn_output.weight"] @ attended.reshape(-1)
            y = normed(x, w[p + "ffn_norm.weight"], self.eps)
            gate = w[p + "ffn_gate.weight"] @ y
            x = x + w[p + "ffn_down.weight"] @ (gate / (1 + np.exp(-gate)) * (w[p + "ffn_up.weight"] @ y))
        cache.length += 1
        return (w["token_embd.weight"] @ normed(x, w["output_norm.weight"], self.eps)).astype(np.float32)
