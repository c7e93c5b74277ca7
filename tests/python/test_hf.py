"""dts.hf on a network with the interface of transformers' causal models: the built-in model's weights in torch."""

from __future__ import annotations

import os
import types
import unittest
from typing import Any

import dts

try:
    import torch
except ImportError:
    torch = None

NANO = os.environ["DTS_NANO_MODEL"]


class Tokenizer:
    """The built-in model's, with the names that transformers' tokenizers have."""

    eos_token_id = 2
    all_special_tokens = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]

    def __init__(self, tokenizer: dts.ModelTokenizer) -> None:
        from dts.hf import _byte_alphabet

        letters = {byte: letter for letter, byte in _byte_alphabet().items()}
        self._inner = tokenizer
        self._names = [
            piece.decode() if token < 5 else "".join(letters[byte] for byte in piece)
            for token, piece in enumerate(tokenizer.pieces)
        ]

    def __len__(self) -> int:
        return len(self._names)

    def get_added_vocab(self) -> dict[str, int]:
        return {name: token for token, name in enumerate(self._names[:5])}

    def convert_ids_to_tokens(self, ids: list[int]) -> list[str]:
        return [self._names[token] for token in ids]

    def encode(self, text: str, add_special_tokens: bool = True) -> list[int]:
        return self._inner.encode(text)

    def apply_chat_template(self, messages: Any, tokenize: bool, add_generation_prompt: bool) -> str:
        return self._inner.chat(messages)


class DynamicCache:
    """A cache as transformers has had it since 2024: it grows in place."""

    def __init__(self) -> None:
        self.key_cache: list[Any] = []
        self.value_cache: list[Any] = []

    def update(self, keys: Any, values: Any, layer: int) -> tuple[Any, Any]:
        if layer == len(self.key_cache):
            self.key_cache.append(keys)
            self.value_cache.append(values)
        else:
            self.key_cache[layer] = torch.cat([self.key_cache[layer], keys], 2)
            self.value_cache[layer] = torch.cat([self.value_cache[layer], values], 2)
        return self.key_cache[layer], self.value_cache[layer]


class NewerCache:
    """And as it has had it since 2025: an object a layer."""

    def __init__(self) -> None:
        self.layers: list[Any] = []

    def update(self, keys: Any, values: Any, layer: int) -> tuple[Any, Any]:
        if layer == len(self.layers):
            self.layers.append(types.SimpleNamespace(keys=keys, values=values))
        else:
            at = self.layers[layer]
            at.keys, at.values = torch.cat([at.keys, keys], 2), torch.cat([at.values, values], 2)
        return self.layers[layer].keys, self.layers[layer].values


