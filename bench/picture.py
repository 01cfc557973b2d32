"""picture.py CSV SVG -- the ratios of `make bench-gpu` as one picture: a dot for each row, a line for each family.

A dot is the time of the fastest peer in the same run over ours: right of 1.0 ours is faster."""
import csv
import html
import math
import sys

FAMILIES = [("gemm", "GEMM, bf16 and f16"), ("small", "GEMM of few rows"), ("odd", "GEMM, odd shapes"), ("types", "GEMM, fp8, int8, tf32"),
            ("other", "GEMM, other shapes"), ("attention", "attention, long"), ("attention-s", "attention, short"),
            ("memory", "copy, softmax, RMSNorm, SwiGLU")]
NAMES = {"cublasLt": "cuBLASLt", "torch": "PyTorch", "triton": "Triton", "cudnn": "cuDNN", "copy": "a copy kernel"}
COLORS = {"cublasLt": "#0b57d0", "torch": "#d9480f", "triton": "#7b3fb5", "cudnn": "#2a7d32"}
LEFT, WIDTH, ROW, TOP = 250, 520, 34, 46
LOW, HIGH = 0.7, 4.0


def across(ratio):
    at = math.log(min(max(ratio, LOW), HIGH) / LOW) / math.log(HIGH / LOW)
    return LEFT + at * WIDTH


def main(path, out):
    with open(path, newline="") as f:
        rows = [r for r in csv.DictReader(f) if r["ratio"]]
    shown = [(key, title, [r for r in rows if r["family"] == key]) for key, title in FAMILIES]
    shown = [s for s in shown if s[2]]
    height = TOP + ROW * len(shown) + 66
    text = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {LEFT + WIDTH + 90} {height}" font-family="sans-serif" font-size="13">',
            '<style>text{fill:#1c2024}.g{stroke:#c9d0d8}.o{stroke:#5b6570}'
            '@media(prefers-color-scheme:dark){text{fill:#e4e7ea}.g{stroke:#39424c}.o{stroke:#9aa4ae}}</style>',
            f'<text x="{LEFT}" y="18" font-weight="bold">time of the fastest peer over ours, H200 (right of 1.0: ours is faster)</text>']
    for tick in (0.7, 0.8, 0.9, 1.0, 1.2, 1.5, 2.0, 3.0, 4.0):
        x = across(tick)
        text.append(f'<line class="{"o" if tick == 1 else "g"}" x1="{x:.1f}" x2="{x:.1f}" y1="{TOP - 12}" y2="{TOP + ROW * len(shown)}"/>'
                    f'<text x="{x:.1f}" y="{TOP + ROW * len(shown) + 18}" text-anchor="middle">{tick:g}</text>')
    for n, (key, title, family) in enumerate(shown):
        y = TOP + ROW * n + ROW / 2 - 6
        mean = math.exp(sum(math.log(float(r["ratio"])) for r in family) / len(family))
        text.append(f'<text x="{LEFT - 12}" y="{y + 4:.1f}" text-anchor="end">{html.escape(title)}</text>')
        for r in family:
            ratio = float(r["ratio"])
            text.append(f'<circle cx="{across(ratio):.1f}" cy="{y:.1f}" r="4.5" fill="{COLORS.get(r["peer"], "#868e96")}" fill-opacity="0.55">'
                        f'<title>{html.escape(r["row"])}: {ratio:.2f} of {html.escape(NAMES.get(r["peer"], r["peer"]))}</title></circle>')
        text.append(f'<text x="{LEFT + WIDTH + 14}" y="{y + 4:.1f}" font-weight="bold">{mean:.2f}</text>')
    x, y = LEFT, TOP + ROW * len(shown) + 44
    for peer in dict.fromkeys(r["peer"] for _, _, family in shown for r in family):
        name = NAMES.get(peer, peer)
        text.append(f'<circle cx="{x}" cy="{y - 4}" r="4.5" fill="{COLORS.get(peer, "#868e96")}" fill-opacity="0.7"/><text x="{x + 10}" y="{y}">{html.escape(name)}</text>')
        x += 30 + 8 * len(name)
    with open(out, "w", encoding="utf-8") as f:
        f.write("\n".join(text + ["</svg>"]) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
