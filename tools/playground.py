"""playground.py -- the playground as one page: HTML, styles, scripts, examples and the compiler itself.

Usage: playground.py TL_WASM DIR     writes DIR/index.html and DIR/offline.js

The page needs no server: opened as a file it works as it does from one.  The same sources give the same bytes."""
import base64
import gzip
import json
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Examples of the repository: file, function and values that the simulator can run while one waits.
FILES = [("Softmax", "softmax.py", "M=16 N=64"), ("RMS norm", "rms_norm.py", "M=16 N=256"), ("Product (GEMM)", "gemm.py", "gemm M=128 N=128 K=64 dtype=float16"),
         ("Attention", "flash_attention.py", "S=64 H=1 D=64"), ("Transpose", "transpose.py", "M=64 N=96"), ("Swiglu", "swiglu.py", ""),
         ("Sort", "sort.py", ""), ("Weights of 4 bits", "w4a16_gemm.py", "")]
PIECE = 96 * 1024  # of the compiler; a multiple of 4
TENSOR = '''import tilelang as tl


@tl.tensor_program(target="cpu")
def attention(q: "float32[1, 2, 64, 32]", k: "float32[1, 2, 64, 32]", v: "float32[1, 2, 64, 32]"):
    s = tl.einsum("bhqd,bhkd->bhqk", q, k) / q.shape[-1] ** 0.5
    s = tl.where(tl.iota(s, 2) >= tl.iota(s, 3), s, -tl.inf)
    return tl.softmax(s, axis=-1) @ v
'''


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


def blocks(path):
    """Python blocks of a document, each under the heading it stands below."""
    for part in re.split(r"^## ", read(path), flags=re.M)[1:]:
        for code in re.findall(r"^```python\n(.*?)^```", part, re.M | re.S):
            yield part.split("\n")[0], code


def examples():
    out = [{"group": "Tutorial", "title": title, "name": "tutorial-" + title.split(".")[0], "text": code} for title, code in blocks("doc/tutorial.md")]
    out.append({"group": "Tensor programs", "title": "Attention, whole tensors", "name": "tensor-attention", "text": TENSOR})
    for title, file, values in FILES:
        out.append({"group": "Examples", "title": title, "name": file[:-3], "text": read("examples/" + file), "values": values})
    for file in sorted(os.listdir(os.path.join(ROOT, "examples", "puzzles"))):
        if file.endswith(".py"):
            text = read("examples/puzzles/" + file)
            out.append({"group": "Puzzles", "title": text[3:text.index("\n")].rstrip("."), "name": "puzzle-" + file[:2], "text": text})
    return out


def page(wasm):
    parts = {name: read("web/" + name) for name in ("page.css", "page.js", "wasi.js", "worker.js")}
    parts["examples"] = json.dumps(examples()).replace("<", "\\u003c")
    packed = base64.b64encode(gzip.compress(wasm, 9, mtime=0)).decode()
    parts["tl.wasm"] = "\n".join(f'<script>feed({text})</script>' for text in [*(f'"{packed[i:i + PIECE]}"' for i in range(0, len(packed), PIECE)), ""])
    return re.sub(r"/\*([\w.]+)\*/", lambda m: parts.get(m.group(1), m.group(0)), read("web/page.html"))


def main(wasm, folder):
    os.makedirs(folder, exist_ok=True)
    with open(wasm, "rb") as f:
        text = page(f.read())
    for name, content in (("index.html", text), ("offline.js", read("web/offline.js"))):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(content)
    print(f"{folder}/index.html: {len(text.encode()) / 1e6:.2f} MB")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: playground.py TL_WASM DIR")
    main(*sys.argv[1:])
