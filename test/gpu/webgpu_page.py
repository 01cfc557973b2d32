"""WGSL in a browser: Tint takes every text, and pages that `tl build -o` writes run their kernel and find it right.

    webgpu_page.py TL           a sample of the runs of test/kernel, and a few pages
    webgpu_page.py TL all       all runs
    webgpu_page.py TL --shots DIR   pictures of a page, as a phone and as a desktop show it

One headless Chromium opens a page of ours, which opens the others in frames and posts what they found.  Where there is no
Chromium, tools/install.sh has said so: then nothing is counted.
"""
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LIMIT = float(os.environ.get("TEST_SECONDS", "300"))
PAGES = {
    "gemm": ["examples/gemm.py:gemm", "M=96", "N=80", "K=40", "dtype=float32"],
    "softmax": ["examples/softmax.py", "M=9", "N=65"],
    "half": ["examples/gemm_dynamic.py", "M=40", "N=33", "K=50", "dtype=float16", "block_M=32", "block_N=32", "block_K=32"],
    "attention": ["examples/flash_attention.py", "S=64", "H=1", "D=32"],
    "nonfinite": ["test/kernel/nonfinite.py:arithmetic"],
    "asserts": ["test/kernel/assert_holds.py:main", "N=40"],
    "wide": ["test/kernel/int_edges.py:pairs", "dtype=int64"],  # 64 bits in pairs of words, in BigInt64Array
    "views": ["test/kernel/view_layouts.py:narrower"],  # words read as narrower elements
    "warps": ["test/kernel/warps.py:reductions", "N=50"],  # warps without subgroups
    "prints": ["test/kernel/print.py"],
    "many": ["examples/vector_add.py", "N=70001", "block_N=1"],  # more blocks than one dispatch takes
    "scalars": ["test/kernel/scalars.py:kinds", *"e=1 b=200 c=-100 d=60000 f=-3 g=-20 h=4000000000 i=-9876543210 x=0.3 y=-2.5 z=1.1".split()],
    "lanes": ["examples/softmax.py", "M=9", "N=65", "--target", "webgpu -subgroup=4"],  # as many as SwiftShader's have
}
ALWAYS = [  # conditions that threads agree on, which Tint has to see; the largest float
    ["test/kernel/any_all.py:asks_again"], ["test/kernel/choices.py:doubling", "N=40"], ["test/kernel/meetings.py:until_small"],
    ["test/kernel/threads.py:agreed"], ["test/kernel/uneven_barriers.py:bitonic"], ["test/kernel/math_float.py:extremes"],
]
HARNESS = """<!doctype html><title>harness</title><body><script type="module">
const post = (at, what) => fetch(at, {method: "POST", body: JSON.stringify(what)});
try {
    const adapter = await navigator.gpu.requestAdapter();
    const device = await adapter.requestDevice({requiredFeatures: ["subgroups"].filter((f) => adapter.features.has(f))});
    for (const name of await (await fetch("/texts.json")).json()) {
        const module = device.createShaderModule({code: await (await fetch("/" + name)).text()});
        const wrong = (await module.getCompilationInfo()).messages.filter((m) => m.type === "error");
        await post("/text/" + name, {verdict: wrong.length ? "fail" : "pass", text: wrong.map((m) => m.lineNum + ": " + m.message).join("; ")});
    }
    for (const name of await (await fetch("/pages.json")).json()) {
        const frame = document.createElement("iframe");
        frame.src = "/" + name + "/index.html?report=/page/" + name;
        document.body.append(frame);
        for (let i = 0; i < 2000; i++) {
            await new Promise((r) => setTimeout(r, 50));
            if ((frame.contentDocument?.body?.dataset.verdict ?? "running") !== "running") break;
        }
    }
    await post("/end", {verdict: "pass"});
} catch (e) { await post("/end", {verdict: "fail", text: String(e)}); }
</script>"""


def chromium():
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def flags(profile):
    return ["--headless", "--no-sandbox", "--disable-gpu-sandbox", "--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader",
            "--no-first-run", "--user-data-dir=" + profile]


def runs(every):
    """Arguments of tl for the runs of test/kernel that no target refuses by its nature."""
    out = []
    folder = os.path.join(ROOT, "test", "kernel")
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".py"):
            continue
        with open(os.path.join(folder, name)) as f:
            text = f.read()
        if re.search(r"^# (fails|refused):", text, re.M):
            continue
        for line in re.findall(r"^# verify: *(.*)$", text, re.M):
            words = line.split()
            func = "".join(w for w in words if w.startswith(":"))
            out.append(["test/kernel/" + name + func] + [w for w in words if not w.startswith((":", "-"))])
    return out[::every] + [words for words in ALWAYS if words not in out[::every]]


