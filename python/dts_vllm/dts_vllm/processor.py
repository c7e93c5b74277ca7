"""The logits processor that vLLM loads.

vLLM has two model runners, and each has an interface of its own for processors; both find them by the same entry
point, and each takes only its own. So the class is one for both: vLLM 0.10.2 and later call update_state() and
apply(logits), those whose second runner takes processors (VLLM_USE_V2_MODEL_RUNNER) call add_request() and
apply(logits, context).

Either way it sees the model's own logits, before temperature and top-k/top-p (it is not argmax-invariant); and vLLM
takes raw log-probabilities before any processor, so those of the last token are the true ones
(`--logprobs-mode raw_logprobs`, the default).
"""

import os

import torch

from . import torch_arrays
from .request import wanted_of
from .trigger import Rows, Slots, Thresholds, decision_tokens

INTERFACES = []
try:
    from vllm.v1.sample.logits_processor import LogitsProcessor as OfRows
    from vllm.v1.sample.logits_processor import MoveDirectionality

    INTERFACES.append(OfRows)
except ImportError:  # a vLLM that has given its first runner up
    MoveDirectionality = None
try:
    from vllm.v1.worker.gpu.sample.logits_processor import LogitsProcessor as OfSlots

    INTERFACES.append(OfSlots)
except Exception:  # not there, or not to be had on this machine: it is then not used either
    pass
if not INTERFACES:
    raise ImportError("dts_vllm needs vLLM 0.10.2 or later")


def stop_tokens(vllm_config):
    """The token that ends a request at a decision token, and another one, for probes.

    It must be one that the model never draws: while a request is watched it has no probability of its own. The padding
    token is one; without it, the last of the vocabulary. DTS_STOP_TOKEN in the environment overrides it.
    """
    config = vllm_config.model_config.hf_config
    vocabulary = vllm_config.model_config.get_vocab_size()
    given = os.environ.get("DTS_STOP_TOKEN")
    ends = getattr(config, "eos_token_id", None)
    ends = set(ends if isinstance(ends, (list, tuple)) else [ends])
    padding = getattr(config, "pad_token_id", None)
    stop = vocabulary - 1
    if given is not None:
        stop = int(given)
    elif isinstance(padding, int) and 0 <= padding < vocabulary and padding not in ends:
        stop = padding
    if not 0 <= stop < vocabulary or stop in ends:
        raise ValueError(f"DTS_STOP_TOKEN is {stop}: it must be a token of the {vocabulary}, and no end token")
    return stop, (stop - 1 if stop > 0 else 1)


class DecisionTokenProcessor(*INTERFACES):
    @classmethod
    def validate_params(cls, sampling_params):
        wanted_of(sampling_params.extra_args)

    def __init__(self, vllm_config, where, is_pin_memory=None):
        """`where`: the device, or the second runner's state of all requests."""
        self.stop, self.other = stop_tokens(vllm_config)
        self.states = where if hasattr(where, "prompt_len") else None
        self.device = where if self.states is None else where.device
        self.rows = Rows()
        self.slots = Slots()
        self.watched = None  # rows that `thresholds` and `index` were made for
        self.thresholds = None
        self.index = None

    def is_argmax_invariant(self):
        return False

    def update_state(self, batch_update):
        if batch_update is None:
            return
        self.watched = None
        for row in batch_update.removed:
            self.rows.remove(row)
        for row, params, _, output in batch_update.added:
            self.rows.add(row, wanted_of(params.extra_args), output)
        for source, target, direction in batch_update.moved:
            self.rows.move(source, target, direction == MoveDirectionality.SWAP)

    def add_request(self, req_idx, sampling_params):
        """True: its logits may be changed."""
        try:
            wanted = wanted_of(sampling_params.extra_args)
        except ValueError:
            wanted = None  # nobody asked validate_params(): what one request says must not end the server
        self.slots.add(req_idx, wanted)
        return wanted is not None

    def apply(self, logits, context=None):
        if context is None:
            return self._end(logits, self.rows.now())
        slots = context.idx_mapping_np.tolist()
        if not self.slots.any_of(slots):
            return logits
        lengths = context.seq_lens_upper_bound_np.tolist()
        if logits.shape[0] != len(slots):
            # Speculative decoding: a request has a row for each draft, and only the device knows which. Read back.
            slots = context.expanded_idx_mapping.tolist()
            lengths = [position + 1 for position in context.pos.tolist()]
        return self._end(logits, self.slots.now(slots, lengths, self.states.prompt_len.np))

    def _end(self, logits, now):
        for row, probe in now.probes:
            self._force(logits, row, self.stop if probe == 1 else self.other)
        for row in now.skipping:
            logits[row, self.stop] = float("-inf")
        if not now.watched:
            return logits
        if self.watched != now.watched:  # requests came or went, or have drawn what they skip
            column = lambda values: torch.tensor(values, dtype=torch.float32, device=self.device).unsqueeze(1)
            self.watched = now.watched
            self.thresholds = Thresholds([wanted for _, wanted in now.watched], column)
            self.index = torch.tensor([row for row, _ in now.watched], device=self.device)
        rows = logits[self.index].to(torch.float32)
        fires = decision_tokens(torch_arrays, rows, self.thresholds) > 0
        # Nothing is read back: the choice is made on the device, too.
        ended = torch.full_like(rows, float("-inf"))
        ended[:, self.stop] = 0.0
        rows[:, self.stop] = float("-inf")
        logits[self.index] = torch.where(fires, ended, rows).to(logits.dtype)
        return logits

    @staticmethod
    def _force(logits, row, token):
        logits[row] = float("-inf")
        logits[row, token] = 0.0
