"""attack.py TL -- what no editor should send `tl lsp`, and some do: every request is answered, and the server lives.

Empty, binary and huge documents, line ends of Windows, positions inside of a pair of UTF-16 units and behind the end, files that
vanish, requests out of order, cancelled ones, fields that are missing or of another kind, frames in pieces."""
import json
import os
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from client import Client

KERNEL = '''import tilelang.language as T


@T.prim_func
def main(A: T.Tensor((64,), "float32")):  # 😀 größer
    with T.Kernel(1, threads=32) as bx:
        s = T.alloc_shared((64,), "float32")  # 😀😀
        T.copy(A, s); T.cpoy(s, A)
'''
ASKS = ["hover", "completion", "signatureHelp", "definition", "inlayHint", "semanticTokens/full", "documentSymbol", "codeAction"]
passed = failed = 0


def check(what, good, *seen):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print(f"FAIL {what}:", *(str(s)[:400] for s in seen), flush=True)


def started(tl, *encodings):
    c = Client(tl)
    c.ask("initialize", capabilities={"general": {"positionEncodings": list(encodings)}} if encodings else {})
    c.note("initialized")
    return c


def ask_all(c, uri, *places):
    for line, character in places:
        for method in ASKS:
            at = {"line": line, "character": character}
            c.ask("textDocument/" + method, textDocument={"uri": uri}, position=at, range={"start": at, "end": at}, context={"diagnostics": []})


def documents(tl):
    """Texts of all kinds."""
    texts = {
        "empty": "", "a line end": "\n", "Windows": KERNEL.replace("\n", "\r\n"), "old Macintosh": KERNEL.replace("\n", "\r"), "no last line end": KERNEL.rstrip("\n"),
        "a mark of byte order": "\ufeff" + KERNEL, "zeros": "import tilelang\0\0\0\n" * 9, "binary": "".join(chr(i % 256) for i in range(4000)),
        "half a pair": "import tilelang  # \ud83d\n", "deep brackets": "import tilelang\nx = " + "(" * 20000 + "\n", "a long line": "import tilelang\nx = '" + "a" * 500000 + "'\n",
        "huge": "import tilelang\n" + "x = 1\n" * 40000, "many functions": "import tilelang\n" + "def f(x):\n    return x\n" * 5000,
        "an open string": 'import tilelang\n"""' + "T." * 1000,
    }
    c = started(tl)
    for i, (name, text) in enumerate(texts.items()):
        uri = f"file:///t/{i}.py"
        c.open(uri, text, i + 1)
        ask_all(c, uri, (0, 0), (3, 7), (1 << 30, 1 << 30))
        c.note("textDocument/didChange", textDocument={"uri": uri, "version": i + 100}, contentChanges=[{"text": text + "#"}])
        check(f"alive after {name}", c.ask("textDocument/hover", textDocument={"uri": uri}, position={"line": 0, "character": 0}) is not NotImplemented)
        c.note("textDocument/didClose", textDocument={"uri": uri})
    check("ends well", c.end() == 0)


def columns(tl):
    """The same place by UTF-16 and by UTF-8, with line ends of both kinds."""
    for text in (KERNEL, KERNEL.replace("\n", "\r\n")):
        for encoding, unit in (("utf-16", "utf-16-le"), ("utf-8", "utf-8")):
            c = started(tl, encoding)
            c.open("file:///u.py", text)
            found = [d for d in c.diagnostics(1) if d["code"] == "no-such-name"]
            want = [{"line": 7, "character": 22}, {"line": 7, "character": 28}]
            check(f"the message's place, {encoding}", found and [found[0]["range"]["start"], found[0]["range"]["end"]][0] == want[0], found)
            line = text.splitlines()[4]
            after = len(line[:line.index("größer")].encode(unit)) // (2 if unit != "utf-8" else 1)
            c.note("textDocument/didChange", textDocument={"uri": "file:///u.py", "version": 2},
                   contentChanges=[{"range": {"start": {"line": 4, "character": after}, "end": {"line": 4, "character": after}}, "text": "\n    T.nothing()\n#"}])
            found = [d for d in c.diagnostics(2) if "nothing" in d["message"]]
            check(f"an edit behind emoji, {encoding}", found and found[0]["range"]["start"]["line"] == 5, found)
            # Inside of a pair of units, or of a character's bytes.
            ask_all(c, "file:///u.py", (4, line.index("#") + 3), (6, 48))
            check("ends well", c.end() == 0)


