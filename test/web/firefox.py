"""The playground in headless Firefox, told what to do by its remote control (Marionette): it opens, compiles as tl does, shows an error with
its caret, draws, simulates where the browser can.

    firefox.py BUILD             of the page that is there (make playground)
    firefox.py BUILD --shots DIR

Where there is no Firefox nothing is counted."""
import base64
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(ROOT, "tools")]
import run  # noqa: E402
from playground import examples  # noqa: E402


def firefox():
    return shutil.which("firefox-esr") or shutil.which("firefox")


class Firefox:
    """As browser.Browser, as far as the tests ask: messages are [0, number, command, parameters], each after its length."""

    def __init__(self, limit=300):
        self.limit, self.last, self.held, self.errors = limit, 0, b"", []

    def __enter__(self):
        self.profile = tempfile.mkdtemp(prefix="tl-firefox-")
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        with open(os.path.join(self.profile, "user.js"), "w") as f:
            f.write(f'user_pref("marionette.port", {port});\nuser_pref("browser.shell.checkDefaultBrowser", false);\n'
                    'user_pref("datareporting.policy.dataSubmissionEnabled", false);\nuser_pref("app.update.enabled", false);\n')
        env = dict(os.environ, MOZ_HEADLESS="1", HOME=self.profile)
        self.process = subprocess.Popen([firefox(), "--headless", "--marionette", "--no-remote", "--profile", self.profile], env=env,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + self.limit
        while True:
            try:
                self.wire = socket.create_connection(("127.0.0.1", port))
                break
            except OSError:
                if time.monotonic() > until or self.process.poll() is not None:
                    raise
                time.sleep(0.2)
        self.wire.settimeout(self.limit)
        self.receive()  # who it is
        self.send("WebDriver:NewSession", capabilities={"alwaysMatch": {"acceptInsecureCerts": True}})
        self.send("WebDriver:SetTimeouts", script=int(self.limit * 1000), pageLoad=int(self.limit * 1000), implicit=0)
        return self

    def __exit__(self, *what):
        self.wire.close()
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.profile, ignore_errors=True)

    def receive(self):
        while True:
            length, colon, rest = self.held.partition(b":")
            if colon and len(rest) >= int(length):
                self.held = rest[int(length):]
                return json.loads(rest[:int(length)])
            got = self.wire.recv(1 << 20)
            if not got:
                raise EOFError("the browser ended")
            self.held += got

    def send(self, command, **params):
        self.last += 1
        text = json.dumps([0, self.last, command, params]).encode()
        self.wire.sendall(str(len(text)).encode() + b":" + text)
        _, number, error, result = self.receive()
        if error:
            raise RuntimeError(command + ": " + error["message"])
        return result.get("value") if isinstance(result, dict) else result

    def open(self, url):
        self.send("WebDriver:Navigate", url=url)

    def ask(self, code):
        script = ("const [code, done] = arguments; (async () => { try { done({value: await window.eval(code)}); }"
                  " catch (e) { done({error: String(e)}); } })()")
        got = self.send("WebDriver:ExecuteAsyncScript", script=script, args=[code], sandbox=None, newSandbox=False)
        if "error" in got:
            raise RuntimeError(got["error"])
        return got.get("value")

    def wait(self, code):
        until = time.monotonic() + self.limit
        while time.monotonic() < until:
            try:
                value = self.ask(f"(async () => !!(await ({code})))()")
            except RuntimeError:
                value = None
            if value:
                return value
            time.sleep(0.1)
        raise TimeoutError("never held: " + code)

    def size(self, width, height, phone=False):
        self.send("WebDriver:SetWindowRect", width=width, height=height)

    def shot(self, path):
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.send("WebDriver:TakeScreenshot", full=False)))


def main(build, pictures=None):
    page_file = os.path.join(build, "playground", "index.html")
    if not firefox() or not os.path.exists(page_file):
        print("no Firefox, or no playground, here\n0 passed, 0 failed")
        return 0
    kernels = {x["name"]: x for x in examples()}
    tutorial = [kernels[f"tutorial-{i}"] for i in range(1, 8)]
    with Firefox(float(os.environ.get("TEST_SECONDS", "300"))) as b:
        page = run.Page(b, os.path.join(build, "tl"))
        b.open("file://" + page_file)
        page.settle()
        if pictures:
            run.shots(page, pictures, tutorial[3])
            return 0
        run.check("opens with a kernel", b.ask("document.body.dataset.state") == "built", page.text("#messages"))
        run.same_text(page, [tutorial[0], tutorial[3], kernels["softmax"]])
        run.panes(page, tutorial[3])
        run.errors(page)
        switches = b.ask("!!(WebAssembly.Suspending && WebAssembly.promising)")
        if switches:
            run.simulator(page, tutorial[:2])
            run.timeline(page, tutorial[6])
        else:
            page.tab("run")
            run.check("says that it cannot simulate", re.search("JavaScript Promise Integration|browser", page.text("#panes > .here")), page.text("#panes > .here"))
        run.site(page, os.path.join(build, "playground"))
        print(f"Firefox {b.ask('navigator.userAgent').rpartition('/')[2]}: the simulator {'runs' if switches else 'does not run'} there")
    print(f"{run.passed} passed, {run.failed} failed")
    return run.failed != 0


if __name__ == "__main__":
    words = sys.argv[1:]
    sys.exit(main(os.path.abspath(words[0]), words[2] if words[1:2] == ["--shots"] else None))
