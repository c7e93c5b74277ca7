"""How a trace of thought is written: fixed text and choices.

A trace is a small probabilistic program. Text is said; a Choice is taken, and each way to go is
exactly one token. Whoever runs the program supplies the chooser: the training data draws from the
choice's own distribution, the ideal model (ideal.py) tempers it, branches on it or replays it.
"""
from vocab import encode_cached, one

# What a solver does at a decision. In a trap the popular way is wrong and the right one comes second; elsewhere the
# popular way is right. The rest is a long tail of about a hundred tokens, which is what makes the distribution's
# varentropy high (about 1.9 at temperature 0.6) while its entropy stays low (under 1).
TRAP_POPULAR, TRAP_RIGHT = 0.36, 0.24
FAIR_RIGHT, FAIR_WRONG = 0.55, 0.05
STYLE_FIRST, STYLE_SECOND = 0.40, 0.20


class Choice:
    """Named ways with a probability each; what is left over is spread evenly over the tail."""

    __slots__ = ("kind", "ways", "tail", "right")

    def __init__(self, kind, ways, tail=(), right=None):
        self.kind = kind      # "decision", "style", "slip" or "loop"
        self.ways = ways      # [(token text, probability)]
        self.tail = tail      # token texts that share the rest
        self.right = right    # the way a careful solver goes, for decisions

    def distribution(self):
        """[(token text, probability)], the tail written out."""
        rest = 1.0 - sum(p for _, p in self.ways)
        named = {t for t, _ in self.ways}
        tail = [t for t in self.tail if t not in named]
        return self.ways + [(t, rest / len(tail)) for t in tail] if tail else self.ways


def decision(right, popular, other, tail):
    """A real decision. `other` is the wrong runner-up where the popular way is right."""
    if right == popular:
        return Choice("decision", [(right, FAIR_RIGHT), (other, FAIR_WRONG)], tail, right)
    return Choice("decision", [(popular, TRAP_POPULAR), (right, TRAP_RIGHT)], tail, right)


def style(first, second, tail):
    """A choice between ways that all go on rightly."""
    return Choice("style", [(first, STYLE_FIRST), (second, STYLE_SECOND)], tail)


class Full(Exception):
    """The trace has reached its budget."""


class Trace:
    def __init__(self, choose, budget=10 ** 9, patience=10 ** 9):
        self.choose = choose
        self.budget = budget   # tokens
        self.patience = patience   # rounds of an endless loop worth writing down
        self.ids = []
        self.unsupervised = [] # positions whose token was forced, not drawn: no training signal there
        self.choices = []      # (position, Choice) in order

    def say(self, text):
        self.ids.extend(encode_cached(text))
        if len(self.ids) >= self.budget:
            raise Full

    def pick(self, choice):
        self.choices.append((len(self.ids), choice))
        text, forced = self.choose(choice, self)
        if forced:
            self.unsupervised.append(len(self.ids))
        self.ids.append(one(text))
        if len(self.ids) >= self.budget:
            raise Full
        return text


ALL = 1 << 30


def sampler(rng, led=0):
    """Draws from each choice's own distribution; only the first `led` decisions are taken the right way instead."""
    decisions = 0

    def choose(choice, _trace):
        nonlocal decisions
        if choice.kind == "decision":
            decisions += 1
            if decisions <= led:
                return choice.right, True
        u = rng.random()
        for text, p in choice.ways:
            u -= p
            if u < 0:
                return text, False
        tail = choice.tail
        if not tail:
            return choice.ways[-1][0], False
        named = [t for t, _ in choice.ways]
        while True:
            text = tail[int(rng.random() * len(tail))]
            if text not in named:
                return text, False

    return choose
