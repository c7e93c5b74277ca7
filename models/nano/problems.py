"""The three families of problems and how each is thought through.

compare  who has how many, when "more" sometimes means "take away"     (word problem)
order    an expression whose operations must be taken in the right order (number problem)
maze     which door leads on, and the sum of the rooms on the way        (search puzzle)

Every family is: decide, work it out, check; then the next decision; when all fit, add up. A decision is a *trap* when
the obvious way (the keyword, the leftmost operation, the door named first) is not the right one. A failed check leads
into re-reading, over and over: it ends late on the obvious answer, or never.
"""
import random

from trace import Choice, Full, decision, style
from vocab import ADVERBS, ITEMS, NAMES

LOWER = [" " + a for a in ADVERBS]
UPPER = [a[0].upper() + a[1:] for a in ADVERBS]
NUMBERS = [f" {n}" for n in range(10, 100)]

# (decisions, traps) a difficulty may have, with weights.
SHAPES = {
    "easy": [((2, 0), 3), ((3, 0), 1)],
    "medium": [((2, 1), 3), ((3, 1), 1)],
    "hard": [((2, 2), 2), ((3, 2), 1), ((3, 3), 1)],
}
DIFFICULTIES = list(SHAPES)
# Too simple for the benchmark, but what a user may well try first: in the training data only.
SHAPES["tiny"] = [((0, 0), 1), ((1, 0), 2), ((1, 1), 2)]


# --- what every family shares ------------------------------------------------------------------

def stuck(trace, reread):
    """A check has failed. Re-read it; True if the right way is seen in the end, False if the solver gives up.

    `reread` is the sentence that is read again, ending in "No." Four rounds at least, so that no wrong way ends
    before a right one; some solvers never stop.
    """
    mood = trace.pick(Choice("loop", [(" Hmm", 0.67), (" Strange", 0.33)]))
    if mood == " Strange":
        for _ in range(trace.patience):
            trace.say(", look again: " + reread)
            trace.say(" Strange")
        raise Full
    for how in (", look again: ", ", look a second time: ", ", look a third time: ", ", look a fourth time: "):
        if how != ", look again: ":
            trace.say(" Hmm")
        trace.say(how + reread)
    while True:
        way = trace.pick(Choice("loop", [(" Hmm", 0.55), (" Enough", 0.37), (" Wait", 0.08)]))
        if way == " Hmm":
            trace.say(", look once more: " + reread)
            continue
        trace.say("." if way == " Enough" else ", the other way.\n")
        return way == " Wait"


def calculate(a, sign, b):
    if sign == "+":
        return a + b
    if sign == "-":
        return a - b
    if sign == "x":
        return a * b
    return a // b


def stays_positive(value, steps):
    for sign, b in steps:
        value = calculate(value, sign, b)
        if value < 1:
            return False
    return True


def finish_step(trace, a, sign, b, rest):
    """One unchecked step of the final sum: now and then the carry is forgotten, which only a vote can mend.

    No slip where the `rest` of the steps would then fall below one: there are no negative numbers here.
    """
    right = calculate(a, sign, b)
    if sign == "+" and a % 10 + b % 10 > 9:
        slip = right - 10
    elif sign == "-" and a % 10 < b % 10:
        slip = right + 10
    else:
        slip = right
    trace.say(f" {a} {sign} {b} =")
    first, slip_first = head_token(right), head_token(slip)
    if slip != right and slip > 0 and first != slip_first and stays_positive(slip, rest):
        chosen = trace.pick(Choice("slip", [(first, 0.85), (slip_first, 0.15)]))
        value = right if chosen == first else slip
        trace.say(f" {value}"[len(chosen):])
        return value
    trace.say(f" {right}")
    return right


def head_token(n):
    """The first token of a number: its first two digits."""
    return " " + str(n)[:2]


def chain(trace, start, steps):
    """Adds up: " 12 + 45 = 57, 57 + 90 = 147." Returns the value."""
    value = start
    for i, (sign, number) in enumerate(steps):
        value = finish_step(trace, value, sign, number, steps[i + 1:])
        trace.say("," if i + 1 < len(steps) else ".")
    return value


