"""run.py TL -- `tl lsp` as editors use it: a client by hand, a client of pip (pygls), 1,000 edits.

Answers are to come within 50 ms; the test asks that of the median alone, since the machine may be busy."""
import asyncio
import os
import random
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from client import Client

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
URI = "file:///tmp/a%20folder/kernel.py"
DOC = {"uri": URI}
TEXT = '''import tilelang
import tilelang.language as T

@T.macro
def scale(tile, by):
    for i, j in T.Parallel(64, 64):
        tile[i, j] *= by

@tilelang.jit
def matmul(A, B, block: int = 64):
    M, N, K = T.const("M, N, K")
    A: T.Tensor((M, K), "float16")
    B: T.Tensor((K, N), "float16")
    C = T.empty((M, N), "float16")
    with T.Kernel(T.ceildiv(N, block), T.ceildiv(M, block), threads=128) as (bx, by):
        As = T.alloc_shared((block, 32), "float16")
        Bs = T.alloc_shared((32, block), "float16")
        acc = T.alloc_fragment((block, block), "float32")  # größer, 𝛼
        T.clear(acc)
        for k in T.Pipelined(T.ceildiv(K, 32), num_stages=2):
            T.copy(A[by * block, k * 32], As)
            T.copy(B[k * 32, bx * block], Bs)
            T.gemm(As, Bs, acc)
        scale(acc, 2.0)
        T.copy(acc, C[by * block, bx * block])
    return C
'''
passed = failed = 0


def check(what, good, *seen):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print(f"FAIL {what}:", *(str(s)[:300] for s in seen))


