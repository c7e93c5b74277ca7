"""The processor itself, on torch's device, driven as vLLM drives it. Skipped where torch is not."""

import abc
import enum
import sys
import time
import types
import unittest
from types import SimpleNamespace

from oracle import oracle_values

try:
    import numpy as np
    import torch
except ImportError as missing:
    raise unittest.SkipTest(f"{missing}: the processor runs on torch") from missing


class OfRows(abc.ABC):
    """What vLLM's first runner asks of a processor: its abstract methods."""

    @abc.abstractmethod
    def __init__(self, vllm_config, device, is_pin_memory):
        raise NotImplementedError

    @abc.abstractmethod
    def apply(self, logits):
        raise NotImplementedError

    @abc.abstractmethod
    def is_argmax_invariant(self):
        raise NotImplementedError

    @abc.abstractmethod
    def update_state(self, batch_update):
        raise NotImplementedError


class OfSlots(abc.ABC):
    """The same of the second runner."""

    def __init__(self, vllm_config, req_states):
        raise AssertionError("the processor has its own")

    @abc.abstractmethod
    def apply(self, logits, ctx):
        raise NotImplementedError


def have_vllm():
    """Where vLLM is not there, the names that the processor takes from it."""
    try:
        import vllm.v1.sample.logits_processor  # noqa: F401
    except ImportError:
        names = types.ModuleType("vllm.v1.sample.logits_processor")
        names.LogitsProcessor = OfRows
        names.MoveDirectionality = enum.Enum("MoveDirectionality", ["UNIDIRECTIONAL", "SWAP"])
        second = types.ModuleType("vllm.v1.worker.gpu.sample.logits_processor")
        second.LogitsProcessor = OfSlots
        parents = "vllm vllm.v1 vllm.v1.sample vllm.v1.worker vllm.v1.worker.gpu vllm.v1.worker.gpu.sample"
        for name in parents.split():
            sys.modules.setdefault(name, types.ModuleType(name))
        for module in (names, second):
            sys.modules[module.__name__] = module
    return sys.modules["vllm.v1.sample.logits_processor"]


DEVICE = "cuda" if torch.cuda.is_available() else "cpu"


def make_processor(vocabulary, padding=None, prompts=None):
    """`prompts`: as the second runner makes it, with prompts of so many tokens, a slot each."""
    have_vllm()
    from dts_vllm.processor import DecisionTokenProcessor

    config = SimpleNamespace(eos_token_id=[0], pad_token_id=padding)
    model = SimpleNamespace(hf_config=config, get_vocab_size=lambda: vocabulary)
    config = SimpleNamespace(model_config=model)
    if prompts is None:
        return DecisionTokenProcessor(config, torch.device(DEVICE), False)
    states = SimpleNamespace(
        device=torch.device(DEVICE),
        max_num_reqs=len(prompts),
        vocab_size=vocabulary,
        prompt_len=SimpleNamespace(np=np.array(prompts, dtype=np.int32)),
    )
    return DecisionTokenProcessor(config, states)


def context(slots, lengths, expanded=None, positions=None):
    """One step of the second runner: slots [requests], lengths [requests]; expanded, positions [rows]."""
    expanded = slots if expanded is None else expanded
    positions = [length - 1 for length in lengths] if positions is None else positions
    return SimpleNamespace(
        idx_mapping_np=np.array(slots, dtype=np.int32),
        seq_lens_upper_bound_np=np.array(lengths, dtype=np.int32),
        expanded_idx_mapping=torch.tensor(expanded, device=DEVICE),
        pos=torch.tensor(positions, device=DEVICE),
    )


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

    def test_both_runners_end_the_same_rows(self):
        generator = torch.Generator().manual_seed(5)
        args = {"dts_version": 1, "dts_criterion": "decision", "dts_tau_v": 0.4, "dts_tau_h": 2.5, "dts_stat_temp": 0.6}
        ended = 0
        for step in range(50):
            rows, vocabulary = 6, 40
            logits = (3 * torch.randn(rows, vocabulary, generator=generator)).to(DEVICE)
            asked = [args if row % 3 else None for row in range(rows)]
            first = make_processor(vocabulary)
            first.update_state(update(added=[(row, wanted, []) for row, wanted in enumerate(asked)]))
            expected = first.apply(logits.clone())
            second = make_processor(vocabulary, prompts=[4] * 16)
            slots = torch.randperm(16, generator=generator)[:rows].tolist()
            for slot, wanted in zip(slots, asked):
                added = second.add_request(slot, SimpleNamespace(extra_args=wanted))
                self.assertEqual(added, wanted is not None)
            out = second.apply(logits.clone(), context(slots, [4] * rows))
            self.assertTrue(torch.equal(out, expected), step)
            ended += int((torch.isfinite(out).sum(dim=1) == 1).sum())
        self.assertGreater(ended, 20)

    def test_a_slot_belongs_to_who_came_last(self):
        args = {"dts_version": 1, "dts_criterion": "high-entropy", "dts_tau_v": 0, "dts_tau_h": 0.1, "dts_stat_temp": 1.0}
        processor = make_processor(5, prompts=[3, 7])
        flat = torch.zeros(1, 5, device=DEVICE)
        self.assertTrue(processor.add_request(1, SimpleNamespace(extra_args={**args, "dts_skip": 1})))
        self.assertEqual(torch.isfinite(processor.apply(flat.clone(), context([1], [7]))).sum().item(), 4)
        self.assertEqual(processor.apply(flat.clone(), context([1], [8])).argmax().item(), 4, "one drawn: watched now")
        other = processor.apply(flat.clone(), context([0], [8]))
        self.assertTrue(torch.equal(other, flat), "another slot")
        # Drafts: the first row is the token that is skipped, the second the one after it.
        drafts = processor.apply(torch.zeros(2, 5, device=DEVICE), context([1], [8], expanded=[1, 1], positions=[6, 7]))
        self.assertEqual(torch.isfinite(drafts).sum(dim=1).tolist(), [4, 1])
        for nonsense in (None, {"dts_version": 1, "dts_tau_v": "x"}, {"dts_version": 9}):
            self.assertFalse(processor.add_request(1, SimpleNamespace(extra_args=nonsense)))
            self.assertTrue(torch.equal(processor.apply(flat.clone(), context([1], [9])), flat))

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