def make_network(cache_type: Any) -> Any:
    from numpy_nano import NumpyNano

    nano = NumpyNano(NANO)
    weights = {name: torch.from_numpy(weight) for name, weight in nano.w.items()}

    def normed(x: Any, name: str) -> Any:
        return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + nano.eps) * weights[name]

    def rotate(x: Any, start: int) -> Any:
        half = nano.dim // 2
        angle = torch.arange(start, start + x.shape[2])[:, None] * nano.base ** (-torch.arange(half) / half)
        a, b = x[..., :half], x[..., half:]
        return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], -1)

    class Network(torch.nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(weights["token_embd.weight"])
            self.config = types.SimpleNamespace(vocab_size=nano.vocab_size, max_position_embeddings=640)
            self.calls = 0

        def forward(self, input_ids: Any, past_key_values: Any = None, use_cache: bool = True) -> Any:
            self.calls += 1
            tuples = cache_type is tuple
            cache = DynamicCache() if tuples else (past_key_values or cache_type())
            if tuples and past_key_values is not None:
                for layer, (k, v) in enumerate(past_key_values):
                    cache.update(k, v, layer)
            rows, count = input_ids.shape
            x, past = self.weight[input_ids], 0
            for layer in range(nano.layers):
                p = f"blk.{layer}."
                y = normed(x, p + "attn_norm.weight")

                def heads(name: str, n: int) -> Any:
                    return (y @ weights[p + name].T).view(rows, count, n, nano.dim).transpose(1, 2)

                q, k, v = heads("attn_q.weight", nano.heads), heads("attn_k.weight", nano.kv_heads), heads("attn_v.weight", nano.kv_heads)
                q, k = normed(q, p + "attn_q_norm.weight"), normed(k, p + "attn_k_norm.weight")
                if layer == 0:
                    held = getattr(cache, "key_cache", None) or [at.keys for at in getattr(cache, "layers", [])]
                    past = held[0].shape[2] if held else 0
                keys, values = cache.update(rotate(k, past), v, layer)
                group = nano.heads // nano.kv_heads
                keys, values = keys.repeat_interleave(group, 1), values.repeat_interleave(group, 1)
                scores = rotate(q, past) @ keys.transpose(2, 3) / nano.dim**0.5
                mask = torch.ones(count, past + count, dtype=torch.bool).tril(past)
                attended = scores.masked_fill(~mask, -torch.inf).softmax(-1) @ values
                x = x + attended.transpose(1, 2).reshape(rows, count, -1) @ weights[p + "attn_output.weight"].T
                y = normed(x, p + "ffn_norm.weight")
                gated = torch.nn.functional.silu(y @ weights[p + "ffn_gate.weight"].T) * (y @ weights[p + "ffn_up.weight"].T)
                x = x + gated @ weights[p + "ffn_down.weight"].T
            logits = normed(x, "output_norm.weight") @ self.weight.T
            made = tuple(zip(cache.key_cache, cache.value_cache)) if tuples else cache
            return types.SimpleNamespace(logits=logits, past_key_values=made)

    return Network()


@unittest.skipIf(torch is None, "torch is not installed")
class HfTest(unittest.TestCase):
    def test_same_trees_with_every_kind_of_cache(self) -> None:
        import dts.hf

        ours = dts.Model.built_in()
        tokenizer = Tokenizer(ours.tokenizer)
        for kind in (tuple, DynamicCache, NewerCache):
            network = make_network(kind)
            model = dts.hf.model(network, tokenizer, name="nano in torch", answer="as-is")
            self.assertEqual(model.name, "nano in torch")
            for method in ("dts-stable", "deepconf-low"):
                with self.subTest(kind.__name__, method=method):
                    network.calls = 0
                    question = dts.examples()[0]["question"]
                    a = ours.run(question, method=method, seed=0)
                    b = model.run(question, method=method, seed=0)
                    self.assertEqual(
                        [(s.parent, s.state, [t.token for t in s.tokens]) for s in a.tree],
                        [(s.parent, s.state, [t.token for t in s.tokens]) for s in b.tree],
                    )
                    if method == "dts-stable":  # in lockstep: all branches of a step are one batch
                        self.assertLessEqual(network.calls, b.account.steps + 2)

    def test_a_real_tokenizer_and_model(self) -> None:
        try:
            import transformers
        except ImportError:
            self.skipTest("transformers is not installed")
        import dts.hf

        config = transformers.Qwen2Config(
            vocab_size=300, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
            num_key_value_heads=2, max_position_embeddings=128, eos_token_id=2,
        )  # fmt: skip
        torch.manual_seed(1)
        network = transformers.Qwen2ForCausalLM(config).eval()
        engine = dts.hf.CausalEngine(network, 300)
        branch = engine.open()
        tokens = [5, 6, 7, 8]
        engine.step([dts.Feed(branch, tokens[:2], False)])
        other = engine.fork(branch)
        rows = engine.step([dts.Feed(branch, tokens[2:3], True), dts.Feed(other, [9], True)])
        rows = engine.step([dts.Feed(branch, tokens[3:], True)])
        with torch.inference_mode():
            whole = network(torch.tensor([tokens])).logits[0, -1]
        self.assertLess(float((torch.from_numpy(rows[0]) - whole).abs().max()), 1e-4)


if __name__ == "__main__":
    unittest.main()
