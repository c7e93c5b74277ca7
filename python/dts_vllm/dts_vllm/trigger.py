"""Which rows of a batch end here. Knows nothing of vLLM or torch."""

from .request import DECISION, EITHER, HIGH_ENTROPY
from .statistics import entropy_and_varentropy


class Rows:
    """The requests of the batch that asked for something, by row."""

    def __init__(self):
        self.wanted = {}  # row -> Wanted
        self.output = {}  # row -> the tokens drawn so far, which vLLM appends to

    def remove(self, row):
        self.wanted.pop(row, None)
        self.output.pop(row, None)

    def add(self, row, wanted, output):
        """A row that is taken over by a request that wants nothing is forgotten."""
        self.remove(row)
        if wanted is not None:
            self.wanted[row] = wanted
            self.output[row] = output

    def move(self, source, target, swap):
        for table in (self.wanted, self.output):
            moved, replaced = table.pop(source, None), table.pop(target, None)
            if moved is not None:
                table[target] = moved
            if swap and replaced is not None:
                table[source] = replaced

    def probes(self):
        """(row, probe) of the requests that only ask whether we are there."""
        return [(row, wanted.probe) for row, wanted in sorted(self.wanted.items()) if wanted.probe]

    def watched(self):
        """(row, Wanted) of those whose next token may be a decision token."""
        return [
            (row, wanted)
            for row, wanted in sorted(self.wanted.items())
            if not wanted.probe and len(self.output[row]) >= wanted.skip
        ]

    def skipping(self):
        """Rows that draw their next token whatever it is."""
        watched = {row for row, _ in self.watched()}
        return [row for row, wanted in sorted(self.wanted.items()) if not wanted.probe and row not in watched]


class Thresholds:
    """The watched rows' rules as columns [rows, 1]. `column` makes one of a list."""

    def __init__(self, wanted, column):
        flag = lambda *criteria: column([1.0 if one.criterion in criteria else 0.0 for one in wanted])
        self.stat_temperature = column([one.stat_temperature for one in wanted])
        self.tau_v = column([one.tau_v for one in wanted])
        self.tau_h = column([one.tau_h for one in wanted])
        self.by_decision = flag(DECISION, EITHER)
        self.by_entropy = flag(HIGH_ENTROPY, EITHER)


def decision_tokens(xp, logits, thresholds):
    """logits [rows, vocabulary] -> [rows, 1], above 0 where the row is a decision token."""
    entropy, varentropy = entropy_and_varentropy(xp, logits, thresholds.stat_temperature)
    one = lambda condition: xp.where(condition, 1.0, 0.0)
    decision = one(varentropy >= thresholds.tau_v) * one(thresholds.tau_h >= entropy)
    return decision * thresholds.by_decision + one(entropy >= thresholds.tau_h) * thresholds.by_entropy