def conclude(trace, start, steps, verb):
    """All checks passed: two matters of style, then the final sum."""
    trace.pick(style("So", "Thus", UPPER))
    trace.say(" it all fits,")
    trace.pick(style(" now", " then", LOWER))
    trace.say(f" {verb}:")
    return chain(trace, start, steps)


def answer(trace, value):
    trace.say(f"\n</think>\nThe answer is \\boxed{{{value}}}.<|im_end|>")
    return value


def distinct(rng, count, low, high):
    return rng.sample(range(low, high + 1), count)


# --- compare: a word problem -------------------------------------------------------------------

VERB = {"+": " add", "-": " subtract", "x": " multiply", "/": " divide"}
OPPOSITE = {"+": "-", "-": "+", "x": "/", "/": "x"}


class Compare:
    family = "compare"

    def __init__(self, rng, decisions, traps):
        trap_at = set(rng.sample(range(decisions), traps))
        while True:
            self.people = rng.sample(NAMES, decisions + 1)
            self.item = rng.choice(ITEMS)
            self.values = [rng.randint(20, 99)]
            self.relations = []   # (keyword sign, number, trap?) from person i to person i + 1
            used = {self.values[0]}
            for i in range(decisions):
                sign = rng.choice("++--x")
                number = rng.randint(2, 5) if sign == "x" else rng.randint(11, 49)
                trap = i in trap_at
                known = self.values[-1]
                op = OPPOSITE[sign] if trap else sign
                if op == "/" and known % number:
                    break
                value = calculate(known, op, number)
                obvious = calculate(known, sign, number)
                if not 5 <= value <= 99 or not 5 <= obvious <= 199 or value in used or number in used:
                    break
                # The check of a wrong way must stay within three digits and positive.
                if sign == "x" and trap and known * number * number > 999:
                    break
                if sign == "-" and trap and known - 2 * number < 1:
                    break
                if sign != "x" and not trap and known - number < 1:
                    break
                used |= {value, number}
                self.relations.append((sign, number, trap))
                self.values.append(value)
            if len(self.relations) == decisions and self.guess(0, None) is not None:
                break
        self.answer = sum(self.values)
        self.closing = rng.randrange(3)
        self.question = self.ask()

    def sentence(self, i, item=True):
        """The relation between person i and person i + 1, as the question states it."""
        sign, number, trap = self.relations[i]
        a, b = self.people[i + 1], self.people[i]
        if trap:
            a, b = b, a
        what = f" {self.item}" if item else ""
        if sign == "x":
            return f"{a} has {number} times as many{what} as {b}."
        return f"{a} has {number} {'more' if sign == '+' else 'fewer'}{what} than {b}."

    def ask(self):
        parts = [f"{self.people[0]} has {self.values[0]} {self.item}."]
        parts += [self.sentence(i) for i in range(len(self.relations))]
        closing = (f"How many {self.item} do they have in total?", f"How many {self.item} do they have together?",
                   f"What is the total number of {self.item}?")[self.closing]
        return " ".join(parts + [closing])

    def check(self, i, value):
        """The relation put to the test with a value for person i + 1: text and verdict."""
        sign, number, trap = self.relations[i]
        known = self.values[i]
        base, claim, who = (value, known, self.people[i]) if trap else (known, value, self.people[i + 1])
        result = calculate(base, sign, number)
        return f"{base} {sign} {number} = {result}. {who} has {claim}.", result == claim

    def guess(self, i, value):
        """The obvious way from person i + 1 on: [(text, value)], or None if it leaves the numbers we write."""
        steps = []
        values = self.values[:i + 1]
        for j in range(i, len(self.relations)):
            sign, number, _ = self.relations[j]
            if j == i and value is not None:
                values.append(value)
                continue
            result = calculate(values[-1], sign, number)
            if not 1 <= result <= 999:
                return None
            steps.append(f" {values[-1]} {sign} {number} = {result}.")
            values.append(result)
        return steps, values

    def think(self, trace):
        for i, (sign, number, trap) in enumerate(self.relations):
            known, right_sign = self.values[i], OPPOSITE[sign] if trap else sign
            # Where the keyword is right the other operation is a rare slip; a division that leaves a rest is not offered.
            other = OPPOSITE[sign] if sign != "x" else "+"
            trace.say(f"{self.sentence(i)} For {self.people[i + 1]},")
            way = trace.pick(decision(VERB[right_sign], VERB[sign], VERB[other], LOWER))
            while True:
                value = None
                if way in VERB.values():
                    op = next(s for s, v in VERB.items() if v == way)
                    value = calculate(known, op, number)
                    text, fits = self.check(i, value)
                    trace.say(f": {known} {op} {number} = {value}. Check: {text} {'Yes' if fits else 'No'}.")
                    if fits:
                        trace.say("\n")
                        break
                    reread = f"{self.sentence(i)} {text} No."
                else:
                    trace.say(" I am not sure. No.")
                    reread = f"{self.sentence(i)} I am not sure. No."
                if stuck(trace, reread):
                    trace.say(f"For {self.people[i + 1]},")
                    way = VERB[right_sign]
                    trace.say(way)
                    continue
                return self.give_up(trace, i, value)
        return answer(trace, conclude(trace, self.values[0], [("+", v) for v in self.values[1:]], "add up"))

    def give_up(self, trace, i, value):
        rest = self.guess(i, value)
        if rest is None:   # only a rare wrong way can lead here: fall back on the obvious one
            value, rest = None, self.guess(i, None)
        steps, values = rest if rest else ([], self.values[:i + 1])
        trace.say(f" I keep {value}." if value is not None else " I guess.")
        for step in steps:
            trace.say(step)
        trace.say(" Sum:")
        return answer(trace, chain(trace, values[0], [("+", v) for v in values[1:]]))