def place(text, part, more=0):
    before = text[:text.index(part) + more]
    line = before.count("\n")
    return {"line": line, "character": len(before.rsplit("\n", 1)[-1].encode("utf-16-le")) // 2}


def at(part, more=0, text=TEXT):
    return {"textDocument": DOC, "position": place(text, part, more)}


def features(tl):
    c = Client(tl)
    can = c.ask("initialize", capabilities={})["capabilities"]
    check("says what it can", can["hoverProvider"] and can["textDocumentSync"]["change"] == 2, can)
    c.open(URI, TEXT)
    found = c.diagnostics(1)
    check("nothing is wrong but guesses", [d["code"] for d in found] == ["guessed"], found)
    got = c.ask("textDocument/hover", **at("T.copy(A", 3))
    check("hover: a copy", "src, dst" in got["contents"]["value"] and "tma" in got["contents"]["value"], got)
    got = c.ask("textDocument/hover", **at("acc, C["))
    check("hover: a tile", "fragment float32[64, 64]" in got["contents"]["value"], got)
    check("hover: nothing", c.ask("textDocument/hover", **at("= T.const")) is None)
    got = [i["label"] for i in c.ask("textDocument/completion", **at("T.gemm(As", 2))]
    check("completion: of the language", {"gemm", "copy", "Parallel"} <= set(got), len(got))
    got = [i["label"] for i in c.ask("textDocument/completion", **at("scale(acc", 2))]
    check("completion: names in scope", {"scale", "acc", "k", "for"} <= set(got) and "tile" not in got, got)
    got = c.ask("textDocument/signatureHelp", **at("Bs, acc)", 4))
    check("signature", got["activeParameter"] == 2 and got["signatures"][0]["label"].startswith("gemm("), got)
    got = c.ask("textDocument/signatureHelp", **at("2.0)"))
    check("signature: a macro", got["signatures"][0]["label"] == "scale(tile, by)", got)
    got = c.ask("textDocument/definition", **at("scale(acc", 1))
    check("definition: a macro", got["range"]["start"] == place(TEXT, "scale(tile"), got)
    got = c.ask("textDocument/definition", **at("tile[i", 1))
    check("definition: a parameter", got["range"]["start"] == place(TEXT, "tile, by"), got)
    hints = c.ask("textDocument/inlayHint", textDocument=DOC)
    check("hints", [h["label"] for h in hints].count("tma") == 2 and "wgmma" in [h["label"] for h in hints], hints)
    data = c.ask("textDocument/semanticTokens/full", textDocument=DOC)["data"]
    check("tokens", len(data) > 300 and len(data) % 5 == 0 and min(data) >= 0, data)
    got = c.ask("textDocument/documentSymbol", textDocument=DOC)
    check("symbols", [s["name"] for s in got] == ["scale", "matmul"], got)
    fixes(c)
    check("an unknown method is an error", c.ask("textDocument/nothing")["code"] == -32601)
    c.send_bytes(b"{no json")
    check("a broken message is an error", c.read()["error"]["code"] == -32700)
    check("an unknown document is nothing", c.ask("textDocument/hover", textDocument={"uri": "file:///no"}) is None)
    check("ends well", c.end() == 0)


def change(c, version, start, end, text):
    c.note("textDocument/didChange", textDocument={"uri": URI, "version": version},
           contentChanges=[{"range": {"start": start, "end": end}, "text": text}])


def fixes(c):
    """A misspelt name behind characters that take two units, then mended by the server's own edit."""
    before = place(TEXT, "T.clear(acc)", 4)
    change(c, 2, before, {**before, "character": before["character"] + 1}, "")
    found = c.diagnostics(2)
    error = [d for d in found if d["severity"] == 1]
    check("an error with its tag", error and error[0]["code"] == "no-such-name" and "T.clear?" in error[0]["message"], found)
    got = c.ask("textDocument/codeAction", textDocument=DOC, range=error[0]["range"], context={"diagnostics": found})
    edit = got[0]["edit"]["changes"][URI][0]
    check("an action mends it", edit["newText"] == "clear" and edit["range"]["start"] == place(TEXT, "clear(acc"), got)
    change(c, 3, edit["range"]["start"], edit["range"]["end"], edit["newText"])
    check("mended", [d["code"] for d in c.diagnostics(3)] == ["guessed"])
    start = place(TEXT, "𝛼")
    change(c, 4, start, {**start, "character": start["character"] + 2}, "alpha\n        T.copy(acc, nosuch)")
    found = [d for d in c.diagnostics(4) if d["severity"] == 1]
    check("columns count UTF-16", found and found[0]["code"] == "undefined-name" and
          found[0]["range"]["start"] == {"line": start["line"] + 1, "character": 20}, found)
    end = {"line": start["line"] + 1, "character": 99}
    change(c, 5, start, end, "𝛼")
    c.diagnostics(5)


def said_values(tl):
    c = Client(tl, "--target", "cpu")
    c.ask("initialize", capabilities={"general": {"positionEncodings": ["utf-8", "utf-16"]}})
    c.open(URI, "# tl: M=64 N=64 K=31\n" + TEXT)
    check("values by a comment", c.diagnostics(1) == [])
    c.open("file:///other.py", "async def f():\n    import socket; await x; print(f'{y!r:>{z}}')\n", 2)
    check("other Python is left alone", c.diagnostics(2) == [])
    check("the end of input is an end", c.process.stdin.close() is None and c.process.wait(timeout=60) == 1)


EDITS = ["", " ", "\n", "(", ")", "T.", "x = 1\n", "for", "\"", "'''", "# ", "é", "𝛼", "[", "while True:\n", "\t", "0x", "\\"]


def edits(tl, count):
    """Random edits, each with a question; then the whole text again."""
    rng, c, took = random.Random(7), Client(tl), []
    c.ask("initialize", capabilities={"general": {"positionEncodings": ["utf-8"]}})
    c.open(URI, TEXT)
    lines = TEXT.count("\n")
    ask = ["hover", "completion", "signatureHelp", "definition", "inlayHint", "semanticTokens/full", "documentSymbol"]
    for version in range(2, count + 2):
        start = {"line": rng.randrange(lines + 3), "character": rng.randrange(60)}
        end = {"line": start["line"] + (rng.random() < 0.1), "character": start["character"] + rng.randrange(3)}
        change(c, version, start, end, rng.choice(EDITS))
        c.ask("textDocument/" + rng.choice(ask), textDocument=DOC, position=start)
        took.append(c.took)
        if version % 100 == 0:
            c.note("textDocument/didChange", textDocument={"uri": URI, "version": version}, contentChanges=[{"text": TEXT}])
    c.note("textDocument/didChange", textDocument={"uri": URI, "version": count + 2}, contentChanges=[{"text": TEXT}])
    check("after all edits it is what it was", [d["code"] for d in c.diagnostics(count + 2)] == ["guessed"])
    took.sort()
    check("answers within 50 ms", statistics.median(took) < 0.05, took[-10:])
    print(f"{count} edits: an answer takes {statistics.median(took) * 1e3:.1f} ms, 99 of 100 {took[len(took) * 99 // 100] * 1e3:.1f}, "
          f"the longest {took[-1] * 1e3:.1f}")
    check("still there", c.end() == 0)


def by_pygls(tl):
    """The same server under a client that others wrote, with its own types for every answer."""
    got = subprocess.run(["sh", os.path.join(ROOT, "tools", "pip.sh"), "pygls==2.1.1"], capture_output=True, text=True)
    if got.returncode:
        print("no pygls here, and none to be had by pip: that client is left out")
        return
    sys.path.insert(0, got.stdout.strip())
    from lsprotocol import types as t
    from pygls.lsp.client import LanguageClient

    async def session():
        client, published = LanguageClient("test", "1"), asyncio.Queue()
        client.feature(t.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda params: published.put_nowait(params))
        await client.start_io(tl, "lsp")
        await client.initialize_async(t.InitializeParams(capabilities=t.ClientCapabilities()))
        client.initialized(t.InitializedParams())
        item = t.TextDocumentItem(uri=URI, language_id="python", version=1, text=TEXT.replace("T.gemm", "T.gem"))
        client.text_document_did_open(t.DidOpenTextDocumentParams(item))
        seen = await asyncio.wait_for(published.get(), 120)
        doc, where = t.TextDocumentIdentifier(URI), t.Position(**place(TEXT, "T.copy(A", 3))
        hover = await client.text_document_hover_async(t.HoverParams(doc, where))
        items = await client.text_document_completion_async(t.CompletionParams(doc, where))
        whole = t.Range(t.Position(0, 0), t.Position(99, 0))
        acts = await client.text_document_code_action_async(
            t.CodeActionParams(doc, whole, t.CodeActionContext(seen.diagnostics)))
        colors = await client.text_document_semantic_tokens_full_async(t.SemanticTokensParams(doc))
        await client.shutdown_async(None)
        client.exit(None)
        await client.stop()
        return seen, hover, items, acts, colors

    seen, hover, items, acts, colors = asyncio.run(session())
    check("pygls: diagnostics", any(d.code == "no-such-name" for d in seen.diagnostics), seen)
    check("pygls: hover", "src, dst" in hover.contents.value, hover)
    check("pygls: completion", len(items) > 100, len(items))
    check("pygls: action", acts and acts[0].title == "change 'gem' to 'gemm'", acts)
    check("pygls: tokens", len(colors.data) > 300)


if __name__ == "__main__":
    program = os.path.abspath(sys.argv[1])
    features(program)
    said_values(program)
    edits(program, 1000)
    by_pygls(program)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0)
