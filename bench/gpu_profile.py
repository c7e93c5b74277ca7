#!/usr/bin/env python3
"""Where a step's time goes, kernel by kernel, from what Nsight Compute saw of `dts bench --gpu --one-step`.

    ncu --profile-from-start off --clock-control none --metrics gpu__time_duration.sum,dram__bytes_read.sum --csv \\
        dts bench --gpu --one-step > ncu.csv
    python3 bench/gpu_profile.py ncu.csv

Prints a table: microseconds of each kind of kernel in one step of 48 branches, for each length, and what it read.
"""
import csv
import io
import sys
from pathlib import Path

OURS = {
    "embed_kernel": "embedding, angles", "turns_kernel": "embedding, angles", "rope_kernel": "RoPE and the KV write",
    "attention_kernel": "attention", "merge_kernel": "attention's parts put together",
    "gated_silu_kernel": "SwiGLU", "add_and_norm_kernel": "norms, with what they add",
    "scan_kernel": "statistics and draws", "predict_kernel": "statistics and draws",
}
# A product is told by the kernel before it; the last one of a step is the head.
PRODUCTS = {"merge_kernel": "attention's output", "gated_silu_kernel": "down"}
LENGTHS = (256, 1024, 4096)  # as the command measures them


def kernels(path):
    """[(name, seconds, bytes read)], in the order in which they ran."""
    lines = [line for line in Path(path).read_text().splitlines() if line.startswith('"')]
    found = {}
    for row in csv.DictReader(io.StringIO("\n".join(lines))):
        unit = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "second": 1, "byte": 1, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9}
        value = float(row["Metric Value"].replace(",", "")) * unit[row["Metric Unit"]]
        entry = found.setdefault(int(row["ID"]), [row["Kernel Name"], 0.0, 0.0])
        entry[1 if row["Metric Name"].startswith("gpu__time") else 2] = value
    return [found[key] for key in sorted(found)]


def own_name(name):
    return next((own for own in OURS if own in name), None)


def named(step):
    """(what, seconds, bytes) of one step's kernels."""
    last_product = max(i for i, (name, _, _) in enumerate(step) if own_name(name) is None)
    before, norms = None, 0
    for i, (name, seconds, read) in enumerate(step):
        own = own_name(name)
        if own:
            norms += own == "add_and_norm_kernel"
            before = own
            yield OURS[own], seconds, read
        elif i == last_product:
            yield "head", seconds, read
        else:
            yield PRODUCTS.get(before, "Q, K and V" if norms % 2 == 1 else "gate and up"), seconds, read


def main():
    steps = []
    for kernel in kernels(sys.argv[1]):
        if "embed_kernel" in kernel[0]:
            steps.append([])
        steps[-1].append(kernel)
    totals = []
    for step in steps:
        sums = {}
        for what, seconds, read in named(step):
            entry = sums.setdefault(what, [0.0, 0.0])
            entry[0] += seconds
            entry[1] += read
        totals.append(sums)
    print("| what | " + " | ".join(f"{n:,} tokens, µs" for n in LENGTHS) + " | read at 4,096, GB | TB/s |")
    print("|---|" + "---:|" * (len(LENGTHS) + 2))
    for what in sorted(totals[0], key=lambda key: -totals[0][key][0]):
        times = " | ".join(f"{sums[what][0] * 1e6:,.0f}" for sums in totals)
        seconds, read = totals[-1][what]
        print(f"| {what} | {times} | {read / 1e9:.2f} | {read / seconds / 1e12:.2f} |")
    print("| all | " + " | ".join(f"{sum(s for s, _ in sums.values()) * 1e6:,.0f}" for sums in totals) + " | "
          + f"{sum(r for _, r in totals[-1].values()) / 1e9:.2f} | |")
    print("\n" + ", ".join(f"{len(step)} kernels" for step in steps))


if __name__ == "__main__":
    main()
