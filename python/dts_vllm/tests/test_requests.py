"""Arguments of requests, and which row of a batch has which."""

import unittest

from dts_vllm.request import Wanted, wanted_of
from dts_vllm.trigger import Rows

GOOD = {"dts_version": 1, "dts_tau_v": 1.5, "dts_tau_h": 2.5, "dts_stat_temp": 0.6}


class RequestTest(unittest.TestCase):
    def test_what_is_asked_for(self):
        self.assertIsNone(wanted_of(None))
        self.assertIsNone(wanted_of({"somebody": "else's"}))
        self.assertEqual(wanted_of(GOOD), Wanted())
        self.assertEqual(wanted_of({**GOOD, "dts_criterion": "either", "dts_skip": 1}), Wanted("either", skip=1))
        self.assertEqual(wanted_of({"dts_version": 1, "dts_probe": 2}).probe, 2)

    def test_what_is_wrong_is_named(self):
        for name, value in [
            ("dts_version", 2),
            ("dts_probe", 3),
            ("dts_criterion", "no"),
            ("dts_tau_v", -1),
            ("dts_tau_h", float("nan")),
            ("dts_tau_h", "2"),
            ("dts_stat_temp", 0),
            ("dts_stat_temp", True),
            ("dts_skip", -1),
            ("dts_skip", 0.5),
        ]:
            with self.assertRaisesRegex(ValueError, name):
                wanted_of({**GOOD, name: value})

    def test_rows_follow_their_requests(self):
        rows = Rows()
        one, two = Wanted(tau_v=1), Wanted(tau_v=2, skip=1)
        drawn = []
        rows.add(0, one, [5])
        rows.add(1, None, [])
        rows.add(2, two, drawn)
        self.assertEqual(rows.now().watched, [(0, one)])
        self.assertEqual(rows.now().skipping, [2])
        drawn.append(9)
        self.assertEqual(rows.now().watched, [(0, one), (2, two)])
        rows.move(0, 1, swap=False)
        self.assertEqual(rows.now().watched, [(1, one), (2, two)])
        rows.move(1, 2, swap=True)
        self.assertEqual(rows.now().watched, [(1, two), (2, one)])
        rows.move(0, 2, swap=False)  # of a request that wants nothing
        self.assertEqual(rows.now().watched, [(1, two)])
        rows.add(1, None, [])
        self.assertEqual(rows.now().watched, [])
        rows.add(3, Wanted(probe=2), [])
        self.assertEqual((rows.now().probes, rows.now().watched, rows.now().skipping), ([(3, 2)], [], []))
        rows.remove(3)
        self.assertEqual(rows.now().probes, [])


if __name__ == "__main__":
    unittest.main()
