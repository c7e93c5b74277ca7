"""Decoding Tree Sketching: a reasoning model that thinks in parallel, without training.

    import dts

    model = dts.Model("model.gguf")            # or dts.Model.from_hub("org/repo:Q4_K_M"), dts.Model.built_in()
    result = model.run("How many primes are below 50?", seed=1)
    print(result.answer, result.votes)

docs/python.md has more.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from . import _core, answers, hub, results
from .engine import Engine, Feed, ModelTokenizer, Tokenizer
from .errors import Error, UsageError
from .model import Model, examples, read_profile
from .result import Account, Result, Trajectory, Vote
from .run import Event, Grown, Run
from .tree import Segment, Token, Tree

__version__: str = _core.version


class Method(NamedTuple):
    """A way to decode."""

    name: str
    summary: str
    source: str
    """Where it was published."""


class Option(NamedTuple):
    """Something that can be set for a question: `model.run(..., max_tokens=512)`."""

    name: str
    type: str
    """"int", "float" or "str"."""
    default: Any
    """None: chosen, as `default_text` says."""
    default_text: str
    expected: str
    """"a whole number from 1 to 100"."""
    help: str


def methods() -> list[Method]:
    """All methods, in the order a person should read them."""
    return [Method(*method) for method in _core.methods()]


def options() -> list[Option]:
    """All options of a question."""
    return [Option(**option) for option in _core.options()]


def load_tree(path: str) -> Result:
    """Reads a tree file: `Result.load`."""
    return Result.load(path)


__all__ = [
    "Account",
    "Engine",
    "Error",
    "Event",
    "Feed",
    "Grown",
    "Method",
    "Model",
    "ModelTokenizer",
    "Option",
    "Result",
    "Run",
    "Segment",
    "Token",
    "Tokenizer",
    "Trajectory",
    "Tree",
    "UsageError",
    "Vote",
    "answers",
    "examples",
    "hub",
    "load_tree",
    "methods",
    "options",
    "read_profile",
    "results",
]
