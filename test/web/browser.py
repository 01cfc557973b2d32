"""A headless Chromium that is told what to do over two pipes (the DevTools protocol): no port, nothing but Python's library."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


def chromium():
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    """with Browser() as b: b.open(url); b.ask("document.title")"""

    def __init__(self, limit=120):
        self.limit, self.last, self.held, self.errors = limit, 0, b"", []

    def __enter__(self):
        self.profile = tempfile.mkdtemp(prefix="tl-browser-")
        to_read, self.to = os.pipe()
        self.back, back_write = os.pipe()
        command = [chromium(), "--headless", "--no-sandbox", "--disable-gpu-sandbox", "--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader", "--no-first-run",
                   "--disable-dev-shm-usage", "--remote-debugging-pipe", "--user-data-dir=" + self.profile]

        def wire():  # the browser reads 3 and writes 4
            os.dup2(to_read, 13)
            os.dup2(back_write, 14)
            os.dup2(13, 3)
            os.dup2(14, 4)

        self.process = subprocess.Popen(command, preexec_fn=wire, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(back_write)
        target = self.send("Target.createTarget", url="about:blank")["targetId"]
        self.session = None
        self.session = self.send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network"):
            self.send(domain + ".enable")
        return self

    def __exit__(self, *what):
        self.process.kill()
        self.process.wait()
        os.close(self.to)
        os.close(self.back)
        shutil.rmtree(self.profile, ignore_errors=True)

    def receive(self, until):
        while b"\0" not in self.held:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.back], [], [], left)[0]:
                raise TimeoutError("the browser does not answer")
            got = os.read(self.back, 1 << 20)
            if not got:
                raise EOFError("the browser ended")
            self.held += got
        text, self.held = self.held.split(b"\0", 1)
        return json.loads(text)

    def send(self, method, **params):
        self.last += 1
        message = {"id": self.last, "method": method, "params": params}
        if getattr(self, "session", None):
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.to, data):]
        until = time.monotonic() + self.limit
        while True:
            got = self.receive(until)
            if got.get("method") == "Runtime.exceptionThrown":
                self.errors.append(got["params"]["exceptionDetails"].get("exception", {}).get("description", "?"))
            if got.get("id") == self.last:
                if "error" in got:
                    raise RuntimeError(method + ": " + got["error"]["message"])
                return got["result"]

    def open(self, url):
        self.send("Page.navigate", url=url)

    def ask(self, code):
        """The value of an expression of the page, a promise's when it is kept."""
        got = self.send("Runtime.evaluate", expression=code, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in got:
            raise RuntimeError(got["exceptionDetails"].get("exception", {}).get("description", "?"))
        return got["result"].get("value")

    def wait(self, code):
        """Until the expression holds."""
        until = time.monotonic() + self.limit
        while time.monotonic() < until:
            try:
                value = self.ask(f"(async () => !!(await ({code})))()")
            except RuntimeError:  # the page is on its way
                value = None
            if value:
                return value
            time.sleep(0.05)
        raise TimeoutError("never held: " + code)

    def cpu_seconds(self):
        """Processor time of the browser and all its processes so far."""
        parents, used = {}, {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/stat") as f:
                    words = f.read().rpartition(")")[2].split()
            except OSError:  # it ended
                continue
            parents[int(pid)], used[int(pid)] = int(words[1]), sum(map(int, words[11:15]))
        ours = {self.process.pid}
        while more := {p for p, q in parents.items() if q in ours} - ours:
            ours |= more
        return sum(used.get(p, 0) for p in ours) / os.sysconf("SC_CLK_TCK")

    def size(self, width, height, phone=False):
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=2 if phone else 1, mobile=phone)

    def shot(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.send("Page.captureScreenshot")["data"]))
