"""A causal language model of Hugging Face's transformers as a model of dts.

    from transformers import AutoModelForCausalLM, AutoTokenizer
    import dts.hf

    name = "Qwen/Qwen3-0.6B"
    model = dts.hf.model(AutoModelForCausalLM.from_pretrained(name), AutoTokenizer.from_pretrained(name))
    print(model.run("How many primes are below 50?").answer)

Branches of equal length go through the network as one batch, and their KV cache stays a batch from step to step: a step
copies it only when branches were opened or closed since the last one.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Iterable

from .engine import Engine, Feed
from .errors import UsageError
from .model import Model

_Layers = list[tuple[Any, Any]]
"""Keys and values of each layer, both [branches, heads, tokens, head dimension]."""


def _layers_of(cache: Any) -> _Layers:
    """The tensors of a cache, whichever version of transformers made it."""
    if hasattr(cache, "layers"):
        return [(layer.keys, layer.values) for layer in cache.layers]
    if hasattr(cache, "key_cache"):
        return list(zip(cache.key_cache, cache.value_cache))
    return [(layer[0], layer[1]) for layer in cache]


def _cache_of(layers: _Layers, kind: type | None) -> Any:
    """The reverse: `kind` is the class of cache that the model returned, None for plain tuples."""
    if kind is None:
        return tuple(layers)
    cache = kind()
    for index, (keys, values) in enumerate(layers):
        cache.update(keys, values, index)
    return cache


class _Batch:
    """A cache that some branches share, a row each."""

    def __init__(self, layers: _Layers, length: int) -> None:
        self.layers = layers
        self.length = length  # tokens
        self.users = 0


class _Branch:
    """Which row of which batch a branch is. No batch: it is empty."""

    def __init__(self, batch: _Batch | None = None, row: int = 0) -> None:
        self.batch: _Batch | None = None
        self.row = 0
        self.move(batch, row)

    def move(self, batch: _Batch | None, row: int) -> None:
        if self.batch is not None:
            self.batch.users -= 1
        self.batch, self.row = batch, row
        if batch is not None:
            batch.users += 1

    @property
    def length(self) -> int:
        return 0 if self.batch is None else self.batch.length


class CausalEngine(Engine):
    """An engine over `model(input_ids, past_key_values=..., use_cache=True)`, which returns logits and a new cache."""

    def __init__(self, model: Any, vocab_size: int, name: str = "", context_length: int = 0) -> None:
        """vocab_size: tokens of the tokenizer; logits beyond it (padding) are left out."""
        import torch

        self._torch = torch
        self._model = model.eval() if hasattr(model, "eval") else model
        self._device = next(iter(model.parameters())).device
        config = getattr(model, "config", None)
        self.vocab_size = vocab_size
        self.name = name or str(getattr(config, "_name_or_path", "") or type(model).__name__)
        self.context_length = context_length or int(getattr(config, "max_position_embeddings", 0) or 4096)
        self._kind: type | None = None

    def open(self) -> _Branch:
        return _Branch()

    def fork(self, state: _Branch) -> _Branch:
        return _Branch(state.batch, state.row)

    def release(self, state: _Branch) -> None:
        state.move(None, 0)

    def step(self, feeds: Sequence[Feed]) -> list[Any]:
        rows: list[Any] = [None] * len(feeds)
        groups: dict[tuple[int, int], list[int]] = {}
        for index, feed in enumerate(feeds):
            groups.setdefault((feed.state.length, len(feed.tokens)), []).append(index)
        with self._torch.inference_mode():
            for members in groups.values():
                self._step_group([feeds[index] for index in members], members, rows)
        return rows

    def _step_group(self, feeds: list[Feed], members: list[int], rows: list[Any]) -> None:
        branches: list[_Branch] = [feed.state for feed in feeds]
        length = branches[0].length
        ids = self._torch.tensor([feed.tokens for feed in feeds], device=self._device)
        # A batch whose every row is fed is this step's to change; of another, the rows are copied.
        past = None if length == 0 else _cache_of(self._gather(branches), self._kind)
        out = self._model(input_ids=ids, past_key_values=past, use_cache=True)
        made = out.past_key_values
        self._kind = None if isinstance(made, tuple) else type(made)
        batch = _Batch(_layers_of(made), length + ids.shape[1])
        logits = out.logits[:, -1, : self.vocab_size].float().cpu()
        if logits.shape[1] != self.vocab_size:
            raise UsageError(
                f"the model has {logits.shape[1]} logits, the tokenizer {self.vocab_size} tokens: the model must have as many"
            )
        for row, (index, branch) in enumerate(zip(members, branches)):
            branch.move(batch, row)
            rows[index] = logits[row].numpy() if feeds[row].predict else None

    def _gather(self, branches: list[_Branch]) -> _Layers:
        torch = self._torch
        parts: list[tuple[_Batch, list[int]]] = []
        for branch in branches:
            assert branch.batch is not None  # length > 0
            if parts and parts[-1][0] is branch.batch:
                parts[-1][1].append(branch.row)
            else:
                parts.append((branch.batch, [branch.row]))
        first, order = parts[0]
        if len(parts) == 1 and first.users == len(order) and order == list(range(first.users)):
            return first.layers
        picked: list[_Layers] = []
        for batch, chosen in parts:
            select = torch.tensor(chosen, device=self._device)
            picked.append([(k.index_select(0, select), v.index_select(0, select)) for k, v in batch.layers])
        if len(picked) == 1:
            return picked[0]
        return [
            (torch.cat([part[layer][0] for part in picked]), torch.cat([part[layer][1] for part in picked]))
            for layer in range(len(picked[0]))
        ]


def _byte_alphabet() -> dict[str, int]:
    """Byte-level tokenizers spell each byte as a printable character: itself where it is one, else one from 256 on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    alphabet = {chr(byte): byte for byte in printable}
    others = [byte for byte in range(256) if byte not in printable]
    alphabet.update({chr(256 + index): byte for index, byte in enumerate(others)})
    return alphabet


