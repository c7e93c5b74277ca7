"""From a text to the answer in it, and whether two answers are one."""

from __future__ import annotations

from . import _core


def extract(text: str, opens_thinking: bool = False) -> str:
    """The normalised answer of a text: its last \\boxed{}, else its last line. Empty when there is none.

    opens_thinking: the text begins inside a <think> that the prompt has opened.
    """
    return _core.extract_answer(text, opens_thinking)


def normalise(answer: str) -> str:
    """One way of writing for equal answers: "7,000.0" is "7000", "\\frac{1}{2}" is "0.5"."""
    return _core.normalise_answer(answer)


def equivalent(a: str, b: str) -> bool:
    """Whether two answers mean the same: "2\\sqrt{2}" and "\\sqrt{8}"."""
    return _core.equivalent(a, b)
