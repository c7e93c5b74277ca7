"""What every method would do with a perfect student of the generator: no network, only the choices.

Used to fix the design before anything is trained: `python3 ideal.py [problems] [temperature]`. Problems come from
seeds of their own, neither training nor held-out.
"""
import heapq
import math
import random
import sys
from collections import Counter

import problems
from trace import Full, Trace

TAU_V, TAU_H, T_STAT, K, CAP = 1.5, 2.5, 0.6, 3, 48
BUDGET = 512


class Pending(Exception):
    def __init__(self, choice):
        self.choice = choice


def tempered(choice, temperature):
    pairs = [(t, p ** (1 / temperature)) for t, p in choice.distribution()]
    z = sum(p for _, p in pairs)
    return [(t, p / z) for t, p in pairs]


def statistics(choice):
    ps = [p for _, p in tempered(choice, T_STAT)]
    h = -sum(p * math.log(p) for p in ps)
    return h, sum(p * (math.log(p) + h) ** 2 for p in ps)


def replay(problem, path):
    """Runs the program along `path`: ("choice", length, choice) at the next choice, ("end", length, answer) or ("budget",...)."""
    it = iter(path)

    def choose(choice, _trace):
        for text in it:
            return text, False
        raise Pending(choice)

    trace = Trace(choose, BUDGET)
    try:
        trace.say("<think>\n")
        value = problem.think(trace)
        return "end", len(trace.ids), value
    except Pending as pending:
        return "choice", len(trace.ids), pending.choice
    except Full:
        return "budget", BUDGET, None


class Run:
    """One question under one method: `width` independent starts, branching or not, until `votes` have finished."""

    def __init__(self, problem, rng, temperature, width=1, branch=False, votes=None):
        self.finished, self.tokens, self.events, self.never = [], 0, 0, 0
        queue, order, live = [], 0, width
        for _ in range(width):
            queue.append((0, order, [], 0.0, 0))
            order += 1
        heapq.heapify(queue)
        ends = []
        # Branches advance in lockstep, so handling them by position is handling them by step.
        stop_at = None
        closed = []
        while queue:
            at, rank, path, logp, born = heapq.heappop(queue)
            if stop_at is not None and at > stop_at:
                closed.append((born, stop_at))
                continue
            what, length, data = replay(problem, path)
            if what == "choice" and length > at:
                heapq.heappush(queue, (length, rank, path, logp, born))
                continue
            if what != "choice" and length > at:
                heapq.heappush(queue, (length, rank, path, logp, born))
                continue
            if what == "end":
                self.finished.append((length, data, logp / length))
                closed.append((born, length))
                live -= 1
                if votes and len(self.finished) >= votes:
                    stop_at = length
                continue
            if what == "budget":
                self.never += 1
                live -= 1
                closed.append((born, length))
                continue
            raw = dict(data.distribution())
            if branch and live < CAP:
                h, ve = statistics(data)
                if ve >= TAU_V and h <= TAU_H:
                    top = sorted(raw, key=lambda t: -raw[t])[:min(K, CAP - live + 1)]
                    self.events += 1
                    live += len(top) - 1
                    for i, t in enumerate(top):
                        heapq.heappush(queue, (at, rank if i == 0 else order, path + [t], logp + math.log(raw[t]), born if i == 0 else at))
                        order += 1
                    continue
            pairs = tempered(data, temperature)
            t = rng.choices([t for t, _ in pairs], [p for _, p in pairs])[0]
            heapq.heappush(queue, (at, rank, path + [t], logp + math.log(raw[t]), born))
        self.tokens = sum(e - b for b, e in closed)
        self.live_at_end = live

    def first(self):
        return self.finished[0][1] if self.finished else None

    def vote(self, limit=None):
        counts = Counter(v for _, v, _ in self.finished[:limit])
        return counts.most_common(1)[0][0] if counts else None

    def best(self):
        return max(self.finished, key=lambda f: f[2])[1] if self.finished else None


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 120
    temperature = float(sys.argv[2]) if len(sys.argv) > 2 else 0.6
    mix = ["easy"] * 8 + ["medium"] * 7 + ["hard"] * 5
    rows = {}
    lengths = []
    for i in range(count):
        family = list(problems.FAMILIES)[i % 3]
        difficulty = mix[(i // 3) % len(mix)]
        problem = problems.make(f"ideal-{i}", family, difficulty)
        rng = random.Random(i)

        def note(name, value, run):
            for key in ("all", difficulty, family):
                row = rows.setdefault(name, {}).setdefault(key, [0, 0, 0, 0, 0])
                row[0] += 1
                row[1] += value == problem.answer
                row[2] += run.tokens
                row[3] += run.events
                row[4] += not run.finished

        for _ in range(20):
            run = Run(problem, rng, temperature)
            note("standard", run.first(), run)
            lengths.append((run.tokens, run.first() == problem.answer))
        for _ in range(3):
            run = Run(problem, rng, temperature, width=8)
            note("self-consistency 8", run.vote(), run)
            run = Run(problem, rng, temperature, width=8, votes=1)
            note("first of 8", run.first(), run)
            run = Run(problem, rng, temperature, branch=True, votes=1)
            note("DTS-Greedy", run.first(), run)
            run = Run(problem, rng, temperature, branch=True, votes=8)
            note("DTS-Stable", run.vote(), run)
        run = Run(problem, rng, temperature, width=48, votes=8)
        note("short-8@48", run.vote(), run)
        run = Run(problem, rng, temperature, branch=True)
        note("max-logit", run.best(), run)
    keys = ["all", "easy", "medium", "hard"] + list(problems.FAMILIES)
    print(f"{'method':20}" + "".join(f"{k:>9}" for k in keys) + "   tokens  events  never%")
    for name, row in rows.items():
        n, _, tokens, events, never = row["all"]
        print(f"{name:20}" + "".join(f"{100 * row[k][1] / row[k][0]:9.1f}" for k in keys)
              + f"{tokens / n:9.0f}{events / n:8.1f}{100 * never / n:8.1f}")
    lengths.sort()
    third = len(lengths) // 3
    print("accuracy by length third:", [round(100 * sum(r for _, r in lengths[k * third:(k + 1) * third]) / third, 1) for k in range(3)])
    deciles = len(lengths) // 10
    print("length deciles:", [lengths[k * deciles][0] for k in range(10)])


if __name__ == "__main__":
    main()
