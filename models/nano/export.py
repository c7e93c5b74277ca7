"""Writes a trained model as GGUF (version 3), and reference logits to check a reader of it against.

    python3 export.py MODEL.pt OUT.gguf [--type f32|f16|q8_0] [--reference REF.json]
"""
import argparse
import json
import struct

import numpy as np
import torch

import generate
from model import load
from vocab import CHAT_TEMPLATE, END, PAD, SPECIALS, THINK, THINK_END, TOKENS, encode, prompt_text, token_texts

ALIGNMENT = 32
U32, I32, F32, BOOL, STRING, ARRAY = 4, 5, 6, 7, 8, 9            # GGUF value types
NORMAL, CONTROL, USER_DEFINED, UNUSED = 1, 3, 4, 5               # token types
TENSOR_TYPE = {"f32": 0, "f16": 1, "q8_0": 8}                    # ggml's numbers
FILE_TYPE = {"f32": 0, "f16": 1, "q8_0": 7}

DESCRIPTION = (
    "A tiny reasoning model trained from nothing on generated problems of three kinds: comparisons (who has how many), "
    "orders of operation, and mazes. It thinks in <think>...</think> and answers in \\boxed{}. It knows nothing else."
)


def string(text):
    data = text if isinstance(text, bytes) else text.encode()
    return struct.pack("<Q", len(data)) + data


def value(kind, v):
    if kind == STRING:
        return string(v)
    return struct.pack({U32: "<I", I32: "<i", F32: "<f", BOOL: "<?"}[kind], v)


def pair(key, kind, v, of=None):
    """One key and its value; `of` is the element type of an array."""
    out = string(key) + struct.pack("<I", kind)
    if kind == ARRAY:
        return out + struct.pack("<IQ", of, len(v)) + b"".join(value(of, x) for x in v)
    return out + value(kind, v)


def escaped(token):
    """A token's bytes as the rwkv tokenizer's vocabulary writes them."""
    out = ""
    for byte in token:
        if byte == 0x5C:
            out += "\\\\"
        elif byte == 0x0A:
            out += "\\n"
        elif 0x20 <= byte < 0x7F:
            out += chr(byte)
        else:
            out += f"\\x{byte:02x}"
    return out


def token_types():
    special = {PAD: CONTROL, SPECIALS.index("<|im_start|>"): CONTROL, END: CONTROL,
               # Text a reader wants to see, but never to be split: user-defined, not control.
               THINK: USER_DEFINED, THINK_END: USER_DEFINED}
    return [special.get(i, NORMAL) if i < len(TOKENS) else UNUSED for i in range(len(token_texts()))]


def metadata(c, kind):
    yield pair("general.architecture", STRING, "qwen3")
    yield pair("general.type", STRING, "model")
    yield pair("general.name", STRING, "dts-nano")
    yield pair("general.version", STRING, "1")
    yield pair("general.description", STRING, DESCRIPTION)
    yield pair("general.license", STRING, "mit")
    yield pair("general.languages", ARRAY, ["en"], STRING)
    yield pair("general.tags", ARRAY, ["reasoning", "decoding tree sketching", "synthetic data"], STRING)
    yield pair("general.file_type", U32, FILE_TYPE[kind])
    if kind == "q8_0":
        yield pair("general.quantization_version", U32, 2)
    # Nothing is cut off: the long tail at a decision is part of the model.
    yield pair("general.sampling.temp", F32, 0.6)
    yield pair("general.sampling.top_k", I32, 0)
    yield pair("general.sampling.top_p", F32, 1.0)
    yield pair("general.sampling.min_p", F32, 0.0)
    yield pair("qwen3.vocab_size", U32, c.vocab)
    yield pair("qwen3.context_length", U32, c.context)
    yield pair("qwen3.embedding_length", U32, c.width)
    yield pair("qwen3.block_count", U32, c.layers)
    yield pair("qwen3.feed_forward_length", U32, c.hidden)
    yield pair("qwen3.attention.head_count", U32, c.heads)
    yield pair("qwen3.attention.head_count_kv", U32, c.kv_heads)
    yield pair("qwen3.attention.key_length", U32, c.head_dim)
    yield pair("qwen3.attention.value_length", U32, c.head_dim)
    yield pair("qwen3.attention.layer_norm_rms_epsilon", F32, c.eps)
    yield pair("qwen3.rope.freq_base", F32, c.rope_base)
    yield pair("tokenizer.ggml.model", STRING, "rwkv")
    yield pair("tokenizer.ggml.tokens", ARRAY, [escaped(t) for t in token_texts()], STRING)
    yield pair("tokenizer.ggml.token_type", ARRAY, token_types(), I32)
    yield pair("tokenizer.ggml.eos_token_id", U32, END)
    yield pair("tokenizer.ggml.eot_token_id", U32, END)
    yield pair("tokenizer.ggml.padding_token_id", U32, PAD)
    yield pair("tokenizer.ggml.add_bos_token", BOOL, False)
    yield pair("tokenizer.ggml.add_eos_token", BOOL, False)
    yield pair("tokenizer.chat_template", STRING, CHAT_TEMPLATE)


