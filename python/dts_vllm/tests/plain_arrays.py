"""What statistics.py needs of an array library, over nested lists: slow, and there wherever Python is."""

import math


class Table:
    """[rows, columns]; a last axis of 1, or a number, goes with any number of columns."""

    def __init__(self, rows):
        self.rows = rows

    def _with(self, other, combine):
        if not isinstance(other, Table):
            return Table([[combine(x, other) for x in row] for row in self.rows])
        out = []
        for mine, theirs in zip(self.rows, other.rows):
            n = max(len(mine), len(theirs))
            at = lambda row, i: row[0] if len(row) == 1 else row[i]
            out.append([combine(at(mine, i), at(theirs, i)) for i in range(n)])
        return Table(out)

    def __add__(self, other):
        return self._with(other, lambda a, b: a + b)

    def __sub__(self, other):
        return self._with(other, lambda a, b: a - b)

    def __mul__(self, other):
        return self._with(other, lambda a, b: a * b)

    def __truediv__(self, other):
        return self._with(other, lambda a, b: a / b)

    def __gt__(self, other):
        return self._with(other, lambda a, b: a > b)

    def __ge__(self, other):
        return self._with(other, lambda a, b: a >= b)


def exp(x):
    return Table([[math.exp(value) for value in row] for row in x.rows])


def log(x):
    return Table([[math.log(value) for value in row] for row in x.rows])


def where(condition, a, b):
    pick = lambda table, i, j: table.rows[i][j] if isinstance(table, Table) else table
    return Table(
        [[pick(a, i, j) if holds else pick(b, i, j) for j, holds in enumerate(row)] for i, row in enumerate(condition.rows)]
    )


def row_max(x):
    return Table([[max(row)] for row in x.rows])


def row_sum(x):
    return Table([[math.fsum(row)] for row in x.rows])
