"""examples/python/notebook.py, cell by cell as a notebook runs it: the last expression of a cell is shown."""

from __future__ import annotations

import ast
import contextlib
import os
import re
import tempfile
import unittest
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

NOTEBOOK = Path(os.environ["DTS_SOURCE_DIR"]) / "examples" / "python" / "notebook.py"


def run_cell(code: str, names: dict[str, Any]) -> Any:
    """What the cell shows: the value of its last expression; None: nothing."""
    tree = ast.parse(code)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, str(NOTEBOOK), "exec"), names)
    if not isinstance(last, ast.Expr):
        return None
    return eval(compile(ast.Expression(last.value), str(NOTEBOOK), "eval"), names)


class NotebookTest(unittest.TestCase):
    def test_every_cell(self) -> None:
        try:
            import pandas
        except ImportError:
            self.skipTest("pandas is not installed")
        cells = re.split(r"^# %%.*$", NOTEBOOK.read_text(), flags=re.MULTILINE)[1:]
        names: dict[str, Any] = {"__name__": "__main__"}
        shown: list[Any] = []
        with tempfile.TemporaryDirectory() as directory, contextlib.chdir(directory):
            os.environ["PATH"] = str(Path(os.environ["DTS_PROGRAM"]).parent) + ":" + os.environ["PATH"]
            for number, cell in enumerate(cells):
                with self.subTest(cell=number):
                    shown.append(run_cell(cell, names))
                    self.assertIsNotNone(shown[-1])
        for picture in (shown[0], shown[-1]):
            self.assertEqual(ElementTree.fromstring(picture._repr_svg_()).tag, "{http://www.w3.org/2000/svg}svg")
        hesitant, live, methods, decisions = shown[1:5]
        self.assertEqual(len(hesitant), 5)
        self.assertTrue(hesitant.varentropy.is_monotonic_decreasing)
        self.assertGreater(live["max"], 1)
        self.assertEqual(list(methods.index), ["standard", "self-consistency", "dts-greedy", "dts-stable"])
        self.assertEqual(methods.sharing["standard"], 1)
        self.assertTrue(decisions.is_monotonic_decreasing, decisions)
        self.assertIsInstance(shown[5], pandas.Series)


if __name__ == "__main__":
    unittest.main()
