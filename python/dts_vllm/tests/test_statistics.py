"""The arithmetic against the definitions that the C++ engines are tested with."""

import unittest

import plain_arrays
from oracle import oracle_values
from dts_vllm.request import CRITERIA, Wanted
from dts_vllm.statistics import entropy_and_varentropy
from dts_vllm.trigger import Thresholds, decision_tokens


class Plain:
    xp = plain_arrays
    relative = 2e-6  # the oracle's results are rounded to single precision

    @staticmethod
    def table(rows):
        return plain_arrays.Table(rows)

    @staticmethod
    def values(column):
        return [row[0] for row in column.rows]


class Numpy:
    relative = 2e-4  # sums of single precision

    def __init__(self):
        import numpy
        import numpy_arrays

        self.xp = numpy_arrays
        self.numpy = numpy

    def table(self, rows):
        return self.numpy.array(rows, dtype=self.numpy.float32)

    def values(self, column):
        return [float(value) for value in column[:, 0]]


class StatisticsTest(unittest.TestCase):
    def compare(self, arrays):
        fired = 0
        for value in oracle_values():
            logits = arrays.table([value["logits"]])
            temperature = arrays.table([[value["stat_temperature"]]])
            entropy, varentropy = entropy_and_varentropy(arrays.xp, logits, temperature)
            scale = 1 + value["entropy"] + value["varentropy"]
            self.assertAlmostEqual(arrays.values(entropy)[0], value["entropy"], delta=arrays.relative * scale)
            self.assertAlmostEqual(arrays.values(varentropy)[0], value["varentropy"], delta=arrays.relative * scale)
            for criterion, expected in value["decisions"].items():
                # Thresholds so near that single precision may fall to the other side say nothing.
                near = min(abs(value["varentropy"] - value["tau_v"]), abs(value["entropy"] - value["tau_h"]))
                if near <= arrays.relative * scale:
                    continue
                wanted = Wanted(criterion, value["tau_v"], value["tau_h"], value["stat_temperature"])
                thresholds = Thresholds([wanted], lambda column: arrays.table([[one] for one in column]))
                fires = arrays.values(decision_tokens(arrays.xp, logits, thresholds))[0] > 0
                self.assertEqual(fires, expected, (criterion, value["entropy"], value["varentropy"]))
                fired += fires
        self.assertGreater(fired, 50, "some are decision tokens")

    def test_plain_lists_agree_with_the_oracle(self):
        self.compare(Plain())

    def test_numpy_agrees_with_the_oracle(self):
        try:
            arrays = Numpy()
        except ImportError as missing:
            self.skipTest(f"{missing}: Debian has it as python3-numpy")
        self.compare(arrays)

    def test_rows_are_decided_each_by_its_own_rule(self):
        rows = [[0.0, 0.0, -4.0, float("-inf")], [0.0, -9.0, -9.0, -9.0], [0.0, 0.0, -4.0, float("-inf")]]
        wanted = [Wanted("high-entropy", 9, 0.5, 1.0), Wanted("high-entropy", 9, 0.5, 1.0), Wanted("decision", 9, 0.5, 1.0)]
        thresholds = Thresholds(wanted, lambda column: plain_arrays.Table([[one] for one in column]))
        fires = decision_tokens(plain_arrays, plain_arrays.Table(rows), thresholds)
        self.assertEqual([row[0] > 0 for row in fires.rows], [True, False, False])
        self.assertEqual(len(CRITERIA), 3)


if __name__ == "__main__":
    unittest.main()