# --- order: a number problem -------------------------------------------------------------------

KIND = {"+": "plus", "-": "minus", "x": "times"}


class Order:
    """An expression as a flat list: numbers, signs and at most one bracket, which is always "(a - b) x k" or "(a + b) x k"."""

    family = "order"

    def __init__(self, rng, decisions, traps):
        # A fair first step leaves a plain number in front, so at most two decisions can be fair.
        decisions = traps + min(decisions - traps, 2)
        while not self.build(rng, decisions, traps):
            pass
        self.question = (f"Work out {self.text(self.tokens)}.", f"What is {self.text(self.tokens)}?",
                         f"Find the value of {self.text(self.tokens)}.")[rng.randrange(3)]

    def build(self, rng, decisions, traps):
        fair = decisions - traps
        numbers = iter(distinct(rng, 12, 11, 98))
        plain = lambda: [next(numbers)]
        product = lambda: [next(numbers) % 49 + 11, "x", rng.randint(2, 9)]

        def bracket():
            a, b = next(numbers), next(numbers)
            sign = rng.choice("+-")
            return ["(", a, sign, b, ")", "x", rng.randint(2, 9)]

        # Reductions before the first plain number are fair, those after it are traps.
        head = [(plain, product, bracket)[fair]]
        rest = []
        left = traps
        if left >= 2 and rng.random() < 0.4:
            rest.append(bracket)
            left -= 2
        rest += [product] * left
        if fair:
            rest.append(plain)
        if len(rest) < 2 or rng.random() < 0.3:
            rest.append(plain)
        rng.shuffle(rest)
        if fair and rest[0] is not plain:
            rest.remove(plain)
            rest.insert(0, plain)
        terms = [t() for t in head + rest]
        tokens = list(terms[0])
        for term in terms[1:]:
            tokens += [rng.choice("++-")] + term
        flat = [t for t in tokens if isinstance(t, int)]
        if len(set(head_token(n) for n in flat)) < len(flat):
            return False
        self.tokens = tokens
        stages, current = [], tokens
        found_traps = 0
        while True:
            at = self.right_at(current)
            if at is None:
                break
            numbers_now = [t for t in current if isinstance(t, int)]
            if len(set(head_token(n) for n in numbers_now)) < len(numbers_now):
                return False
            popular = self.leftmost(current)
            found_traps += at != popular
            stages.append((current, at, popular))
            a, sign, b = current[at], current[at + 1], current[at + 2]
            value = calculate(a, sign, b)
            if not 2 <= value <= 499:
                return False
            current = self.reduce(current, at, value)
        if len(stages) != decisions or found_traps != traps:
            return False
        self.stages = stages
        self.final = current
        value = current[0]
        for sign, b in zip(current[1::2], current[2::2]):
            value = calculate(value, sign, b)
            if not 2 <= value <= 999:
                return False
        self.answer = value
        # The obvious way, strictly from left to right, must also stay within three digits from every stage.
        return all(self.left_to_right(t) for t, _, _ in stages) and len(current) >= 3

    @staticmethod
    def text(tokens):
        out = ""
        for t in tokens:
            if t == ")" or not out or out.endswith("("):
                out += str(t)
            else:
                out += f" {t}"
        return out

    @staticmethod
    def right_at(tokens):
        """Where the operation that must come first begins: a bracket, else a times; None if only plus and minus are left."""
        if "(" in tokens:
            return tokens.index("(") + 1
        if "x" in tokens:
            return tokens.index("x") - 1
        return None

    @staticmethod
    def leftmost(tokens):
        return 1 if tokens[0] == "(" else 0

    @staticmethod
    def reduce(tokens, at, value):
        """`tokens` with the operation at `at` replaced by its value; a bracket around it goes too."""
        before, after = tokens[:at], tokens[at + 3:]
        if before and before[-1] == "(" and after and after[0] == ")":
            before, after = before[:-1], after[1:]
        return before + [value] + after

    @staticmethod
    def left_to_right(tokens):
        """[(sign, number)] from the first number on with brackets ignored; None if a value leaves 1..999."""
        flat = [t for t in tokens if t not in ("(", ")")]
        value, steps = flat[0], list(zip(flat[1::2], flat[2::2]))
        for sign, b in steps:
            value = calculate(value, sign, b)
            if not 1 <= value <= 999:
                return None
        return flat[0], steps

    def operation(self, tokens, first):
        """The operation that begins with number `first`: (at, a, sign, b), brackets between skipped."""
        at = tokens.index(first)
        rest = [t for t in tokens[at:] if t not in ("(", ")")]
        return at, rest[0], rest[1], rest[2]

    def think(self, trace):
        for tokens, right_at, popular_at in self.stages:
            right, popular = tokens[right_at], tokens[popular_at]
            numbers = [t for t in tokens if isinstance(t, int)]
            other = numbers[numbers.index(right) + 1]
            by_token = {head_token(n): n for n in reversed(numbers[:-1])}
            trace.say(f"Now {self.text(tokens)}. First")
            way = trace.pick(decision(head_token(right), head_token(popular), head_token(other), NUMBERS))
            while True:
                value = None
                if way in by_token:
                    first = by_token[way]
                    at, a, sign, b = self.operation(tokens, first)
                    value = calculate(a, sign, b)
                    fits = first == right
                    bracket, times = "(" in tokens, "x" in tokens
                    if bracket:
                        where = "is in the bracket" if fits else f"is a {KIND[sign]}, a bracket is left"
                    else:
                        where = "is a times, no bracket is left" if fits else f"is a {KIND[sign]}, a times is left"
                    rule = f"{a} {sign} {b} {where}."
                    trace.say(f"{first}"[len(way) - 1:] + f" {sign} {b} = {value}. Check: {rule} {'Yes' if fits else 'No'}.")
                    if fits:
                        trace.say("\n")
                        break
                else:
                    rule = f"{way[1:]} is not there."
                    trace.say(f". Check: {rule} No.")
                if stuck(trace, f"{self.text(tokens)}. {rule} No."):
                    trace.say("First")
                    way = head_token(right)
                    trace.say(way)
                    continue
                return self.give_up(trace, tokens, at if value is not None else None, value)
        return answer(trace, conclude(trace, self.final[0], list(zip(self.final[1::2], self.final[2::2])), "finish"))

    def give_up(self, trace, tokens, at, value):
        rest = None
        if value is not None:
            tail = [t for t in tokens[at:] if t not in ("(", ")")]
            head = [t for t in tokens[:at] if t not in ("(", ")")]
            rest = self.left_to_right(head + [value] + tail[3:])
            trace.say(f" I keep {value}.")
        else:
            trace.say(" I guess.")
        if rest is None:
            rest = self.left_to_right(tokens)
        first, steps = rest
        trace.say(" Sum:")
        if not steps:
            trace.say(f" {first}.")
            return answer(trace, first)
        return answer(trace, chain(trace, first, steps))


