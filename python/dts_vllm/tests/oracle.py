"""Distributions with their H and VE, by the oracle that the C++ engines are tested with.

DTS_ORACLE_VALUES names the program that prints them, or a file of what it printed: one JSON object a line.
"""

import json
import os
import subprocess
import unittest


def oracle_values():
    name = os.environ.get("DTS_ORACLE_VALUES")
    if not name:
        raise unittest.SkipTest("DTS_ORACLE_VALUES does not name the oracle's program")
    if name.endswith(".jsonl"):
        with open(name, encoding="utf-8") as file:
            lines = file.read().splitlines()
    else:
        lines = subprocess.run([name], check=True, capture_output=True, text=True).stdout.splitlines()
    values = [json.loads(line) for line in lines]
    for value in values:
        value["logits"] = [float("-inf") if logit is None else logit for logit in value["logits"]]
    return values
