"""The package and a program that uses it are clean for mypy, strictly."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(os.environ["DTS_SOURCE_DIR"])

PROGRAM = """
import asyncio
import dts

model = dts.Model("model.gguf", parallel_branches=8)
result: dts.Result = model.run("question", method="dts-greedy", max_tokens=100, tau_v=1.2)
votes: list[int] = [vote.votes for vote in result.votes]
texts: list[str] = [token.text for segment in result.tree for token in segment.tokens]
steps: int = result.account.steps
for event in model.start("question"):
    kind: str = event.type

async def ask() -> list[dts.Result]:
    async for event in model.start("question"):
        print(event.live)
    return await asyncio.gather(*(model.arun(text) for text in ("a", "b")))
"""


class TypingTest(unittest.TestCase):
    def mypy(self, *paths: str) -> None:
        program = shutil.which("mypy")
        if program is None:
            self.skipTest("mypy is not installed")
        with tempfile.TemporaryDirectory() as cache:
            run = subprocess.run(
                [program, "--config-file", str(SOURCE / "pyproject.toml"), "--cache-dir", cache, *paths],
                capture_output=True,
                text=True,
                cwd=SOURCE,
            )
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)

    def test_the_package(self) -> None:
        self.mypy("python/dts", "tests/python", "packaging/python")

    def test_a_program(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "program.py"
            path.write_text(PROGRAM)
            self.mypy(str(path))
            path.write_text(PROGRAM.replace("list[int]", "list[str]"))
            with self.assertRaisesRegex(AssertionError, "incompatible type"):
                self.mypy(str(path))


if __name__ == "__main__":
    unittest.main()