def tensors(model):
    """(GGUF name, numpy array), matrices as [rows, columns]."""
    array = lambda t: t.detach().float().cpu().numpy()
    yield "token_embd.weight", array(model.embed.weight)   # also the output matrix: there is no output.weight
    yield "output_norm.weight", array(model.norm.weight)
    names = {"attn_norm": "attn_norm", "attn_q": "q", "attn_k": "k", "attn_v": "v", "attn_output": "o", "attn_q_norm": "q_norm",
             "attn_k_norm": "k_norm", "ffn_norm": "ffn_norm", "ffn_gate": "gate", "ffn_up": "up", "ffn_down": "down"}
    for i, layer in enumerate(model.layers):
        for gguf, ours in names.items():
            yield f"blk.{i}.{gguf}.weight", array(getattr(layer, ours).weight)


def packed(data, kind):
    """A tensor's bytes. Vectors (norms) stay in single precision."""
    if data.ndim == 1 or kind == "f32":
        return "f32", data.astype("<f4").tobytes()
    if kind == "f16":
        return "f16", data.astype("<f2").tobytes()
    blocks = data.reshape(-1, 32)
    scale = (np.abs(blocks).max(1, keepdims=True) / 127).astype("<f2")
    inverse = np.where(scale > 0, 1 / np.maximum(scale.astype(np.float32), 1e-20), 0)
    quants = np.clip(np.rint(blocks * inverse), -127, 127).astype(np.int8)
    return "q8_0", np.concatenate([scale.view(np.uint8), quants.view(np.uint8)], 1).tobytes()


def write(model, path, kind):
    pairs = list(metadata(model.c, kind))
    infos, blobs, offset = [], [], 0
    for name, data in tensors(model):
        type_name, blob = packed(data, kind)
        shape = data.shape[::-1]   # GGUF lists the fastest dimension first
        infos.append(string(name) + struct.pack("<I", len(shape)) + struct.pack(f"<{len(shape)}Q", *shape)
                     + struct.pack("<IQ", TENSOR_TYPE[type_name], offset))
        blob += b"\0" * (-len(blob) % ALIGNMENT)
        blobs.append(blob)
        offset += len(blob)
    head = struct.pack("<4sIQQ", b"GGUF", 3, len(infos), len(pairs)) + b"".join(pairs) + b"".join(infos)
    head += b"\0" * (-len(head) % ALIGNMENT)
    with open(path, "wb") as f:
        f.write(head)
        for blob in blobs:
            f.write(blob)
    return len(head) + offset


@torch.no_grad()
def reference(model, path):
    """For a few held-out questions: the prompt's tokens, the greedy continuation and the logits before its last token."""
    out = []
    for p in generate.validation()[::32]:
        ids = encode(prompt_text(p.question))
        prompt = len(ids)
        for _ in range(24):
            logits = model.logits(model.hidden(torch.tensor([ids])))[0, -1]
            ids.append(int(logits.argmax()))
        out.append({"text": prompt_text(p.question), "prompt_tokens": prompt, "ids": ids, "logits": [round(x, 5) for x in logits.tolist()]})
    with open(path, "w") as f:
        json.dump(out, f)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("model")
    p.add_argument("out")
    p.add_argument("--type", default="f16", choices=list(TENSOR_TYPE))
    p.add_argument("--reference")
    a = p.parse_args()
    model = load(a.model)
    size = write(model, a.out, a.type)
    print(f"{a.out}: {size / 2 ** 20:.2f} MiB, {a.type}")
    if a.reference:
        reference(model, a.reference)


if __name__ == "__main__":
    main()