def pieces_of(tokenizer: Any, size: int) -> list[bytes]:
    """The bytes of each token of a transformers tokenizer, of byte-level BPE or SentencePiece."""
    names: list[str | None] = list(tokenizer.convert_ids_to_tokens(list(range(min(size, len(tokenizer))))))
    special = set(getattr(tokenizer, "all_special_tokens", ()))
    added = {str(token) for token in getattr(tokenizer, "get_added_vocab", dict)()}
    alphabet = _byte_alphabet()
    byte_level = any(name is not None and "\u0120" in name for name in names)  # a space, in that alphabet
    pieces: list[bytes] = []
    for name in names:
        if name is None:
            pieces.append(b"")
        elif name in special or name in added:
            pieces.append(name.encode())
        elif byte_level and all(character in alphabet for character in name):
            pieces.append(bytes(alphabet[character] for character in name))
        elif len(name) == 6 and name.startswith("<0x") and name.endswith(">"):
            pieces.append(bytes([int(name[3:5], 16)]))
        else:
            pieces.append(name.replace("\u2581", " ").encode())
    return pieces + [b""] * (size - len(pieces))


class HfTokenizer:
    """A transformers tokenizer as dts asks for one."""

    def __init__(self, tokenizer: Any, end_tokens: Iterable[int], size: int) -> None:
        self._tokenizer = tokenizer
        self.pieces = pieces_of(tokenizer, size)
        self.end_tokens = sorted(end_tokens)

    def encode(self, text: str) -> list[int]:
        """The tokens of a prompt, which the chat template has completed."""
        return list(self._tokenizer.encode(text, add_special_tokens=False))

    def chat(self, messages: Sequence[dict[str, str]]) -> str:
        """The prompt that the tokenizer's chat template makes of a conversation."""
        return str(self._tokenizer.apply_chat_template(list(messages), tokenize=False, add_generation_prompt=True))


def _end_tokens(model: Any, tokenizer: Any) -> set[int]:
    """Those of the generation configuration and the tokenizer: models have one, or several."""
    ends: set[int] = set()
    for owner in (getattr(model, "generation_config", None), getattr(model, "config", None), tokenizer):
        given = getattr(owner, "eos_token_id", None)
        if given is not None:
            ends.update([given] if isinstance(given, int) else given)
    return ends


def model(
    model: Any,
    tokenizer: Any,
    *,
    name: str = "",
    context_length: int = 0,
    parallel_branches: int = 48,
    profile: str | os.PathLike[str] | None = None,
    answer: str = "auto",
) -> Model:
    """A dts.Model of a transformers causal model and its tokenizer. Needs torch.

    profile, answer: as for dts.Model. The model's recommended sampling is not taken over: give temperature, top_p, ... to `run`.
    """
    config = getattr(model, "config", None)
    size = int(getattr(config, "vocab_size", 0) or len(tokenizer))
    ends = _end_tokens(model, tokenizer)
    if not ends:
        raise UsageError("neither the model nor the tokenizer names an end token (eos_token_id): no answer would end")
    engine = CausalEngine(model, size, name=name, context_length=context_length)
    return Model.of(
        engine,
        HfTokenizer(tokenizer, ends, size),
        parallel_branches=parallel_branches,
        profile=profile,
        answer=answer,
    )
