"""The logits processor that vLLM loads.

It is not argmax-invariant, so vLLM runs it on the model's own logits, before penalties, temperature and top-k/top-p;
and vLLM takes raw log-probabilities before any processor, so those of the last token are the true ones
(`--logprobs-mode raw_logprobs`, the default).
"""

import os

import torch
from vllm.v1.sample.logits_processor import LogitsProcessor, MoveDirectionality

from . import torch_arrays
from .request import wanted_of
from .trigger import Rows, Thresholds, decision_tokens


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


class DecisionTokenProcessor(LogitsProcessor):
    @classmethod
    def validate_params(cls, sampling_params):
        wanted_of(sampling_params.extra_args)

    def __init__(self, vllm_config, device, is_pin_memory):
        self.stop, self.other = stop_tokens(vllm_config)
        self.device = device
        self.rows = Rows()
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

    def apply(self, logits):
        for row, probe in self.rows.probes():
            self._force(logits, row, self.stop if probe == 1 else self.other)
        for row in self.rows.skipping():
            logits[row, self.stop] = float("-inf")
        watched = self.rows.watched()
        if not watched:
            return logits
        if self.watched != watched:  # requests came or went, or have drawn what they skip
            column = lambda values: torch.tensor(values, dtype=torch.float32, device=self.device).unsqueeze(1)
            self.watched = watched
            self.thresholds = Thresholds([wanted for _, wanted in watched], column)
            self.index = torch.tensor([row for row, _ in watched], device=self.device)
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
