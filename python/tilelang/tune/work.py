"""A search by workers: one process owns the space and the library and leases trials, others run them.

    tl tune FILE … --serve HOST:PORT        the owner; it measures nothing itself
    tl tune FILE … --worker HOST:PORT       a worker, the same under ssh, srun and mpirun

Both load the same file with the same arguments.  Lines of JSON go over one connection a worker: it says who it is, asks, gets a
lease (a configuration and how many runs), answers with samples.  A lease whose worker is gone, or that is overdue, goes back and is
given to another; a result counts only while its lease holds, so that none counts twice.  A row is in the library before its worker
hears that it was taken.  A configuration that has cost three workers is a row with that reason.

Nothing that was sent is executed: a worker's configurations are those of its own file.  Who may take part is told by the word in
$TILELANG_TUNE_TOKEN, which must be set for an address that is not this machine's own."""

import hmac
import json
import os
import socket
import socketserver
import threading
import time

from .library import STATES, canonical
from .search import HOPELESS, RUNS, Search

LOSSES = 3           # workers that one configuration may cost
LINE_MOST = 1 << 20  # bytes
SAME = ("compiler", "text", "args", "dtypes", "target", "machine", "driver")  # of owner and worker


class Refused(Exception):
    """With a sentence."""


def address_of(word):
    host, colon, port = word.rpartition(":")
    if not colon or not port.isdigit():
        raise ValueError("%r is no HOST:PORT" % word)
    return host or "127.0.0.1", int(port)


def token_for(host):
    token = os.environ.get("TILELANG_TUNE_TOKEN", "")
    if not token and not host.startswith("127.") and host not in ("localhost", "::1"):
        raise ValueError("--serve %s can be reached from other machines: set TILELANG_TUNE_TOKEN to a word that "
                         "only its workers know, there and here" % host)
    return token


def _send(f, thing):
    f.write((json.dumps(thing, default=str) + "\n").encode())
    f.flush()


def _receive(f):
    """None: the other side is gone."""
    line = f.readline(LINE_MOST)
    if not line.endswith(b"\n"):
        return None
    return json.loads(line)


# ---- the owner ------------------------------------------------------------------------------------


class Leases:
    """Trials of one round: to do, lent, done.  Threads of connections meet here."""

    def __init__(self, seconds):
        self.seconds = seconds  # that a lease holds
        self.lock = threading.Condition()
        self.todo, self.lent, self.losses = [], {}, {}
        self.serial, self.over = 0, False
        self.returned = 0  # leases whose worker was lost

    def begin(self, points, runs):
        with self.lock:
            self.todo, self.runs = list(points), runs
            self.lock.notify_all()

    def take(self, worker):
        """(number, point, runs); None: nothing to do now."""
        with self.lock:
            self._overdue()
            if not self.todo:
                return None
            self.serial += 1
            point = self.todo.pop(0)
            self.lent[self.serial] = (point, worker, time.monotonic() + self.seconds)
            return self.serial, point, self.runs

    def _overdue(self):
        now = time.monotonic()
        for number in [n for n, (_, _, until) in self.lent.items() if until < now]:
            self._back(number)

    def _back(self, number):
        point = self.lent.pop(number)[0]
        self.returned += 1
        self.losses[point.key] = self.losses.get(point.key, 0) + 1
        self.todo.append(point)
        self.lock.notify_all()

    def lose(self, worker):
        """All that it held."""
        with self.lock:
            for number in [n for n, (_, w, _) in self.lent.items() if w is worker]:
                self._back(number)

    def finish(self, number, worker, note):
        """note(point) while the lease holds; False: it does not."""
        with self.lock:
            held = self.lent.get(number)
            if held is None or held[1] is not worker:
                return False
            note(held[0])
            del self.lent[number]
            self.lock.notify_all()
            return True

    def settled(self, over):
        """Waits until the round is done or over() says so; points that cost too many workers."""
        with self.lock:
            while (self.todo or self.lent) and not over():
                self._overdue()
                for p in [p for p in self.todo if self.losses.get(p.key, 0) >= LOSSES]:
                    self.todo.remove(p)
                    yield p
                self.lock.wait(0.2)
            self.todo, self.lent = [], {}


