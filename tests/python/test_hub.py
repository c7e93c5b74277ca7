"""Models of the hub, from Python and from C, against a hub on a loopback port."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any
from unittest import mock

from hub_server import COMMIT, HubServer

import dts

NANO = Path(os.environ["DTS_NANO_MODEL"]).read_bytes()
REPO = "org/nano-GGUF"
FILES = {"nano-Q8_0.gguf": NANO, "sub/nano-F16.gguf": NANO[:1000]}
QUESTION = dts.examples()[0]


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class HubTest(unittest.TestCase):
    def setUp(self) -> None:
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.cache = Path(directory.name) / "hub"
        self.hub = self.enterContext(HubServer(REPO, FILES))
        # The hub's variables of whoever runs the tests are not the tests' own.
        variables = {name: value for name, value in os.environ.items() if not name.startswith("HF_")}
        self.variables = variables | {"HF_ENDPOINT": self.hub.url, "HF_HOME": directory.name, "HOME": directory.name}
        self.enterContext(mock.patch.dict(os.environ, self.variables, clear=True))

    def test_a_model_in_one_call_and_the_second_time_from_the_cache(self) -> None:
        seen: list[dts.hub.Download] = []
        model = dts.Model.from_hub(f"{REPO}:Q8_0", on_download=seen.append, answer="as-is")
        result = model.run(QUESTION["question"], seed=0)
        self.assertEqual(result.answer, QUESTION["answer"])
        built_in = dts.Model.built_in().run(QUESTION["question"], seed=0)
        self.assertEqual([s.tokens for s in result.tree], [s.tokens for s in built_in.tree])
        self.assertEqual((seen[-1].done, seen[-1].total), (len(NANO), len(NANO)))
        self.assertEqual([d.done for d in seen], sorted(d.done for d in seen))
        self.assertEqual((seen[0].file, seen[0].part, seen[0].parts), ("nano-Q8_0.gguf", 1, 1))
        self.assertEqual(seen[-1].fraction, 1.0)
        # In the hub's own layout, where other tools look for it.
        kept = self.cache / "models--org--nano-GGUF" / "snapshots" / COMMIT / "nano-Q8_0.gguf"
        self.assertEqual(kept.read_bytes(), NANO)
        again: list[dts.hub.Download] = []
        self.assertEqual(Path(dts.hub.fetch(f"{REPO}:Q8_0", on_download=again.append)), kept)
        self.assertEqual((again, self.hub.file_requests), ([], 1))
        os.environ["HF_HUB_OFFLINE"] = "1"
        self.assertEqual(Path(dts.hub.fetch(f"{REPO}:Q8_0")), kept)

    def test_a_file_by_its_name(self) -> None:
        path = dts.hub.fetch(REPO, file="sub/nano-F16.gguf", on_download=None)
        self.assertEqual(Path(path).read_bytes(), NANO[:1000])
        with self.assertRaises(dts.Error) as caught:
            dts.Model(path)
        self.assertIn("nano-F16.gguf", str(caught.exception))

    def test_errors_say_what_would_be_right(self) -> None:
        self.assert_fails("org/nano", dts.Error, f"near to it are {REPO}")
        self.assert_fails("nano", dts.UsageError, "ORG/REPO")
        self.assert_fails(f"{REPO}:Q2_K", dts.Error, "Q8_0")
        os.environ["HF_HUB_OFFLINE"] = "1"
        self.assert_fails(REPO, dts.Error, "HF_HUB_OFFLINE")
        del os.environ["HF_HUB_OFFLINE"]
        os.environ["HF_ENDPOINT"] = f"http://127.0.0.1:{closed_port()}"
        self.assert_fails(REPO, dts.Error, os.environ["HF_ENDPOINT"])
        os.environ["HF_ENDPOINT"] = "hub"
        self.assert_fails(REPO, dts.Error, "HF_ENDPOINT")

    def assert_fails(self, name: str, kind: type[dts.Error], expected: str) -> None:
        with self.subTest(name, expected=expected), self.assertRaises(kind) as caught:
            dts.Model.from_hub(name, on_download=None)
        self.assertIn(expected, str(caught.exception))
        self.assertNotIn("\n", str(caught.exception))

    def test_what_the_callback_raises_ends_it_and_what_has_come_is_kept(self) -> None:
        class Enough(Exception):
            pass

        def refuse(download: dts.hub.Download) -> None:
            if download.done > 0:
                raise Enough

        with self.assertRaises(Enough):
            dts.hub.fetch(f"{REPO}:Q8_0", on_download=refuse)
        left = list(self.cache.rglob("*.incomplete"))
        self.assertEqual(len(left), 1)
        self.assertGreater(left[0].stat().st_size, 0)
        kept = left[0].stat().st_size
        path = dts.hub.fetch(f"{REPO}:Q8_0", on_download=None)
        self.assertEqual(Path(path).read_bytes(), NANO)
        self.assertFalse(left[0].exists())
        self.assertLess(kept, len(NANO))

    def test_ctrl_c_during_a_download(self) -> None:
        program = f"""
import dts
try:
    dts.Model.from_hub("{REPO}:Q8_0", on_download=None)
except KeyboardInterrupt:
    print("interrupted")
"""
        half = len(NANO) // 2
        with HubServer(REPO, FILES, hold_at=half) as slow:
            child = subprocess.Popen(
                [sys.executable, "-c", program], env=self.variables | {"HF_ENDPOINT": slow.url}, stdout=subprocess.PIPE, text=True
            )
            self.assertTrue(slow.held.wait(300))
            child.send_signal(signal.SIGINT)
            said, _ = child.communicate(timeout=300)
        self.assertEqual((said, child.returncode), ("interrupted\n", 0))
        path = dts.hub.fetch(f"{REPO}:Q8_0", on_download=None)
        self.assertEqual(Path(path).read_bytes(), NANO)
        self.assertLess(self.hub.body_bytes, len(NANO))  # the rest of it

    @unittest.skipUnless("DTS_C_ASK" in os.environ, "the C example was not built")
    def test_from_c(self) -> None:
        ask = os.environ["DTS_C_ASK"]

        def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[Any]:
            return subprocess.run([ask, *arguments], env=self.variables | variables, capture_output=True, text=True)

        answered = run(f"hf:{REPO}:Q8_0", QUESTION["question"], "seed=0")
        self.assertEqual(answered.returncode, 0, answered.stderr)
        self.assertIn(f"{QUESTION['answer']}: ", answered.stdout)
        self.assertIn("downloaded", answered.stderr)
        missing = run("hf:org/nano", "Hi", HF_HUB_CACHE=str(self.cache / "empty"))
        self.assertEqual(missing.returncode, 1)
        self.assertIn(f"near to it are {REPO}", missing.stderr)
        wrong = run("hf:nano", "Hi")
        self.assertEqual((wrong.returncode, wrong.stdout), (2, ""))


if __name__ == "__main__":
    unittest.main()
