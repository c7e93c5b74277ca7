"""A model of one's own: a class that returns logits is an engine, and an object that encodes text is its tokenizer.

The least that is needed is one function from all tokens so far to the logits of the next one:

    class Mine(dts.Engine):
        vocab_size = 256
        def logits(self, tokens):
            return my_network(tokens)[-1]

An engine that keeps something for each branch (a KV cache, say) overrides `open`, `fork`, `release` and `step` instead.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Iterable, Protocol, Union, runtime_checkable

from . import _core


@dataclass(frozen=True)
class Feed:
    """Tokens to append to one branch."""

    state: Any
    """What `open` or `fork` returned for the branch. Change it in place, or keep a key in it."""
    tokens: list[int]
    """At least one; several at the prompt, one afterwards."""
    predict: bool
    """Whether the logits after the last of them are wanted. False for all but the end of a prompt."""


class Engine:
    """Base class of models written in Python. Its methods are called from a thread of the library's, one at a time."""

    vocab_size: int
    """Tokens, and so the length of a row of logits."""
    context_length: int = 4096
    """Tokens a branch can hold, prompt and answer together."""
    prefill_chunk: int = 512
    """Tokens of a prompt that one feed carries at most."""
    most_branches: int = 252
    """Branches that can be open at once."""
    batch_invariant: bool = False
    """Whether a branch's logits are the same to the last bit whatever else is in the step."""
    name: str = "own model"
    """As a person would name it."""
    last_error: BaseException | None = None
    """What one of the methods raised last."""

    def open(self) -> Any:
        """A new, empty branch; what it returns is the branch's state. As it comes: a list of the tokens fed."""
        return []

    def fork(self, state: Any) -> Any:
        """A branch with the same tokens as `state`, independent of it from now on. As it comes: a deep copy."""
        return copy.deepcopy(state)

    def release(self, state: Any) -> None:
        """The branch is no longer needed."""

    def step(self, feeds: Sequence[Feed]) -> Sequence[Any]:
        """Appends each feed's tokens to its branch and returns a row of logits for each: `vocab_size` numbers, as a
        list, an array or a numpy array of float32 or float64; rows that no prediction was asked of may be None.
        As it comes: asks `logits` for every row.
        """
        rows: list[Any] = []
        for feed in feeds:
            feed.state.extend(feed.tokens)
            rows.append(self.logits(feed.state) if feed.predict else None)
        return rows

    def logits(self, tokens: Sequence[int]) -> Any:
        """The logits after `tokens`, which are all of the branch's."""
        raise NotImplementedError(f"{type(self).__name__} has neither logits() nor step(): it needs one of them")


@runtime_checkable
class Tokenizer(Protocol):
    """What text is made of. `dts.Model.tokenizer` is one, too, and can be lent to an engine of one's own."""

    @property
    def pieces(self) -> Sequence[bytes]:
        """The bytes of each token."""

    @property
    def end_tokens(self) -> Iterable[int]:
        """Tokens that end an answer."""

    def encode(self, text: str) -> Sequence[int]:
        """The tokens of a text, special tokens included."""

    def chat(self, messages: Sequence[dict[str, str]]) -> str:
        """The prompt for a conversation: messages have a "role" and a "content"."""


class ModelTokenizer:
    """The tokenizer of a loaded model."""

    def __init__(self, vocabulary: _core.Vocabulary) -> None:
        self._vocabulary = vocabulary

    @property
    def vocab_size(self) -> int:
        """Tokens there are."""
        return self._vocabulary.size

    @property
    def pieces(self) -> list[bytes]:
        """The bytes of each token; control tokens have their names."""
        return [self._vocabulary.piece(token) for token in range(self._vocabulary.size)]

    @property
    def end_tokens(self) -> list[int]:
        """Tokens that end an answer."""
        return [token for token in range(self._vocabulary.size) if self._vocabulary.is_end(token)]

    def encode(self, text: str, special: bool = True) -> list[int]:
        """The tokens of a text; `special`: names of control tokens in it become those tokens."""
        return self._vocabulary.encode(text, special)

    def decode(self, tokens: Iterable[int]) -> str:
        """The text of some tokens; bytes that are no UTF-8 are replaced."""
        return b"".join(self._vocabulary.piece(token) for token in tokens).decode("utf-8", "replace")

    def chat(self, messages: Sequence[dict[str, str]]) -> str:
        """The prompt that the model's chat template makes of a conversation."""
        return self._vocabulary.chat([(m["role"], m["content"]) for m in messages])[0]


class _Text:
    """What the library asks of a tokenizer for whole texts, as plain types."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer

    def encode(self, text: str) -> list[int]:
        return [int(token) for token in self._tokenizer.encode(text)]

    def chat(self, messages: list[dict[str, str]]) -> str:
        return self._tokenizer.chat(messages)


def vocabulary_of(tokenizer: Union[Tokenizer, ModelTokenizer]) -> _core.Vocabulary:
    """The library's view of a tokenizer."""
    if isinstance(tokenizer, ModelTokenizer):
        return tokenizer._vocabulary
    return _core.Vocabulary.of(
        [bytes(piece) for piece in tokenizer.pieces],
        [int(token) for token in tokenizer.end_tokens],
        _Text(tokenizer),
    )
