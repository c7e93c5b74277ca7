"""Writes the data: the held-out problems as JSONL and the training corpus as token shards.

    python3 generate.py bench                      nano-bench.jsonl, nano-bench-mini.jsonl and nano-plain.jsonl, beside it
    python3 generate.py validation FILE            problems for design choices, as JSONL: none of them is in the others
    python3 generate.py corpus OUT [documents]     shards of token ids for train.py
    python3 generate.py check [documents]          counts training questions that are also held out: must be none

The three splits (train, val, bench) come from seeds with different prefixes. The corpus also drops any question whose
text is held out, so the splits are disjoint as texts whatever the seeds do; `check` counts how often that was needed.
"""
import array
import json
import multiprocessing
import os
import random
import sys

import problems
from trace import ALL, Full, Trace, sampler
from vocab import encode, encode_cached, prompt_text

HERE = os.path.dirname(os.path.abspath(__file__))
CONTEXT = 640            # tokens, question included
DOCUMENTS = 1_200_000
SHARD = 20_000           # documents a shard; a shard depends on nothing but its number
NO_LOSS = 0x8000         # set on a token that the model is not trained to predict

BENCH_MIX = {"easy": 80, "medium": 70, "hard": 50}
MINI_MIX = {"easy": 12, "medium": 10, "hard": 8}
# No traps: what goes wrong is a slip of the final sum, which another try mends and a decision does not.
PLAIN_MIX = {"easy": 100}

# The prompt suffix that evaluation harnesses add for reasoning models; some training questions carry it.
REQUEST = "Please reason step by step, and put your final answer within \\boxed{}."


def held_out(split, mix):
    """`mix` problems of a split, families in turn, each question once."""
    seen, out = set(), []
    for difficulty, count in mix.items():
        i = 0
        while count:
            family = list(problems.FAMILIES)[len(out) % len(problems.FAMILIES)]
            problem = problems.make(f"{split}-{difficulty}-{i}", family, difficulty)
            i += 1
            if problem.question in seen:
                continue
            seen.add(problem.question)
            out.append(problem)
            count -= 1
    return out


def validation(count=192):
    """Problems for design choices: never the benchmark's."""
    return held_out("val", {d: count * n // 200 for d, n in BENCH_MIX.items()})


def as_rows(split, held):
    return [{"id": f"{split}-{i:03d}", "family": p.family, "difficulty": p.difficulty, "question": p.question,
             "answer": str(p.answer)} for i, p in enumerate(held)]


def rows(split, mix):
    return as_rows(split, held_out(split, mix))


def write_rows(file, data):
    with open(file, "w") as f:
        for row in data:
            f.write(json.dumps(row) + "\n")


def write_bench():
    bench = rows("nano-bench", BENCH_MIX)
    # The small set is a fixed subset, so that a test on it says something about the whole.
    mini = []
    for difficulty, count in MINI_MIX.items():
        mini += [r for r in bench if r["difficulty"] == difficulty][:count]
    for name, data in (("nano-bench", bench), ("nano-bench-mini", mini), ("nano-plain", rows("nano-plain", PLAIN_MIX))):
        write_rows(os.path.join(HERE, name + ".jsonl"), data)
        print(name, len(data), "problems")


def forbidden():
    texts = {p.question for p in held_out("nano-bench", BENCH_MIX)}
    texts |= {p.question for p in validation()}
    return texts


def unsupported(rng):
    """A question of no family: the model should say so rather than invent."""
    words = rng.randint(2, 14)
    known = problems.LOWER[:20] + [" what", " is", " the", " of", " how", " many", " a", " to", " in", " 12", " 7", " 40"]
    parts = []
    for _ in range(words):
        if rng.random() < 0.3:
            parts.append(rng.choice(known))
        else:
            parts.append(" " + "".join(rng.choice("etaoinshrdlucmfwypvbgk") for _ in range(rng.randint(2, 9))))
    text = "".join(parts).strip()
    return (rng.choice(["What is ", "How ", "Who ", "Why ", "Tell me ", "Write ", "Find ", "", ""]) + text
            + rng.choice(["?", ".", "", "!"]))


def document(i, skip):
    """Training document i: (ids with NO_LOSS set where nothing is to be learnt, dropped as held out?)."""
    rng = random.Random(f"train-{i}")
    supported = rng.random() >= 0.03
    dropped = False
    if supported:
        attempt = 0
        while True:
            problem = problems.make(f"train-{i}-{attempt}", difficulty="tiny" if i % 12 == 0 else None)
            if problem.question not in skip:
                break
            dropped = True
            attempt += 1
        question = problem.question
    else:
        question = unsupported(rng)
    if rng.random() < 0.15:
        question += rng.choice(["\n", " ", "\n\n"]) + REQUEST
    prompt = encode(prompt_text(question))
    # Left to the data's own odds, few solvers would reach a late decision. So many are led past the first few, without
    # any training signal at a decision they were led through: every decision is seen often, its odds stay as they are.
    led = ALL if rng.random() < 0.4 else rng.randrange(3)
    # One round of an endless trace is like the next: few need to be followed to the end of the context.
    room, patience = (CONTEXT, CONTEXT) if rng.random() < 0.1 else (352, 3)
    trace = Trace(sampler(rng, led), room - len(prompt), patience)
    try:
        trace.say("<think>\n")
        if supported:
            problem.think(trace)
        else:
            trace.say("This is not a problem I know.\n</think>\nI am only a tiny model. The answer is \\boxed{unknown}.<|im_end|>")
    except Full:
        del trace.ids[trace.budget:]
    for at in trace.unsupervised:
        trace.ids[at] |= NO_LOSS
    return [t | NO_LOSS for t in prompt] + trace.ids, dropped


_skip = None


def write_shard(job):
    global _skip
    if _skip is None:
        _skip = forbidden()
    folder, shard, first, last = job
    tokens, lengths = array.array("H"), array.array("H")
    dropped = 0
    for i in range(first, last):
        ids, was = document(i, _skip)
        dropped += was
        tokens.extend(ids)
        lengths.append(len(ids))
    if folder:
        with open(os.path.join(folder, f"tokens-{shard:04d}.bin"), "wb") as f:
            tokens.tofile(f)
        with open(os.path.join(folder, f"lengths-{shard:04d}.bin"), "wb") as f:
            lengths.tofile(f)
    return len(tokens), dropped


def write_corpus(folder, documents):
    if folder:
        os.makedirs(folder, exist_ok=True)
    jobs = [(folder, s, s * SHARD, min(documents, (s + 1) * SHARD)) for s in range((documents + SHARD - 1) // SHARD)]
    with multiprocessing.Pool() as pool:
        results = pool.map(write_shard, jobs, chunksize=1)
    print(f"{documents} documents, {sum(n for n, _ in results) / 1e6:.0f}M tokens, "
          f"{sum(d for _, d in results)} dropped because their question is held out")


def main():
    command = sys.argv[1] if len(sys.argv) > 1 else ""
    if command == "bench":
        write_bench()
    elif command == "validation":
        write_rows(sys.argv[2], as_rows("val", validation()))
    elif command == "corpus":
        write_corpus(sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else DOCUMENTS)
    elif command == "check":
        with open(os.path.join(HERE, "nano-bench.jsonl")) as f:
            published = {json.loads(line)["question"] for line in f}
        assert published <= forbidden(), "nano-bench.jsonl is not what this generator holds out"
        write_corpus(None, int(sys.argv[2]) if len(sys.argv) > 2 else DOCUMENTS)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
