"""What a question ends with."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from . import _core
from .tree import Tree


@dataclass(frozen=True)
class Vote:
    """An answer and who gave it."""

    answer: str
    """Normalised, as the first that gave it had it."""
    votes: int
    """Trajectories."""
    weight: float
    """The sum of their weights; equal to `votes` unless the method weighs them."""


@dataclass(frozen=True)
class Trajectory:
    """A trajectory that reached its end."""

    leaf: int
    """Its last segment."""
    length: int
    """Tokens, the end token included."""
    step: int
    """In which it finished; 1 is the first."""
    mean_logprob: float
    mean_confidence: float
    lowest_confidence: float
    answer: str
    """What it votes for, normalised; empty: nothing was found."""


@dataclass(frozen=True)
class Account:
    """What a search cost. Every generated token is counted once."""

    steps: int
    """Tokens on the critical path."""
    branch_events: int
    """Decision tokens that split."""
    branches: int
    """Trajectories there were."""
    branch_tokens: int
    """Sum of their lengths: what independent decoding would have generated."""
    unique_tokens: int
    """Tokens in the tree."""
    fed_tokens: int
    """Tokens the model evaluated after the prompt."""
    attended_tokens: int
    prompt_tokens: int
    cached_tokens: int
    """Of the prompt's, those that an earlier question had left in the engine."""
    peak_live: int
    exhausted: int
    retired: int
    capped_decisions: int
    undecided: int

    @property
    def sharing_ratio(self) -> float:
        """How often a token was shared on average: 1 for independent trajectories."""
        return self.branch_tokens / self.unique_tokens if self.unique_tokens else 1.0


class Result:
    """The answer, the votes, what it cost, and the whole tree. In a notebook it shows as a picture of the tree."""

    def __init__(self, document: _core.Document) -> None:
        self._document = document

    @cached_property
    def answer(self) -> str:
        """What the winner answered, normalised: "244". Empty when nothing finished."""
        winner = self._document.winner
        return "" if winner is None else self.finished[winner].answer

    @property
    def text(self) -> str:
        """What the winner wrote after its thinking. Without a winner: the best trajectory as far as it got."""
        text = self._texts[2]
        ends = [text.find(stop) for stop in self._document.stop]
        return text[: min((end for end in ends if end >= 0), default=len(text))].strip()

    @property
    def thinking(self) -> str:
        """What the winner thought."""
        return self._texts[1].strip()

    @cached_property
    def _texts(self) -> tuple[str, str, str]:
        leaf = self._document.best_leaf
        return ("", "", "") if leaf < 0 else self._document.trajectory(leaf)

    @cached_property
    def votes(self) -> list[Vote]:
        """Every answer with its votes, the winning one first."""
        return [Vote(*vote) for vote in self._document.votes]

    @property
    def disagreement(self) -> str:
        """"no two agree: the first to finish was taken", as `dts run` says it. Empty: some agree, or nothing could."""
        return self._document.disagreement

    @cached_property
    def finished(self) -> list[Trajectory]:
        """The trajectories that reached their end, in order of finishing."""
        return [Trajectory(*trace) for trace in self._document.finished]

    @property
    def winner(self) -> Trajectory | None:
        """The trajectory that was chosen; None when none finished."""
        index = self._document.winner
        return None if index is None else self.finished[index]

    @cached_property
    def account(self) -> Account:
        """What it cost."""
        return Account(**self._document.account)

    @cached_property
    def tree(self) -> Tree:
        """Every segment and token."""
        return Tree(self._document)

    @property
    def reason(self) -> str:
        """Why the search stopped, in words."""
        return self._document.reason

    @property
    def complete(self) -> bool:
        """It ended as the method intends, rather than by a budget or by being cancelled."""
        return self._document.complete

    @property
    def question(self) -> str:
        """As it was asked."""
        return self._document.question

    @property
    def prompt(self) -> str:
        """As the model saw it."""
        return self._document.prompt

    @property
    def model(self) -> str:
        """The model's name."""
        return self._document.model

    @cached_property
    def settings(self) -> dict[str, Any]:
        """The options as they took effect."""
        return self._document.settings

    @property
    def seconds(self) -> float:
        """From its first prompt token to its end, as this question saw it."""
        times = self._document.times
        return times["prefill"] + times["decode"]

    def __repr__(self) -> str:
        votes = ", ".join(f"{vote.answer!r} x{vote.votes}" for vote in self.votes[:4])
        end = "; ".join(filter(None, [self.disagreement, self.reason]))
        return f"<dts.Result: answer {self.answer!r} by {self.settings['method']}; votes {votes or 'none'}; {end}>"

    # Pictures.

    def svg(self) -> str:
        """The tree as a picture."""
        return self._document.svg()

    def html(self) -> str:
        """The tree as a page of its own, to be clicked through. Needs no network."""
        return self._document.html()

    def dot(self) -> str:
        """The tree for Graphviz."""
        return self._document.dot()

    def drawing(self, width: int = 100, colour: bool = False, unicode: bool = True) -> str:
        """The tree for a terminal, with votes and account."""
        return self._document.text(width, colour, unicode)

    def _repr_svg_(self) -> str:
        return self.svg()

    def _repr_html_(self) -> str:
        return self.svg()

    # As a file.

    def to_json(self) -> str:
        """The tree file's text, which `dts tree` and other programs read."""
        return self._document.json()

    @classmethod
    def from_json(cls, text: str) -> Result:
        """The reverse of `to_json`."""
        return cls(_core.Document.from_json(text, "the text"))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the tree file."""
        self._document.save(os.fspath(path))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Result:
        """Reads a tree file: one of `save`, of `dts run --save-tree` or of the page."""
        return cls(_core.Document.load(os.fspath(path)))

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return (Result.from_json, (self.to_json(),))
