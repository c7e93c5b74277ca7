"""What a request asks of the processor: `vllm_xargs` of its body, `extra_args` of its sampling parameters.

    dts_version   1
    dts_probe     1 or 2: the next token is forced, see below; nothing else is asked for
    dts_criterion decision | high-entropy | either
    dts_tau_v     nats^2
    dts_tau_h     nats
    dts_stat_temp T_stat > 0
    dts_skip      the first so many tokens are drawn whatever they are (0)

A probe is how a client finds out that the processor is there: probe 1 forces the stop token that ends requests at
decision tokens, probe 2 another one. A server without the processor draws the same token for both.
"""

import math
from dataclasses import dataclass

from . import VERSION

# Which distributions make a decision token.
DECISION = "decision"  # VE >= tau_v and H <= tau_h
HIGH_ENTROPY = "high-entropy"  # H >= tau_h
EITHER = "either"  # one of the two
CRITERIA = (DECISION, HIGH_ENTROPY, EITHER)


@dataclass(frozen=True)
class Wanted:
    """One request's wish."""

    criterion: str = DECISION
    tau_v: float = 1.5
    tau_h: float = 2.5
    stat_temperature: float = 0.6
    skip: int = 0
    probe: int = 0


def _number(args, name, low):
    value = args.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or math.isnan(value) or value < low:
        raise ValueError(f"{name} is {value!r}: it must be a number, at least {low}")
    return float(value)


def wanted_of(extra_args):
    """None: the request has nothing to do with us. Raises ValueError, which vLLM answers with 400."""
    args = extra_args or {}
    if "dts_version" not in args:
        return None
    if args["dts_version"] != VERSION:
        raise ValueError(f"dts_version is {args['dts_version']!r}: this server speaks {VERSION}")
    if "dts_probe" in args:
        if args["dts_probe"] not in (1, 2):
            raise ValueError(f"dts_probe is {args['dts_probe']!r}: it must be 1 or 2")
        return Wanted(probe=args["dts_probe"])
    criterion = args.get("dts_criterion", DECISION)
    if criterion not in CRITERIA:
        raise ValueError(f"dts_criterion is {criterion!r}: it must be one of {', '.join(CRITERIA)}")
    temperature = _number(args, "dts_stat_temp", 0)
    if not 0 < temperature < math.inf:
        raise ValueError(f"dts_stat_temp is {temperature}: it must be above 0 and finite")
    skip = args.get("dts_skip", 0)
    if isinstance(skip, bool) or not isinstance(skip, int) or skip < 0:
        raise ValueError(f"dts_skip is {skip!r}: it must be a whole number, at least 0")
    return Wanted(criterion, _number(args, "dts_tau_v", 0), _number(args, "dts_tau_h", 0), temperature, skip)
