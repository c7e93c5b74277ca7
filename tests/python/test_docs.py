"""The examples of docs/python.md run, one after another, as a reader would type them."""

from __future__ import annotations

import contextlib
import io
import os
import re
import tempfile
import unittest
from pathlib import Path
from typing import Any

PAGE = Path(os.environ["DTS_SOURCE_DIR"]) / "docs" / "python.md"
# Fences of ours: "python" runs, "python no-run" needs what is not here, "text" is what the example before it prints.
FENCE = re.compile(r"^```(python no-run|python|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class DocsTest(unittest.TestCase):
    def test_examples(self) -> None:
        page = PAGE.read_text()
        names: dict[str, Any] = {"__name__": "__main__"}
        printed = ""
        ran = 0
        with tempfile.TemporaryDirectory() as directory, contextlib.chdir(directory):
            os.environ["PATH"] = str(Path(os.environ["DTS_PROGRAM"]).parent) + ":" + os.environ["PATH"]
            for match in FENCE.finditer(page):
                kind, code = match.groups()
                line = page.count("\n", 0, match.start()) + 2
                with self.subTest(line=line):
                    if kind == "text":
                        self.assertEqual(printed, code)
                    if kind != "python":
                        continue
                    if "pandas" in code:
                        try:
                            import pandas  # noqa: F401
                        except ImportError:
                            continue
                    output = io.StringIO()
                    with contextlib.redirect_stdout(output):
                        exec(compile("\n" * (line - 1) + code, str(PAGE), "exec"), names)
                    printed = output.getvalue()
                    ran += 1
        self.assertGreater(ran, 5)


if __name__ == "__main__":
    unittest.main()
