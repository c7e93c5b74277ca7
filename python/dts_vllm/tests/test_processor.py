"""The processor itself, on torch's device, driven as vLLM drives it. Skipped where torch is not."""

import enum
import sys
import time
import types
import unittest
from types import SimpleNamespace

from oracle import oracle_values

try:
    import torch
except ImportError as missing:
    raise unittest.SkipTest(f"{missing}: the processor runs on torch") from missing


def have_vllm():
    """Where vLLM is not there, the two names that the processor takes from it."""
    try:
        import vllm.v1.sample.logits_processor  # noqa: F401
    except ImportError:
        names = types.ModuleType("vllm.v1.sample.logits_processor")
        names.LogitsProcessor = object
        names.MoveDirectionality = enum.Enum("MoveDirectionality", ["UNIDIRECTIONAL", "SWAP"])
        for name in ("vllm", "vllm.v1", "vllm.v1.sample"):
            sys.modules.setdefault(name, types.ModuleType(name))
        sys.modules["vllm.v1.sample.logits_processor"] = names
    return sys.modules["vllm.v1.sample.logits_processor"]


DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def make_processor(vocabulary, padding=None):
    have_vllm()
    from dts_vllm.processor import DecisionTokenProcessor

    config = SimpleNamespace(eos_token_id=[0], pad_token_id=padding)
    model = SimpleNamespace(hf_config=config, get_vocab_size=lambda: vocabulary)
    return DecisionTokenProcessor(SimpleNamespace(model_config=model), torch.device(DEVICE), False)


def update(added=(), removed=(), moved=()):
    return SimpleNamespace(
        batch_size=0,
        removed=list(removed),
        added=[(row, SimpleNamespace(extra_args=args), [], output) for row, args, output in added],
        moved=list(moved),
    )


class ProcessorTest(unittest.TestCase):
    def test_rows_end_where_the_oracle_says(self):
        fired = 0
        for value in oracle_values():
            n = len(value["logits"])
            processor = make_processor(n + 1)  # one more, which the model never draws
            near = min(abs(value["varentropy"] - value["tau_v"]), abs(value["entropy"] - value["tau_h"]))
            if near < 1e-4 * (1 + value["entropy"] + value["varentropy"]):
                continue
            criteria = list(value["decisions"])
            arguments = [
                {
                    "dts_version": 1,
                    "dts_criterion": criterion,
                    "dts_tau_v": value["tau_v"],
                    "dts_tau_h": value["tau_h"],
                    "dts_stat_temp": value["stat_temperature"],
                }
                for criterion in criteria
            ]
            rows = [(row, args, []) for row, args in enumerate(arguments)]
            processor.update_state(update(added=[*rows, (len(rows), None, [])]))
            row = value["logits"] + [float("-inf")]
            logits = torch.tensor([row] * (len(criteria) + 1), dtype=torch.float32, device=DEVICE)
            out = processor.apply(logits.clone())
            for i, criterion in enumerate(criteria):
                ended = bool(torch.isfinite(out[i]).sum() == 1 and out[i, n] == 0)
                self.assertEqual(ended, value["decisions"][criterion], (criterion, value["entropy"], value["varentropy"]))
                if not ended:
                    self.assertTrue(torch.equal(out[i], logits[i]))
                fired += ended
            self.assertTrue(torch.equal(out[-1], logits[-1]), "a request of nobody's is left alone")
        self.assertGreater(fired, 50)

    def test_probes_force_two_tokens_that_lie_side_by_side(self):
        processor = make_processor(50, padding=7)
        probes = [(row, {"dts_version": 1, "dts_probe": row + 1}, []) for row in range(2)]
        processor.update_state(update(added=probes))
        out = processor.apply(torch.randn(2, 50, device=DEVICE))
        self.assertEqual(out.argmax(dim=1).tolist(), [7, 6])

    def test_a_token_that_must_be_drawn_is_not_ended_at(self):
        processor = make_processor(5)
        drawn = []
        args = {"dts_version": 1, "dts_criterion": "high-entropy", "dts_tau_v": 0, "dts_tau_h": 0.1, "dts_stat_temp": 1.0}
        processor.update_state(update(added=[(0, {**args, "dts_skip": 1}, drawn)]))
        flat = torch.zeros(1, 5, device=DEVICE)
        self.assertEqual(torch.isfinite(processor.apply(flat.clone())).sum().item(), 4, "all but the stop token")
        drawn.append(3)
        processor.update_state(None)
        self.assertEqual(processor.apply(flat.clone()).argmax().item(), 4)
        moved = have_vllm().MoveDirectionality.UNIDIRECTIONAL
        processor.update_state(update(moved=[(0, 2, moved)]))
        out = processor.apply(torch.zeros(3, 5, device=DEVICE))
        self.assertEqual(torch.isfinite(out).sum(dim=1).tolist(), [5, 5, 1])

    def test_what_a_step_costs_is_said(self):
        if DEVICE != "cuda":
            self.skipTest("no GPU")
        vocabulary, rows = 151936, 64
        processor = make_processor(vocabulary)
        args = {"dts_version": 1, "dts_criterion": "decision", "dts_tau_v": 1.5, "dts_tau_h": 2.5, "dts_stat_temp": 0.6}
        processor.update_state(update(added=[(row, args, []) for row in range(rows)]))
        logits = torch.randn(rows, vocabulary, device=DEVICE)
        for _ in range(5):
            processor.apply(logits.clone())
        torch.cuda.synchronize()
        start = time.perf_counter()
        for _ in range(50):
            processor.apply(logits)
        torch.cuda.synchronize()
        print(f"{rows} rows of {vocabulary} logits: {1e3 * (time.perf_counter() - start) / 50:.3f} ms a step")


if __name__ == "__main__":
    unittest.main()