def disorder(tl):
    c = Client(tl)
    check("before initialize", (c.ask("textDocument/hover", textDocument={"uri": "file:///a.py"}, position={"line": 0, "character": 0}) or {}).get("code") == -32002)
    c.ask("initialize", capabilities={})
    c.note("textDocument/didChange", textDocument={"uri": "file:///never.py", "version": 3}, contentChanges=[{"text": "x"}])
    c.note("textDocument/didClose", textDocument={"uri": "file:///never.py"})
    c.note("$/cancelRequest", id=12345)
    c.note("$/setTrace", value="verbose")
    c.open("file:///a.py", KERNEL)
    c.open("file:///a.py", KERNEL + "# again\n", 2)
    for changes in ([], [{}], [{"text": 5}], [{"range": {}, "text": "x"}], [{"range": {"start": {"line": 5, "character": 0}, "end": {"line": 1, "character": 0}}, "text": "x"}],
                    [{"range": {"start": {"line": -1, "character": -5}, "end": {"line": 1e300, "character": "b"}}, "text": "x"}], "no list", None):
        c.note("textDocument/didChange", textDocument={"uri": "file:///a.py", "version": 3}, contentChanges=changes)
    for params in ({}, {"textDocument": 5}, {"textDocument": {"uri": None}}, {"textDocument": {"uri": "file:///a.py"}, "position": []},
                   {"textDocument": {"uri": "not a uri %zz"}, "position": {"line": 1}}):
        for method in ASKS:
            c.ask("textDocument/" + method, **params)
    for message in ("[]", "5", "null", '"x"', "{}", '{"id": 7}', '{"method": 5, "id": 8}', '{"jsonrpc": "2.0", "method": "textDocument/hover", "id": {"a": 1}}', "[" * 5000, ""):
        c.send_bytes(message.encode())
    c.send_bytes(b'{"jsonrpc": "2.0", "id": "\xff\xfe", "method": "nothing"}')
    c.note("textDocument/didOpen", textDocument={"uri": "file:///b.py"})
    check("alive after nonsense", c.ask("textDocument/documentSymbol", textDocument={"uri": "file:///a.py"}) is not None)
    check("a second initialize is refused", "code" in c.ask("initialize", capabilities={}))
    c.ask("shutdown")
    check("after shutdown", (c.ask("textDocument/hover", textDocument={"uri": "file:///a.py"}) or {}).get("code") == -32600)
    c.note("exit")
    check("ends well", c.process.wait(timeout=60) == 0)


def cancelled(tl):
    """A cancelled request is answered too, with a result or as cancelled."""
    c = started(tl)
    c.open("file:///a.py", KERNEL)
    wanted = set()
    for i in range(200):
        c.send(id=1000 + i, method="textDocument/completion", params={"textDocument": {"uri": "file:///a.py"}, "position": {"line": 7, "character": 12}})
        c.note("$/cancelRequest", id=1000 + i)
        wanted.add(1000 + i)
    until = time.monotonic() + 60
    while wanted and time.monotonic() < until:
        wanted.discard(c.read().get("id"))
    check("every cancelled request is answered", not wanted, wanted)
    check("ends well", c.end() == 0)


def frames(tl):
    """Bytes as they come: in pieces, several at once, with other headers; a length that lies ends it."""
    c = started(tl)
    body = json.dumps({"jsonrpc": "2.0", "id": 5, "method": "textDocument/documentSymbol", "params": {"textDocument": {"uri": "file:///no"}}}).encode()
    for piece in (b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-length: ", b"%d\r\n" % len(body), b"\r", b"\n" + body[:10], body[10:]):
        c.process.stdin.write(piece)
        c.process.stdin.flush()
        time.sleep(0.02)
    check("a frame in pieces", c.read()["id"] == 5)
    c.process.stdin.write((b"Content-Length: %d\r\n\r\n" % len(body) + body) * 3)
    c.process.stdin.flush()
    check("three at once", [c.read()["id"] for _ in range(3)] == [5, 5, 5])
    check("ends well", c.end() == 0)
    for bad in (b"Content-Length: -5\r\n\r\n", b"Content-Length: 99999999999999999999\r\n\r\n", b"Content-Length: x\r\n\r\n", b"\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", b"\0" * 100000):
        c = started(tl)
        c.process.stdin.write(bad)
        c.process.stdin.close()
        check(f"no crash by {bad[:30]}", c.process.wait(timeout=60) in (0, 1), c.process.returncode)


def vanish(tl):
    """The document is in the editor; its file, and its folder, are gone; a module beside it too."""
    with tempfile.TemporaryDirectory() as folder:
        inner = os.path.join(folder, "gone")
        os.mkdir(inner)
        path = os.path.join(inner, "kernel.py")
        with open(os.path.join(inner, "beside.py"), "w") as f:
            f.write("SIZE = 64\n")
        text = "from beside import SIZE\n" + KERNEL.replace("T.cpoy(s, A)", "pass").replace("(64,)", "(SIZE,)")
        with open(path, "w") as f:
            f.write(text)
        c = started(tl)
        c.open("file://" + path, text)
        check("a module beside it", c.diagnostics(1) == [], c.heard)
        os.remove(path)
        os.remove(os.path.join(inner, "beside.py"))
        os.rmdir(inner)
        c.note("textDocument/didChange", textDocument={"uri": "file://" + path, "version": 2}, contentChanges=[{"text": text + "\n"}])
        found = c.diagnostics(2)
        check("gone: a message, not a crash", isinstance(found, list) and found, found)
        ask_all(c, "file://" + path, (5, 10))
        check("ends well", c.end() == 0)


if __name__ == "__main__":
    program = os.path.abspath(sys.argv[1])
    for part in (documents, columns, disorder, cancelled, frames, vanish):
        try:
            part(program)
        except Exception as e:  # the server is gone, or silent
            check(f"{part.__name__} goes through", False, repr(e))
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0)
