"""Results files of `dts eval`, read in Python."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import dts

PROGRAM = os.environ["DTS_PROGRAM"]


class ResultsTest(unittest.TestCase):
    directory: tempfile.TemporaryDirectory[str]
    path: Path

    @classmethod
    def setUpClass(cls) -> None:
        cls.directory = tempfile.TemporaryDirectory()
        cls.path = Path(cls.directory.name) / "results?#%.db"  # a name that URIs would misread
        subprocess.run(
            [PROGRAM, "eval", "--dataset", "nano-bench-mini", "--limit", "3", "--methods", "standard,dts-greedy",
             "--seeds", "1", "--out", str(cls.path)],
            check=True, capture_output=True,
        )  # fmt: skip

    @classmethod
    def tearDownClass(cls) -> None:
        cls.directory.cleanup()

    def test_rows(self) -> None:
        rows = dts.results.rows(self.path)
        self.assertEqual(len(rows), 6)
        self.assertEqual({row["method"] for row in rows}, {"standard", "dts-greedy"})
        for row in rows:
            self.assertIsInstance(row["finished"], bool)
            self.assertEqual(len(row["traces"]), row["votes"])
            tree = dts.results.tree(self.path, row)
            self.assertEqual(tree.answer, row["answer"])
            self.assertEqual(tree.account.unique_tokens, row["unique_tokens"])
        self.assertEqual(len(dts.results.settings(self.path)), 2)
        self.assertIn("eval", dts.results.runs(self.path)[0]["command"])

    def test_frame(self) -> None:
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("pandas is not installed")
        frame = dts.results.read(self.path)
        self.assertEqual(frame.groupby("method").size().to_dict(), {"standard": 3, "dts-greedy": 3})
        row = frame.iloc[0]
        self.assertEqual(dts.results.tree(self.path, row).answer, row.answer)

    def test_without_pandas_rows_still_work(self) -> None:
        code = (
            "import sys; sys.modules['pandas'] = None\n"
            "import dts\n"
            "assert len(dts.results.rows(sys.argv[1])) == 6\n"
            "try: dts.results.read(sys.argv[1])\n"
            "except ImportError as error: print(error)\n"
        )
        out = subprocess.run([sys.executable, "-c", code, str(self.path)], check=True, capture_output=True, text=True)
        self.assertIn("rows() has the same", out.stdout)

    def test_other_files_are_refused(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            missing, text, foreign = (str(Path(directory) / name) for name in ("none.db", "text.db", "other.db"))
            with self.assertRaisesRegex(dts.Error, "no such file"):
                dts.results.rows(missing)
            Path(text).write_text("not a database, and long enough to be looked at" * 10)
            with self.assertRaisesRegex(dts.Error, "not a results file"):
                dts.results.rows(text)
            sqlite3.connect(foreign).execute("CREATE TABLE t(x)").connection.commit()
            with self.assertRaisesRegex(dts.Error, "not a results file"):
                dts.results.rows(foreign)
        with self.assertRaisesRegex(dts.UsageError, "no model"):
            dts.results.tree(self.path, {})


if __name__ == "__main__":
    unittest.main()
