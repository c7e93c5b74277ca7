"""A decoded tree as plain objects: segments of tokens, each with the statistics of what it was chosen from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Iterator, NamedTuple

from . import _core

if TYPE_CHECKING:
    import pandas


class Token(NamedTuple):
    """One generated token."""

    token: int
    """Its number in the vocabulary."""
    text: str
    """A character that several tokens spell belongs to the one that completes it."""
    logprob: float
    """Log-probability at temperature 1."""
    entropy: float
    """H of the distribution it came from, nats, at the statistics' temperature."""
    varentropy: float
    """VE of it, nats^2."""
    confidence: float
    """DeepConf's token confidence."""


@dataclass(frozen=True)
class Segment:
    """A stretch of tokens between two decisions."""

    id: int
    parent: int | None
    children: tuple[int, ...]
    """Ids, the most probable child first; empty unless a decision token ended the segment."""
    start: int
    """Position of its first token; 0 is the first generated one."""
    child_index: int
    """Which child of its parent's decision it is; of a root, which trajectory."""
    state: str
    """"split", "finished", "exhausted" (the token budget), "retired" or "cut" (growing when the search stopped)."""
    text: str
    tokens: tuple[Token, ...]


class Tree:
    """All segments; parents come before their children."""

    def __init__(self, document: _core.Document) -> None:
        self._document = document

    @cached_property
    def segments(self) -> list[Segment]:
        """Every segment; a segment's id is its index."""
        return [
            Segment(
                id=index,
                parent=None if parent < 0 else parent,
                children=tuple(children),
                start=start,
                child_index=child_index,
                state=state,
                text=text,
                tokens=tuple(Token(*token) for token in tokens),
            )
            for index, (parent, start, child_index, state, children, text, tokens) in enumerate(self._document.segments)
        ]

    @property
    def roots(self) -> list[Segment]:
        """Where trajectories start."""
        return [segment for segment in self.segments if segment.parent is None]

    @property
    def leaves(self) -> list[Segment]:
        """Where trajectories end."""
        return [segment for segment in self.segments if not segment.children]

    def path(self, leaf: Segment | int) -> list[Segment]:
        """The segments of the trajectory that ends with `leaf`, from its root on."""
        at: int | None = leaf if isinstance(leaf, int) else leaf.id
        path: list[Segment] = []
        while at is not None:
            path.append(self.segments[at])
            at = path[-1].parent
        return path[::-1]

    def text(self, leaf: Segment | int) -> str:
        """The text of the trajectory that ends with `leaf`."""
        return self._document.trajectory(leaf if isinstance(leaf, int) else leaf.id)[0]

    def __len__(self) -> int:
        return len(self.segments)

    def __iter__(self) -> Iterator[Segment]:
        return iter(self.segments)

    def __getitem__(self, segment: int) -> Segment:
        return self.segments[segment]

    def __repr__(self) -> str:
        account = self._document.account
        return f"<dts.Tree: {len(self)} segments, {account['unique_tokens']} tokens, {account['branches']} trajectories>"

    def rows(self) -> list[dict[str, Any]]:
        """A row for each token: its segment, position, text and statistics."""
        return [
            {"segment": segment.id, "parent": segment.parent, "state": segment.state, "position": segment.start + index}
            | token._asdict()
            for segment in self.segments
            for index, token in enumerate(segment.tokens)
        ]

    def to_dataframe(self) -> pandas.DataFrame:
        """`rows` as a pandas DataFrame. Needs pandas."""
        from ._frames import frame

        return frame(self.rows())
