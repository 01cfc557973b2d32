"""client.py -- a client of `tl lsp` by hand: frames, requests, notifications."""
import json
import subprocess
import time


class Client:
    def __init__(self, tl, *words):
        self.process = subprocess.Popen([tl, "lsp", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.count, self.heard, self.took = 0, [], 0.0

    def send_bytes(self, body):
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def send(self, **message):
        self.send_bytes(json.dumps({"jsonrpc": "2.0", **message}).encode())

    def read(self):
        size = 0
        while (line := self.process.stdout.readline()) != b"\r\n":
            if not line:
                raise EOFError("the server is gone")
            if line.lower().startswith(b"content-length:"):
                size = int(line.split(b":")[1])
        return json.loads(self.process.stdout.read(size))

    def ask(self, method, **params):
        self.count += 1
        start = time.perf_counter()
        self.send(id=self.count, method=method, params=params)
        while (got := self.read()).get("id") != self.count:
            self.heard.append(got)
        self.took = time.perf_counter() - start
        return got["result"] if "result" in got else got["error"]

    def note(self, method, **params):
        self.send(method=method, params=params)

    def diagnostics(self, version):
        """What is published about this version, or a later one."""
        while True:
            for got in self.heard:
                if got["params"].get("version", -1) >= version:
                    self.heard.remove(got)
                    return got["params"]["diagnostics"]
            self.heard.append(self.read())

    def open(self, uri, text, version=1):
        self.note("textDocument/didOpen", textDocument={"uri": uri, "languageId": "python", "version": version, "text": text})

    def end(self):
        self.ask("shutdown")
        self.note("exit")
        return self.process.wait(timeout=60)