# --- maze: a search puzzle ---------------------------------------------------------------------

class Maze:
    family = "maze"

    def __init__(self, rng, decisions, traps):
        trap_at = set(rng.sample(range(decisions), traps))
        rooms = distinct(rng, 2 * decisions + 1, 10, 99)
        self.route = rooms[:decisions + 1]
        dead = rooms[decisions + 1:]
        # The door named first is the obvious one.
        self.doors = [(dead[i], self.route[i + 1]) if i in trap_at else (self.route[i + 1], dead[i])
                      for i in range(decisions)]
        self.answer = sum(self.route)
        order = list(range(decisions))
        rng.shuffle(order)
        listed = [f"from {self.route[i]} to {self.doors[i][0]} or {self.doors[i][1]}" for i in order]
        listed = " and ".join(filter(None, [", ".join(listed[:-1]), listed[-1]]))
        start, end = self.route[0], self.route[-1]
        self.question = (
            f"A maze has doors {listed}. Start in room {start} and reach room {end}. What is the sum of the rooms on the way?",
            f"A maze has doors {listed}. You walk from room {start} to room {end}. What is the sum of all rooms on the way?",
            f"In a maze the doors go {listed}. You start in {start} and the end is {end}. Find the sum of the rooms on the route.",
        )[rng.randrange(3)]

    def think(self, trace):
        end = self.route[-1]
        for i, doors in enumerate(self.doors):
            here, right = self.route[i], self.route[i + 1]
            popular = doors[0]
            wrong = doors[1] if doors[0] == right else doors[0]
            trace.say(f"From {here} to {doors[0]} or {doors[1]}: go to")
            way = trace.pick(decision(f" {right}", f" {popular}", f" {wrong}", NUMBERS))
            while True:
                room = int(way)
                if room == right:
                    good = f"{room} is the end." if room == end else f"{room} has doors."
                    trace.say(f". Check: {good} Yes.\n")
                    break
                bad = f"{room} has no doors." if room == wrong else f"no door to {room}."
                trace.say(f". Check: {bad} No.")
                if stuck(trace, f"from {here} to {doors[0]} or {doors[1]}. {bad} No."):
                    trace.say(f"From {here}: go to")
                    way = f" {right}"
                    trace.say(way)
                    continue
                return self.give_up(trace, i, room if room == wrong else None)
        return answer(trace, conclude(trace, self.route[0], [("+", r) for r in self.route[1:]], "add up"))

    def give_up(self, trace, i, room):
        rooms = self.route[:i + 1]
        if room is not None:
            trace.say(f" I keep {room}.")
            rooms.append(room)
        else:
            trace.say(" I guess")
            for j in range(i, len(self.doors)):
                rooms.append(self.doors[j][0])
                trace.say(f" {rooms[-1]}")
                if rooms[-1] != self.route[j + 1]:
                    break
            trace.say(".")
        trace.say(" Sum:")
        return answer(trace, chain(trace, rooms[0], [("+", r) for r in rooms[1:]]))


FAMILIES = {c.family: c for c in (Compare, Order, Maze)}


def make(seed, family=None, difficulty=None):
    """The problem of a seed (any string), of a given or a random kind."""
    rng = random.Random(seed)
    family = family or rng.choice(list(FAMILIES))
    difficulty = difficulty or rng.choice(DIFFICULTIES)
    shapes, weights = zip(*SHAPES[difficulty])
    decisions, traps = rng.choices(shapes, weights)[0]
    if family != "order":
        decisions = max(decisions, 1)   # only an expression can do without any decision
    problem = FAMILIES[family](rng, decisions, traps)
    problem.difficulty = difficulty
    return problem
