"""The vocabulary and the tokenizer of dts-nano.

GGUF's `rwkv` tokenizer is a greedy longest match over a plain list of tokens: no merges, no
scores. All 256 bytes are tokens, so every text can be written and read back; words of the
generator's English and numbers of up to two digits are tokens of their own, so that a decision
("add" or "subtract", room 45 or room 83) is exactly one token.
"""
SPECIALS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<think>", "</think>"]
PAD, START, END, THINK, THINK_END = range(5)

NAMES = """Ada Ali Ana Ann Bea Ben Carl Cara Dan Dora Ella Emil Eva Finn Gina Hugo Ida Ivan Jack Jane Jon Kara
Kim Leo Lily Lina Luke Mara Max Maya Mia Nina Noah Nora Olga Omar Otto Paul Pia Rosa Sam Sara Tess Theo Tom Uma Vera
Zoe""".split()

ITEMS = """apples balls beads books boxes bricks buttons cakes cards coins cups dolls eggs flags flowers hats keys kites
lamps marbles nuts pencils pens pins plates posters ribbons rings shells spoons stamps stickers stones tickets toys
tulips""".split()

# Words that may open a clause without changing what it says. They are the long tail of the
# distribution at a decision: about a hundred of them, each rare.
ADVERBS = """actually admittedly allegedly amazingly apparently arguably basically boldly briefly broadly calmly
candidly carefully certainly cheerfully clearly commonly conceivably correctly curiously currently decidedly
definitely doubtless easily effectively equally essentially evidently exactly expectedly fairly finally firmly
formally fortunately frankly generally gladly happily hardly honestly hopefully ideally importantly indeed
initially instantly ironically justly kindly largely likely literally logically luckily mainly maybe merely
modestly mostly namely naturally neatly nicely normally notably obviously oddly officially openly overall
patiently perhaps personally plainly possibly precisely presumably probably promptly properly quickly quietly
rarely readily really roughly sadly safely secretly seemingly seriously sharply simply slowly smoothly somehow
specifically supposedly surely""".split()

# Every word the generator can write, so that a test can tell when a template leaves the vocabulary.
WORDS = """
A Add All Check Did Enough Exactly Find For From Go Hmm How Look My Next No Now Please Read Rooms So Solve
Start Strange Sum The Then This Thus Wait What Work Yes First
a again add all am and answer are as at be bracket but by check divide do does door doors down end enter every
fewer finish first fits for fourth from get go goes guess has have how I in is it just keep know leads left
look made many maze minus more multiply next no not now number of on once one only or other out plus problem
put reach read room rooms second see start step stop subtract sum sure than that the them then there they third
three time times tiny to together total up unknown value way what where with within you your
kinds solve small cannot walk route
boxed final reason
""".split()


def _pieces():
    yield from SPECIALS
    for byte in range(256):
        yield bytes([byte])
    for n in range(100):
        yield f" {n}"
    for n in range(100):
        yield f"{n:02d}"
    for sign in (" +", " -", " x", " /", " =", " (", "\\boxed{", " \\boxed{", "user", "assistant"):
        yield sign
    seen = set()
    words = NAMES + ITEMS + WORDS + ADVERBS
    for word in words:
        for form in (" " + word, word[0].upper() + word[1:]):
            if len(form) > 1 and form not in seen:
                seen.add(form)
                yield form


TOKENS = [p if isinstance(p, bytes) else p.encode() for p in _pieces()]
ID = {}
for _i, _t in enumerate(TOKENS):
    ID.setdefault(_t, _i)
# A one-letter word such as " I" differs from the byte "I", so no two tokens may ever be equal.
assert len(ID) == len(TOKENS), "duplicate token"

# The lengths worth trying, longest first, by the two bytes a token begins with: what makes `encode` fast enough to
# write a corpus with.
_LENGTHS = {}
for _t in TOKENS:
    _LENGTHS.setdefault(_t[:2], set()).add(len(_t))
_LENGTHS = {k: sorted(v, reverse=True) for k, v in _LENGTHS.items()}

# Rows are padded to a multiple of 32, for quantised formats and for the GPU.
SIZE = (len(TOKENS) + 31) // 32 * 32


def token_texts():
    """All SIZE tokens as bytes, the padding rows named."""
    return TOKENS + [f"<|unused_{i}|>".encode() for i in range(SIZE - len(TOKENS))]


def encode(text):
    """Greedy longest match, exactly as llama.cpp's rwkv tokenizer does it."""
    data = text.encode()
    out, at = [], 0
    while at < len(data):
        for length in _LENGTHS.get(data[at:at + 2], ()):
            token = ID.get(data[at:at + length])
            if token is not None:
                out.append(token)
                at += length
                break
        else:
            out.append(ID[data[at:at + 1]])
            at += 1
    return out


def decode(ids):
    return b"".join(TOKENS[i] for i in ids).decode(errors="replace")


_cache = {}


def encode_cached(text):
    """`encode` for the generator's fragments, most of which come again."""
    ids = _cache.get(text)
    if ids is None:
        ids = encode(text)
        if len(_cache) < 200000:
            _cache[text] = ids
    return ids


def one(text):
    """The id of a text that must be a single token."""
    return ID[text.encode()]


CHAT_TEMPLATE = (
    "{#- dts-nano answers one question at a time: the last one asked. -#}"
    "{%- set ns = namespace(question='') -%}"
    "{%- for message in messages -%}"
    "{%- if message.role == 'user' -%}{%- set ns.question = message.content -%}{%- endif -%}"
    "{%- endfor -%}"
    "{{- '<|im_start|>user\\n' + ns.question + '<|im_end|>\\n' -}}"
    "{%- if add_generation_prompt -%}{{- '<|im_start|>assistant\\n' -}}{%- endif -%}"
)


def prompt_text(question):
    """What the chat template makes of one question."""
    return f"<|im_start|>user\n{question}<|im_end|>\n<|im_start|>assistant\n"
