#!/usr/bin/env python3
"""Makes the pictures of docs/performance.md from what `dts bench --gpu --json` printed.

    dts bench --gpu --json > gpu.json
    python3 bench/authors_loop.py > authors.json
    python3 bench/gpu_report.py gpu.json docs/images authors.json

Writes step_by_length.svg and step_by_branches.svg, and prints the table of the run, and what the authors' loop takes
beside it where that was measured, too. Plain SVG, no packages.
"""
import json
import sys
from pathlib import Path

WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 56, 150, 28, 44
COLOURS = ["#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b"]


def chart(title, x_title, series):
    """series: [(name, [(x, y in ms)], dashed)]; x is spread evenly over the values there are."""
    places = sorted({x for _, points, _ in series for x, _ in points})
    most = max(y for _, points, _ in series for _, y in points)
    step = next(s for s in (0.5, 1, 2, 5, 10, 20, 50, 100) if most / s <= 8)
    top = step * (int(most / step) + 1)

    def at(x, y):
        share = places.index(x) / max(1, len(places) - 1)
        return LEFT + share * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - y / top * (HEIGHT - TOP - BOTTOM)

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="18" font-size="14">{title}</text>',
    ]
    y = 0.0
    while y <= top + 1e-9:
        _, height = at(places[0], y)
        out.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{height:.1f}" y2="{height:.1f}" stroke="#ddd"/>')
        out.append(f'<text x="{LEFT - 6}" y="{height + 4:.1f}" text-anchor="end">{y:g}</text>')
        y += step
    for x in places:
        across, _ = at(x, 0)
        out.append(f'<text x="{across:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{x:,}</text>')
    middle = LEFT + (WIDTH - LEFT - RIGHT) / 2
    out.append(f'<text x="{middle:.0f}" y="{HEIGHT - 8}" text-anchor="middle">{x_title}</text>')
    out.append(f'<text x="14" y="{HEIGHT / 2:.0f}" transform="rotate(-90 14 {HEIGHT / 2:.0f})" '
               f'text-anchor="middle">ms a step</text>')
    names = list(dict.fromkeys(name.split(",")[0] for name, _, _ in series))
    for i, (name, points, dashed) in enumerate(series):
        colour = COLOURS[names.index(name.split(",")[0]) % len(COLOURS)]
        places_of = " ".join(f"{x:.1f},{y:.1f}" for x, y in (at(*point) for point in sorted(points)))
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        out.append(f'<polyline points="{places_of}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>')
        y = TOP + 10 + 18 * i
        out.append(f'<line x1="{WIDTH - RIGHT + 10}" x2="{WIDTH - RIGHT + 34}" y1="{y}" y2="{y}" stroke="{colour}" '
                   f'stroke-width="2"{dash}/>')
        out.append(f'<text x="{WIDTH - RIGHT + 40}" y="{y + 4}">{name}</text>')
    out.append("</svg>")
    return "\n".join(out) + "\n"


def lines(steps, key, keep):
    """A solid line of ours, a dashed one of the floor and a line of llama.cpp, a geometry."""
    series = []
    for geometry in dict.fromkeys(s["geometry"] for s in steps):
        rows = [s for s in steps if s["geometry"] == geometry and keep(s)]
        if len(rows) < 2:
            continue
        series.append((geometry, [(key(s), s["step_s"] * 1e3) for s in rows], False))
        series.append((f"{geometry}, floor", [(key(s), s["floor_s"] * 1e3) for s in rows], True))
        peers = [(key(s), s["llama_s"] * 1e3) for s in rows if s["llama_s"] > 0]
        if len(peers) > 1:
            series.append((f"llama.cpp {geometry}", peers, False))
    return series


def table(run):
    yield "geometry     trees x branches  private    KV   floor ms   step ms  x floor   llama ms   x ours  tokens/s  KV x ideal"
    for s in run["steps"]:
        rows = s["trees"] * s["branches"]
        peer = f'{s["llama_s"] * 1e3:9.3f}  {s["llama_s"] / s["step_s"]:7.2f}' if s["llama_s"] > 0 else f'{"-":>9}  {"-":>7}'
        yield (f'{s["geometry"]:<12} {s["trees"]:>5} x {s["branches"]:<8}  {s["private_tokens"]:>7}  {s["kv_type"]:>4}  '
               f'{s["floor_s"] * 1e3:9.3f}  {s["step_s"] * 1e3:8.3f}  {s["step_s"] / s["floor_s"]:7.2f}  {peer}  '
               f'{rows / s["step_s"]:8.0f}  {s["kv_bytes_per_token"] / s["kv_ideal_bytes_per_token"]:10.3f}')
    for r in run.get("rooms", []):
        yield (f'{r["geometry"]:<12} {r["kv_bytes"] / 1e9:.1f} GB are left for KV, {r["token_bytes"] / 1e3:.1f} kB a token '
               f'in {r["kv_type"]}: {r["questions_of_48_x_8192"]} questions of 48 branches with 8192 tokens each')
    for c in run.get("chains", []):
        text = (f'{c["tokens"]} tokens: DTS-Greedy with 48 branches {c["tree"]["seconds"]:.2f} s, one chain '
                f'{c["chain"]["seconds"]:.2f} s')
        peer = c["llama_chain"]["seconds"]
        yield text + (f'; on llama.cpp {peer:.2f} s: the tree takes {c["tree"]["seconds"] / peer:.2f} of it' if peer else "")
    for q in run.get("questions", []):
        rate = lambda part: q[part]["tokens"] / q[part]["seconds"]
        yield (f'{q["questions"]} questions of 48 branches with {q["tokens"]} tokens: {rate("together"):.0f} tokens/s at once, '
               f'{rate("one_by_one"):.0f} one after another: {rate("together") / rate("one_by_one"):.2f} times as many')


def beside_authors(run, authors):
    """The authors' loop over ours, where both were measured."""
    for a in authors:
        ours = [s for s in run["steps"] if s["kv_type"] == "f16" and s["trees"] == 1 and
                all(s[key] == a[key] for key in ("geometry", "branches", "private_tokens"))]
        for s in ours:
            yield (f'{a["geometry"]}, {a["branches"]} x {a["private_tokens"]} tokens: the authors\' loop ({a["model"]}) takes '
                   f'{a["step_s"] * 1e3:.0f} ms a step, {a["step_s"] / s["step_s"]:.1f} times ours')


def main():
    run = json.loads(Path(sys.argv[1]).read_text())
    folder = Path(sys.argv[2])
    steps = [s for s in run["steps"] if s["kv_type"] == "f16"]
    by_length = lines(steps, lambda s: s["private_tokens"], lambda s: s["trees"] == 1 and s["branches"] == 48)
    (folder / "step_by_length.svg").write_text(chart("48 branches", "tokens of each branch's own", by_length))
    by_branches = lines(steps, lambda s: s["trees"] * s["branches"], lambda s: s["private_tokens"] == 1024)
    (folder / "step_by_branches.svg").write_text(chart("1,024 tokens of each branch's own", "branches", by_branches))
    print("\n".join(table(run)))
    if len(sys.argv) > 3:
        print("\n".join(beside_authors(run, json.loads(Path(sys.argv[3]).read_text()))))


if __name__ == "__main__":
    main()
