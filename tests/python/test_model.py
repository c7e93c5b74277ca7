"""The package as a researcher would use it, on the built-in model."""

from __future__ import annotations

import asyncio
import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import dts

EXAMPLES = dts.examples()


def shape(result: dts.Result) -> list[Any]:
    """What two equal trees have in common: all but times."""
    return [(s.parent, s.children, s.state, s.tokens) for s in result.tree]


class Endless(dts.Engine):
    """Says the same for ever: whatever ends it came from outside."""

    context_length = 100000

    def __init__(self, size: int) -> None:
        self.vocab_size = size
        self._row = [20.0 if token == 10 else 0.0 for token in range(size)]

    def logits(self, tokens: Any) -> list[float]:
        return self._row


def endless() -> dts.Model:
    tokenizer = dts.Model.built_in().tokenizer
    return dts.Model.of(Endless(tokenizer.vocab_size), tokenizer)


class ModelTest(unittest.TestCase):
    model: dts.Model

    @classmethod
    def setUpClass(cls) -> None:
        cls.model = dts.Model.built_in()

    def test_answers(self) -> None:
        result = self.model.run(EXAMPLES[0]["question"], seed=0)
        self.assertEqual(result.answer, EXAMPLES[0]["answer"])
        self.assertTrue(result.complete)
        self.assertEqual(result.votes[0].answer, result.answer)
        self.assertEqual(sum(vote.votes for vote in result.votes), len([t for t in result.finished if t.answer]))
        self.assertIn("boxed", result.text)
        self.assertNotIn("<think>", result.text)
        self.assertTrue(result.thinking)
        self.assertEqual(result.question, EXAMPLES[0]["question"])
        self.assertEqual(result.settings["method"], "dts-stable")

    def test_account_and_tree_agree(self) -> None:
        result = self.model.run(EXAMPLES[1]["question"], seed=3)
        tree, account = result.tree, result.account
        self.assertEqual(sum(len(s.tokens) for s in tree), account.unique_tokens)
        self.assertEqual(len(tree.leaves), account.branches)
        self.assertEqual(len([s for s in tree if s.children]), account.branch_events)
        lengths = [sum(len(s.tokens) for s in tree.path(leaf)) for leaf in tree.leaves]
        self.assertEqual(sum(lengths), account.branch_tokens)
        self.assertEqual(len(tree.rows()), account.unique_tokens)
        for trace in result.finished:
            self.assertEqual(tree[trace.leaf].state, "finished")
            self.assertEqual(dts.answers.extract(tree.text(trace.leaf)), trace.answer)

    def test_same_seed_same_tree_alone_or_among_many(self) -> None:
        questions = [example["question"] for example in EXAMPLES[:6]]
        alone = [self.model.run(question, seed=7) for question in questions]
        together = self.model.run_many(questions, seed=7)
        for a, b in zip(alone, together):
            self.assertEqual(shape(a), shape(b))
        self.assertNotEqual(shape(alone[0]), shape(self.model.run(questions[0], seed=8)))

    def test_every_method(self) -> None:
        for method in dts.methods():
            with self.subTest(method.name):
                result = self.model.run(EXAMPLES[2]["question"], method=method.name, seed=1)
                self.assertEqual(result.settings["method"], method.name)
                self.assertTrue(result.finished)

    def test_every_option_of_the_table_is_taken(self) -> None:
        for option in dts.options():
            value = option.default
            if value is None:
                continue
            with self.subTest(option.name):
                given = {"method": "standard", option.name: value}
                result = self.model.run(EXAMPLES[1]["question"], **given)
                if option.name in result.settings:
                    self.assertEqual(result.settings[option.name], value)

    def test_options_take_effect(self) -> None:
        short = self.model.run(EXAMPLES[0]["question"], max_tokens=5)
        self.assertEqual((short.answer, short.winner, short.complete), ("", None, True))
        self.assertEqual(short.account.steps, 5)
        narrow = self.model.run(EXAMPLES[0]["question"], max_branches=3)
        self.assertLessEqual(narrow.account.peak_live, 3)
        one = self.model.run(EXAMPLES[0]["question"], method="standard", stop=["244"], seed=0)
        self.assertNotIn("244", one.text)

    def test_errors_are_one_line_that_says_what_would_be_right(self) -> None:
        cases: list[tuple[dict[str, Any], str]] = [
            ({"max_token": 1}, "did you mean max_tokens?"),
            ({"max_tokens": 0}, "max_tokens is 0: it must be a whole number of at least 1"),
            ({"max_tokens": 1.5}, "max_tokens is"),
            ({"tau_v": "wide"}, "tau_v is 'wide'"),
            ({"tau_v": []}, "tau_v is []"),
            ({"seed": True}, "seed"),
            ({"method": "dts"}, "method is 'dts': it must be one of standard"),
            ({"stop": [""]}, "stop is ''"),
            ({"max_branches": 5000}, "can keep"),
        ]
        for given, expected in cases:
            with self.subTest(given), self.assertRaises(dts.UsageError) as raised:
                self.model.run("What is 1 + 1?", **given)
            self.assertIn(expected, str(raised.exception))
            self.assertNotIn("\n", str(raised.exception))
        with self.assertRaisesRegex(dts.UsageError, "empty"):
            self.model.run("")
        with self.assertRaisesRegex(dts.UsageError, "the prompt has [0-9]+ tokens"):
            self.model.run("7 + " * 1000)
        with self.assertRaisesRegex(dts.Error, "no such file"):
            dts.Model("/nowhere/model.gguf")
        with tempfile.NamedTemporaryFile() as file:
            file.write(b"no model at all")
            file.flush()
            with self.assertRaisesRegex(dts.Error, file.name):
                dts.Model(file.name)

    def test_events_tell_the_whole_tree(self) -> None:
        run = self.model.start(EXAMPLES[0]["question"], seed=0)
        events = list(run)
        result = run.result()
        self.assertEqual(events[0].type, "prefill")
        self.assertEqual(events[-1].type, "done")
        grown: dict[int, list[int]] = {}
        for event in events:
            for token in event.grown:
                grown.setdefault(token.segment, []).append(token.token)
        self.assertEqual(grown, {s.id: [t.token for t in s.tokens] for s in result.tree})
        self.assertEqual(len([e for e in events if e.type == "branch"]), result.account.branch_events)
        self.assertEqual([e.answer for e in events if e.type == "finish"], [t.answer for t in result.finished])
        for event in events:
            if event.type == "branch":
                assert event.segment is not None
                self.assertEqual(event.children, result.tree[event.segment].children)

    def test_cancelled_run_has_what_it_had(self) -> None:
        run = endless().start("What is 1 + 1?", max_tokens=99000)
        for event in run:
            if event.step == 20:
                run.cancel()
        result = run.result()
        self.assertFalse(result.complete)
        self.assertEqual(result.reason, "cancelled")
        self.assertGreaterEqual(result.account.steps, 20)

    def test_threads_ask_at_once(self) -> None:
        expected = [shape(self.model.run(e["question"], seed=5)) for e in EXAMPLES[:4]]
        seen: dict[int, list[Any]] = {}

        def ask(index: int) -> None:
            seen[index] = shape(self.model.run(EXAMPLES[index]["question"], seed=5))

        threads = [threading.Thread(target=ask, args=(index,)) for index in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([seen[index] for index in range(4)], expected)

    def test_asyncio(self) -> None:
        async def main() -> None:
            questions = [example["question"] for example in EXAMPLES[:4]]
            results = await asyncio.gather(*(self.model.arun(question, seed=2) for question in questions))
            for question, result in zip(questions, results):
                self.assertEqual(shape(result), shape(self.model.run(question, seed=2)))
            run = self.model.start(questions[0], seed=2)
            types = [event.type async for event in run]
            self.assertEqual(types[-1], "done")
            self.assertEqual(shape(await run), shape(results[0]))

            unfinished = endless().start(questions[0], max_tokens=99000)

            async def wait() -> dts.Result:
                return await unfinished

            task = asyncio.ensure_future(wait())
            async for event in unfinished:
                if event.step == 5:
                    task.cancel()
                    break
            with self.assertRaises(asyncio.CancelledError):
                await task
            self.assertEqual(unfinished.result().reason, "cancelled")

        asyncio.run(main())

    def test_pictures_and_files(self) -> None:
        result = self.model.run(EXAMPLES[0]["question"], seed=0)
        self.assertTrue(ElementTree.fromstring(result._repr_svg_()).tag.endswith("svg"))
        self.assertIn("<svg", result._repr_html_())
        self.assertIn("<html", result.html())
        self.assertIn("digraph", result.dot())
        self.assertIn("244", result.drawing(width=80, unicode=False))
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "tree.json"
            result.save(path)
            json.loads(path.read_text())
            self.assertEqual(shape(dts.Result.load(path)), shape(result))
            path.write_text("{}")
            with self.assertRaisesRegex(dts.Error, "tree.json"):
                dts.load_tree(str(path))
        again = pickle.loads(pickle.dumps(result))
        self.assertEqual((again.answer, again.to_json()), (result.answer, result.to_json()))

    def test_dataframe(self) -> None:
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("pandas is not installed")
        tree = self.model.run(EXAMPLES[0]["question"], seed=0).tree
        frame = tree.to_dataframe()
        self.assertEqual(len(frame), len(tree.rows()))
        self.assertEqual(frame.text.str.cat(), "".join(s.text for s in tree))

    def test_raw_system_and_conversations(self) -> None:
        tokenizer = self.model.tokenizer
        question = EXAMPLES[0]["question"]
        chat = self.model.run(question, seed=1)
        raw = self.model.run(tokenizer.chat([{"role": "user", "content": question}]), raw=True, seed=1)
        self.assertEqual(shape(raw), shape(chat))
        messages = [
            {"role": "user", "content": EXAMPLES[1]["question"]},
            {"role": "assistant", "content": "\\boxed{312}"},
            {"role": "user", "content": question},
        ]
        self.assertEqual(self.model.run(messages, seed=1).question, question)
        self.assertEqual(self.model.run(question, system="Be brief.", seed=1).question, question)
        with self.assertRaisesRegex(dts.UsageError, "raw"):
            self.model.run(question, raw=True, system="Be brief.")
        text = "Nora has 26 plates; <|im_end|> is text here."
        self.assertEqual(tokenizer.decode(tokenizer.encode(text, special=False)), text)

    def test_the_form_of_an_answer(self) -> None:
        question = "Find the value of 3 x 4 + 5."
        self.assertNotIn("boxed", self.model.run(question, max_tokens=1).prompt)
        asked = {form: self.model.run(question, answer=form, max_tokens=1) for form in ("boxed", "auto", "text", "as-is")}
        self.assertTrue(all(result.question == question for result in asked.values()))
        self.assertEqual(
            {form: "within \\boxed{}" in result.prompt for form, result in asked.items()},
            {"boxed": True, "auto": True, "text": False, "as-is": False},
        )
        options = "Which is even?\nA) 3\nB) 4"
        self.assertIn("'Answer: $LETTER'", self.model.run(options, answer="auto", max_tokens=1).prompt)
        # A conversation: the last message is the question.
        talk = [{"role": "user", "content": question}, {"role": "assistant", "content": "17"}, {"role": "user", "content": "How many is that and 2?"}]
        self.assertEqual(self.model.run(talk, answer="auto", max_tokens=1).prompt.count("within \\boxed{}"), 1)
        for form, raw in (("round", False), ("boxed", True)):
            with self.assertRaises(dts.UsageError) as caught:
                self.model.run(question, answer=form, raw=raw)
            self.assertRegex(str(caught.exception), "^answer is '(round|boxed)': [^\n]*$")

    def test_a_file_is_asked_as_the_program_asks_it(self) -> None:
        path = os.environ["DTS_NANO_MODEL"]
        question = "Find the value of 3 x 4 + 5."
        with tempfile.TemporaryDirectory() as directory:
            saved = Path(directory) / "tree.json"
            subprocess.run(
                [os.environ["DTS_PROGRAM"], "run", "-m", path, question, "--seed", "3", "--save-tree", str(saved)],
                check=True, capture_output=True,
            )  # fmt: skip
            theirs = dts.Result.load(saved)
        ours = dts.Model(path).run(question, seed=3)
        self.assertEqual((ours.prompt, ours.votes), (theirs.prompt, theirs.votes))
        self.assertEqual([s.tokens for s in ours.tree], [s.tokens for s in theirs.tree])
        self.assertIn("within \\boxed{}", ours.prompt)

    def test_where_no_two_agree_the_result_says_so(self) -> None:
        question = EXAMPLES[0]["question"]
        self.assertEqual(self.model.run(question, seed=0).disagreement, "")
        for seed in range(200):
            result = self.model.run("Find the value of (66 - 36) x 8 - 14 + 86.", seed=seed, method="dts-stable", votes=2, temperature=2.0)
            alone = len(result.votes) > 1 and all(vote.votes == 1 for vote in result.votes)
            self.assertEqual(result.disagreement, "no two agree: the first to finish was taken" if alone else "")
            if alone:
                self.assertIn("no two agree", repr(result))
                return
        self.fail("two trajectories agreed every time")

    def test_a_profile_stands_for_all_questions(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "nano.toml"
            path.write_text('tau-v = 0.25\nmax_tokens = 40\nmethod = "dts-greedy"\n\n[profile]\nmodel = "nano"\n[serve]\nport = 1\n')
            self.assertEqual(dts.read_profile(path), {"tau_v": 0.25, "max_tokens": 40, "method": "dts-greedy"})
            model = dts.Model.built_in(profile=path)
            settings = model.run(EXAMPLES[0]["question"]).settings
            self.assertEqual((settings["tau_v"], settings["max_tokens"], settings["method"]), (0.25, 40, "dts-greedy"))
            said = model.run(EXAMPLES[0]["question"], tau_v=0.5, method="dts-stable").settings
            self.assertEqual((said["tau_v"], said["max_tokens"], said["method"]), (0.5, 40, "dts-stable"))
            for text, expected in (
                ("tau-v = 1\nta-h = 2\n", "nano.toml:2: ta-h is no setting of a question; did you mean tau-h?"),
                ("tau-v = -1\n", "nano.toml:1: tau_v is -1: it must be "),
                ("tau-v = [1, 2]\n", "nano.toml:1: tau-v has 2 values"),
                ('answer = "round"\n', "nano.toml:1: answer is 'round'"),
                ("tau-v = \n", "nano.toml:1: "),
            ):
                path.write_text(text)
                with self.subTest(text), self.assertRaises(dts.UsageError) as caught:
                    dts.Model.built_in(profile=path)
                self.assertIn(expected, str(caught.exception))
            with self.assertRaises(dts.Error):
                dts.read_profile(path.with_name("missing.toml"))

    def test_what_calibrate_writes_is_read(self) -> None:
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "nano.toml"
            subprocess.run(
                [os.environ["DTS_PROGRAM"], "calibrate", "--rate", "5", "--trajectories", "1", "--predict", "64", "--save", str(path)],
                check=True, capture_output=True,
            )  # fmt: skip
            self.assertEqual(set(dts.read_profile(path)), {"tau_v", "tau_h", "stat_temp"})

    def test_engines(self) -> None:
        question = EXAMPLES[0]["question"]
        trees = {}
        for engine in ("llama", "native-cpu", "native-oracle", "native"):
            result = dts.Model.built_in(engine=engine).run(question, seed=0, max_tokens=24)
            trees[engine] = [(s.parent, [t.token for t in s.tokens]) for s in result.tree]
        self.assertEqual(trees["native-cpu"], trees["native-oracle"])
        self.assertEqual(trees["native-cpu"], trees["llama"])
        with self.assertRaises(dts.UsageError) as caught:
            dts.Model.built_in(engine="gpu")
        self.assertIn("engine is 'gpu': it must be one of auto, llama, native, native-cpu", str(caught.exception))
        with self.assertRaises(dts.UsageError) as caught:
            dts.Model.built_in(engine="native", kv_layout="unified")
        self.assertIn("kv_layout has no meaning for the native engine", str(caught.exception))

    def test_closed_model(self) -> None:
        with dts.Model.built_in() as model:
            run = model.start(EXAMPLES[0]["question"])
        with self.assertRaisesRegex(dts.UsageError, "closed"):
            model.run("What is 1 + 1?")
        try:
            self.assertFalse(run.result().complete)
        except dts.Error as error:
            self.assertIn("closed", str(error))

    def test_a_wider_question_comes_after_a_narrow_one(self) -> None:
        model = dts.Model.built_in(parallel_branches=2)
        narrow = model.run(EXAMPLES[0]["question"], method="standard", seed=1, max_tokens=100)
        wide = model.run(EXAMPLES[0]["question"], seed=1)
        self.assertEqual(shape(wide), shape(self.model.run(EXAMPLES[0]["question"], seed=1)))
        standard = self.model.run(EXAMPLES[0]["question"], method="standard", seed=1, max_tokens=100)
        self.assertEqual(shape(narrow), shape(standard))

    def test_progress_can_stop_the_loading(self) -> None:
        seen: list[float] = []
        dts.Model.built_in(progress=seen.append)
        self.assertEqual(seen[-1], 1.0)

        def stop(fraction: float) -> None:
            raise RuntimeError("enough")

        with self.assertRaisesRegex(RuntimeError, "enough"):
            dts.Model.built_in(progress=stop)

    def test_a_copy_of_the_process_is_told_to_load_its_own(self) -> None:
        self.model.run(EXAMPLES[0]["question"], max_tokens=3)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                self.model.run("What is 1 + 1?")
            except dts.UsageError as error:
                code = 0 if "another process" in str(error) else 2
            finally:
                os._exit(code)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)


class InterruptTest(unittest.TestCase):
    """Ctrl-C in the middle, and a program that ends with a question under way."""

    SLOW = """
import dts, sys, time
class Slow(dts.Engine):
    vocab_size = model_size = dts.Model.built_in().tokenizer.vocab_size
    context_length = 100000
    steps = 0
    def logits(self, tokens):
        Slow.steps += 1
        if Slow.steps == 3: print("decoding", flush=True)
        row = [0.0] * self.vocab_size
        row[10] = 20.0
        return row
model = dts.Model.of(Slow(), dts.Model.built_in().tokenizer)
"""

    def start(self, rest: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", self.SLOW + rest], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )

    def test_ctrl_c_ends_a_run(self) -> None:
        process = self.start(
            "try:\n    model.run('What is 1 + 1?', max_tokens=99000)\nexcept KeyboardInterrupt:\n    print('interrupted')\n"
        )
        assert process.stdout is not None
        self.assertEqual(process.stdout.readline(), "decoding\n")
        process.send_signal(signal.SIGINT)
        out, error = process.communicate(timeout=300)
        self.assertEqual((process.returncode, out), (0, "interrupted\n"), error)

    def test_a_program_may_end_while_its_model_decodes(self) -> None:
        process = self.start(
            "run = model.start('What is 1 + 1?', max_tokens=99000)\n"
            "for event in run:\n    if event.step == 4: break\n"
            "sys.exit(7)\n"
        )
        out, error = process.communicate(timeout=300)
        self.assertEqual(process.returncode, 7, error)


if __name__ == "__main__":
    unittest.main()
