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
tie: str = result.disagreement
boxed: dts.Result = dts.Model.from_hub("org/repo:Q4_K_M", profile="model.toml").run("question", answer="boxed")
path: str = dts.hub.fetch("org/repo", on_download=lambda download: print(download.fraction))
settings = dts.read_profile("model.toml")
tuned: dts.Result = model.run("question", max_tokens=settings["max_tokens"])
for event in model.start("question"):
    kind: str = event.type

async def ask() -> list[dts.Result]:
    async for event in model.start("question"):
        print(event.live)
    return await asyncio.gather(*(model.arun(text) for text in ("a", "b")))
"""


class TypingTest(unittest.TestCase):
    def setUp(self) -> None:
        program = shutil.which("mypy")
        if program is None:
            self.skipTest("mypy is not installed")
        self._program = program
        self._directory = tempfile.TemporaryDirectory()
        self.addCleanup(self._directory.cleanup)

    def mypy(self, *paths: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self._program, "--config-file", str(SOURCE / "pyproject.toml"), "--cache-dir", self._directory.name, *paths],
            capture_output=True,
            text=True,
            cwd=SOURCE,
        )

    def test_the_package_and_a_program(self) -> None:
        right, wrong = (Path(self._directory.name) / name for name in ("right.py", "wrong.py"))
        right.write_text(PROGRAM)
        wrong.write_text(PROGRAM.replace("list[int]", "list[str]"))
        clean = self.mypy("python/dts", "tests/python", "packaging/python", str(right))
        self.assertEqual(clean.returncode, 0, clean.stdout + clean.stderr)
        broken = self.mypy(str(wrong))
        self.assertEqual(broken.returncode, 1)
        self.assertIn("incompatible type", broken.stdout)


if __name__ == "__main__":
    unittest.main()
