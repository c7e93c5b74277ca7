"""Exact decision tokens inside vLLM.

A request that carries the arguments of `request.py` is ended at the first token whose entropy H and varentropy VE, at
T_stat and over the whole vocabulary, make it a decision token. The client takes the children from the
log-probabilities of that last token, which vLLM computes before any logits processor runs.
"""

VERSION = 1
