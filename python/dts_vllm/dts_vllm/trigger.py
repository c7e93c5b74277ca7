"""Which rows of a batch end here. Knows nothing of vLLM or torch."""

from .request import DECISION, EITHER, HIGH_ENTROPY
from .statistics import entropy_and_varentropy


class Now:
    """What the rows of one step ask for: [(row, Wanted, tokens drawn so far)], rows ascending."""

    def __init__(self, rows):
        # (row, probe) of the requests that only ask whether we are there.
        self.probes = [(row, wanted.probe) for row, wanted, _ in rows if wanted.probe]
        # (row, Wanted) of those whose next token may be a decision token.
        self.watched = [(row, wanted) for row, wanted, drawn in rows if not wanted.probe and drawn >= wanted.skip]
        # Rows that draw their next token whatever it is.
        self.skipping = [row for row, wanted, drawn in rows if not wanted.probe and drawn < wanted.skip]


class Rows:
    """The requests of a batch that asked for something, by row: how vLLM's first model runner keeps them."""

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

    def now(self):
        return Now([(row, wanted, len(self.output[row])) for row, wanted in sorted(self.wanted.items())])


class Slots:
    """The same by slot: how the second one keeps them. A request keeps its slot; rows are dealt out anew each step."""

    def __init__(self):
        self.wanted = {}  # slot -> Wanted

    def add(self, slot, wanted):
        """What the slot held before is over."""
        self.wanted.pop(slot, None)
        if wanted is not None:
            self.wanted[slot] = wanted

    def any_of(self, slots):
        return any(slot in self.wanted for slot in slots)

    def now(self, slots, lengths, prompts):
        """slots, lengths [rows]: whose row it is, and tokens before the one to draw. prompts: tokens of a slot's prompt."""
        rows = zip(range(len(slots)), slots, lengths)
        return Now(
            [(row, self.wanted[slot], length - prompts[slot]) for row, slot, length in rows if slot in self.wanted]
        )


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
