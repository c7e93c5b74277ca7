"""The network: Qwen3's graph (RMS norms, normalised queries and keys, grouped-query attention, SwiGLU, NeoX RoPE), tiny."""
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

from vocab import SIZE


@dataclass
class Config:
    layers: int = 6
    width: int = 128
    heads: int = 4
    kv_heads: int = 2
    head_dim: int = 32
    hidden: int = 384        # SwiGLU
    vocab: int = SIZE
    context: int = 640       # tokens
    rope_base: float = 10000.0
    eps: float = 1e-6


class Norm(nn.Module):
    def __init__(self, dim, eps):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(dim))
        self.eps = eps

    def forward(self, x):
        return F.rms_norm(x.float(), self.weight.shape, self.weight, self.eps).to(x.dtype)


def rope_table(config, device):
    """cos and sin, each [context, head_dim / 2]."""
    half = config.head_dim // 2
    inv = config.rope_base ** (-torch.arange(half, device=device, dtype=torch.float32) / half)
    angle = torch.arange(config.context, device=device, dtype=torch.float32)[:, None] * inv
    return angle.cos(), angle.sin()


def rotate(x, cos, sin):
    """x [..., head_dim]; cos, sin broadcastable to [..., head_dim / 2]."""
    a, b = x.float().chunk(2, -1)
    return torch.cat([torch.addcmul(a * cos, b, sin, value=-1), torch.addcmul(b * cos, a, sin)], -1).to(x.dtype)


class Layer(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.c = c
        self.attn_norm = Norm(c.width, c.eps)
        self.q = nn.Linear(c.width, c.heads * c.head_dim, bias=False)
        self.k = nn.Linear(c.width, c.kv_heads * c.head_dim, bias=False)
        self.v = nn.Linear(c.width, c.kv_heads * c.head_dim, bias=False)
        self.o = nn.Linear(c.heads * c.head_dim, c.width, bias=False)
        self.q_norm = Norm(c.head_dim, c.eps)
        self.k_norm = Norm(c.head_dim, c.eps)
        self.ffn_norm = Norm(c.width, c.eps)
        self.gate = nn.Linear(c.width, c.hidden, bias=False)
        self.up = nn.Linear(c.width, c.hidden, bias=False)
        self.down = nn.Linear(c.hidden, c.width, bias=False)

    def qkv(self, x, cos, sin):
        """x [B, T, width] -> q [B, heads, T, head_dim], k and v [B, kv_heads, T, head_dim]."""
        c, (b, t) = self.c, x.shape[:2]
        x = self.attn_norm(x)
        q = self.q_norm(self.q(x).view(b, t, c.heads, c.head_dim)).transpose(1, 2)
        k = self.k_norm(self.k(x).view(b, t, c.kv_heads, c.head_dim)).transpose(1, 2)
        v = self.v(x).view(b, t, c.kv_heads, c.head_dim).transpose(1, 2)
        return rotate(q, cos, sin), rotate(k, cos, sin), v

    def forward(self, x, cos, sin):
        """The whole layer for sequences that start at position 0."""
        q, k, v = self.qkv(x, cos, sin)
        return self.rest(x, F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True))

    def rest(self, x, attended):
        """Residual after attention [B, heads, T, head_dim], then the feed-forward block."""
        b, t = x.shape[:2]
        x = x + self.o(attended.transpose(1, 2).reshape(b, t, -1))
        y = self.ffn_norm(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Nano(nn.Module):
    def __init__(self, config=None):
        super().__init__()
        self.c = c = config or Config()
        self.embed = nn.Embedding(c.vocab, c.width)
        self.layers = nn.ModuleList(Layer(c) for _ in range(c.layers))
        self.norm = Norm(c.width, c.eps)
        for p in self.parameters():
            if p.dim() == 2:
                nn.init.normal_(p, std=0.02 if p is self.embed.weight else p.shape[1] ** -0.5)
        for layer in self.layers:
            for w in (layer.o.weight, layer.down.weight):
                w.data *= (2 * c.layers) ** -0.5
        self._rope = None

    def rope(self, device):
        if self._rope is None or self._rope[0].device != device:
            self._rope = rope_table(self.c, device)
        return self._rope

    def hidden(self, ids):
        """Causal forward pass, ids [B, T] from position 0: final states [B, T, width]."""
        cos, sin = (r[:ids.shape[1]] for r in self.rope(ids.device))
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x, cos, sin)
        return self.norm(x)

    def logits(self, hidden):
        return hidden @ self.embed.weight.t().to(hidden.dtype)   # tied with the embedding


def save(model, path):
    torch.save({"config": vars(model.c), "state": {k: v.float().cpu() for k, v in model.state_dict().items()}}, path)


def load(path, device="cpu"):
    data = torch.load(path, map_location=device)
    model = Nano(Config(**data["config"])).to(device)
    model.load_state_dict(data["state"])
    return model.eval()