def build_texts(tl, folder, every):
    """Of each run, with all the room that an adapter may have, and with subgroups where it has a use for them."""
    names = []
    for i, words in enumerate(runs(every)):
        for more in "", " -subgroup=32":
            target = "webgpu -max_num_threads=1024 -max_shared_memory_per_block=32768" + more
            done = subprocess.run([tl, "build", *words, "-q", "--source", "--target", target], cwd=ROOT, capture_output=True, text=True)
            if done.returncode == 0 and (not more or "\nenable subgroups;" in done.stdout):
                names.append("text%d%s.wgsl" % (i, more and "s"))
                with open(os.path.join(folder, names[-1]), "w") as f:
                    f.write("// %s%s\n%s" % (" ".join(words), more, done.stdout))
    return names


class Server:
    """Files of a folder, and what pages post."""

    def __init__(self, folder):
        said = self.said = {}
        self.ended = threading.Event()
        ended = self.ended

        class Handler(http.server.SimpleHTTPRequestHandler):
            def __init__(self, *args):
                super().__init__(*args, directory=folder)

            extensions_map = {**http.server.SimpleHTTPRequestHandler.extensions_map, ".mjs": "text/javascript"}

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                said[self.path] = json.loads(body)
                self.send_response(204)
                self.end_headers()
                if self.path == "/end":
                    ended.set()

            def do_GET(self):
                if self.path == "/hold":  # a picture that comes when the page is done: then it is looked at
                    ended.wait(LIMIT)
                super().do_GET()

            def log_message(self, *args):
                pass

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = "http://127.0.0.1:%d" % self.http.server_address[1]
        threading.Thread(target=self.http.serve_forever, daemon=True).start()


def pictures(tl, browser, where):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([tl, "build", *PAGES["gemm"], "-q", "--target", "webgpu", "-o", os.path.join(folder, "page")], cwd=ROOT, check=True)
        with open(os.path.join(folder, "whole.html"), "w") as f:
            f.write("<!doctype html><style>* {margin: 0; border: 0} iframe {width: 100vw; height: 100vh; display: block}</style>"
                    "<iframe src='/page/index.html?report=/end'></iframe><img src='/hold' hidden>")
        for name, size in {"phone": "390,844", "desktop": "1280,900"}.items():
            with tempfile.TemporaryDirectory() as profile:
                subprocess.run([browser, *flags(profile), "--window-size=" + size, "--hide-scrollbars",
                                "--screenshot=" + os.path.join(where, name + ".png"), Server(folder).url + "/whole.html"],
                               capture_output=True, timeout=LIMIT)


def main():
    tl = os.path.abspath(sys.argv[1])
    browser = chromium()
    if not browser:
        print("0 passed, 0 failed")
        return 0
    if "--shots" in sys.argv:
        pictures(tl, browser, sys.argv[-1])
        return 0
    passed, failed = 0, []
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        pages = []
        for name, words in PAGES.items():
            done = subprocess.run([tl, "build", "-q", "--target", "webgpu", *words, "-o", os.path.join(folder, name)],
                                  cwd=ROOT, capture_output=True, text=True)
            if done.returncode == 0:
                pages.append(name)
            else:
                failed.append("%s: %s" % (name, done.stderr))
        texts = build_texts(tl, folder, 1 if "all" in sys.argv else 24)
        for name, what in (("index.html", HARNESS), ("texts.json", json.dumps(texts)), ("pages.json", json.dumps(pages))):
            with open(os.path.join(folder, name), "w") as f:
                f.write(what)
        server = Server(folder)
        child = subprocess.Popen([browser, *flags(profile), "--remote-debugging-port=0", server.url + "/index.html"],
                                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        server.ended.wait(LIMIT)
        child.terminate()
        child.wait()
        for kind, names in (("text", texts), ("page", pages)):
            for name in names:
                said = server.said.get("/%s/%s" % (kind, name), {"verdict": "fail", "text": "nothing was heard"})
                if said["verdict"] == "pass":
                    passed += 1
                else:
                    what = name
                    if kind == "text":
                        with open(os.path.join(folder, name)) as f:
                            what = f.readline().strip("/ \n")
                    failed.append("%s: %s" % (what, said["text"]))
        if server.said.get("/end", {}).get("verdict") != "pass":
            failed.append("the browser did not come to the end: %s" % server.said.get("/end"))
    for line in failed:
        print("FAIL", line)
    print("%d passed, %d failed" % (passed, len(failed)))
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