class Owner(Search):
    """A search whose trials others run."""

    def __init__(self, *args, **keys):
        super().__init__(*args, **keys)
        self.leases = Leases(2 * self.limit + 60)
        self.workers = 0
        self.ready = threading.Event()  # the points are known

    def listen(self, host, port):
        """Starts to answer; (host, port) as it came out."""
        owner, self.token = self, token_for(host)

        class Answer(socketserver.StreamRequestHandler):
            def handle(self):
                try:
                    owner._talk(self.rfile, self.wfile)
                except (OSError, ValueError, KeyError, TypeError):
                    pass  # whatever it said, it is gone

        class Server(socketserver.ThreadingTCPServer):
            allow_reuse_address = daemon_threads = True

        self.server = Server((host, port), Answer)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self.server.server_address[:2]

    def _accept(self, said):
        """None, or why not."""
        if not hmac.compare_digest(str(said.get("token", "")).encode(), self.token.encode()):
            return "TILELANG_TUNE_TOKEN is not the owner's"
        if not hasattr(self, "text"):
            return "its search has ended"
        for name in SAME:
            mine, its = canonical(self.about[name]), canonical(said.get(name))
            if its != mine:
                return "its %s is %s, the owner's is %s" % (name, its, mine)
        return None

    def _talk(self, f, to):
        said = _receive(f)
        self.ready.wait()
        if said is None:
            return
        why = self._accept(said)
        _send(to, {"no": why} if why else {"yes": True})
        if why:
            return
        worker = object()
        self.workers += 1
        try:
            while True:
                said = _receive(f)
                if said is None:
                    return
                if "lease" in said:
                    took = self.leases.finish(said["lease"], worker, lambda p, said=said: self._take(p, said))
                    _send(to, {"took": took})
                elif self.leases.over:
                    _send(to, {"done": True})
                    return
                else:
                    lease = self.leases.take(worker)
                    _send(to, {"wait": 0.2} if lease is None else {
                        "lease": lease[0], "config": lease[1].config, "runs": lease[2],
                        "slowest": self.best.ms * HOPELESS if self.best is not None else None})
        finally:
            self.workers -= 1
            self.leases.lose(worker)

    def _take(self, point, said):
        samples = [float(x) for x in said.get("samples") or []]
        state = said.get("state")
        if state not in STATES or not all(0 < ms < float("inf") for ms in samples) or (state == "ok" and not samples):
            raise ValueError("this is no result")
        self._note(point, state, said.get("reason"), samples)
        self.todo -= 1

    def _vote(self, child, points):
        """Each worker compares with what it ran first."""

    def _round(self, child, points, runs):
        missing = [p for p in points if p.state is None or p.state == "ok"
                   and len(p.samples) < runs and p.ms < self.best.ms * HOPELESS]
        self.todo = len(missing)
        self.leases.begin(missing, runs)
        self.ready.set()
        for point in self.leases.settled(self._over):
            self._note(point, "crashed", "%d workers were lost with it" % LOSSES)
            self.todo -= 1

    def run(self):
        try:
            return super().run()
        finally:
            self.leases.over = True
            self.ready.set()
            until = time.monotonic() + 5  # workers hear that it is over
            while self.workers and time.monotonic() < until:
                time.sleep(0.05)
            self.server.shutdown()
            self.server.server_close()


# ---- a worker -------------------------------------------------------------------------------------


def _connect(address, patience):
    """The owner may start later than its workers do."""
    until = time.monotonic() + patience
    while True:
        try:
            return socket.create_connection(address, timeout=10)
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.3)


def worker(search, address, patience=60, say=lambda text: None):
    """Runs trials until the owner has none left; how many.  search: of the same file and arguments."""
    from ..autotuner.trial import Trials

    search.prepare()
    points = {p.key: p for p in search.points}
    child, done = Trials(), 0
    try:
        with _connect(address, patience) as s:
            s.settimeout(None)
            f, to = s.makefile("rb"), s.makefile("wb")
            _send(to, {"token": os.environ.get("TILELANG_TUNE_TOKEN", ""),
                       **{name: search.about[name] for name in SAME}})
            answer = _receive(f)
            if answer is None or "no" in answer:
                raise Refused("the owner at %s:%d does not take this worker: %s"
                              % (*address, (answer or {}).get("no", "it is gone")))
            while True:
                _send(to, {"ask": True})
                answer = _receive(f)
                if answer is None or "done" in answer:
                    return done
                if "wait" in answer:
                    time.sleep(answer["wait"])
                    continue
                point = points.get(canonical(answer["config"]))
                state, reason, samples = ("failed", "its worker has no such point", []) if point is None else \
                    search.attempt(child, point, answer["runs"], answer["slowest"])
                _send(to, {"lease": answer["lease"], "state": state, "reason": reason, "samples": samples})
                answer = _receive(f)
                if answer is None:
                    return done
                done += bool(answer.get("took"))
                say("%s  %s" % (state, canonical(point.config) if point else ""))
    finally:
        child.close()
