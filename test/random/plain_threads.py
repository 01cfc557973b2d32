"""plain_threads.py -- what a kernel of expert.py means: plain.py with the threads of a block taking turns.

Each thread of a block runs the text for itself, as a thread of Python of which one runs at a time and in a random
order; an operator on tiles is done by the last one of its role that comes by.  A block whose threads all wait is an
error of the grammar."""

import random
import re
import threading

import numpy as np

import plain

WARP = 32


class Thread:
    def __init__(self, i, n):
        self.i, self.group, self.baton, self.waits, self.over = i, ("all", n), threading.Semaphore(0), None, False
        self.calls, self.made = {}, 0


class Call:
    def __init__(self):
        self.n, self.done, self.value, self.given = 0, False, None, {}


class Barrier:
    def __init__(self, count):
        self.count, self.left, self.phase = count, count, 0

    def __getitem__(self, i):
        assert int(i) == 0
        return self


class Block:
    """Threads in turns."""

    def __init__(self, n, r):
        self.n, self.r, self.calls, self.made, self.wrong = n, r, {}, {}, None
        self.main = threading.Semaphore(0)
        self.threads = [Thread(i, n) for i in range(n)]
        self.me = None

    def run(self, body):
        def one(t):
            t.baton.acquire()
            try:
                body()
            except BaseException as e:  # told to the one who waits for the block
                self.wrong = self.wrong or e
            t.over = True
            self.main.release()

        kept = threading.stack_size(256 * 1024)
        for t in self.threads:
            threading.Thread(target=one, args=(t,), daemon=True).start()
        threading.stack_size(kept)
        left = list(self.threads)
        while left:
            self.r.shuffle(left)
            ran = False
            for t in left:
                if t.waits is None or t.waits():
                    ran, t.waits, self.me = True, None, t
                    t.baton.release()
                    self.main.acquire()
                    if self.wrong:
                        raise self.wrong
            assert ran, "a block whose threads all wait"
            left = [t for t in left if not t.over]

    def wait(self, until):
        t = self.me
        if until():
            return
        t.waits = until
        self.main.release()
        t.baton.acquire()

    def call(self, group, f, given=None):
        """Done by the last one of a group; what it gives back is everybody's."""
        t = self.me
        at = t.calls[group] = t.calls.get(group, 0) + 1
        c = self.calls.setdefault((group, at), Call())
        c.n += 1
        c.given[t.i] = given
        if c.n == group[1]:
            c.value, c.done = f(c), True
        else:
            self.wait(lambda: c.done)
        return c.value


def together(name):
    def of(self, *args, **options):
        return self.block.call(self.block.me.group, lambda _: getattr(plain.Language, name)(self, *args, **options))

    return of


class Language(plain.Language):
    """T."""

    def launch(self, threads, *grid):
        def run(body):
            for at in self.blocks(*grid):
                self.block = Block(threads, self.r)
                self.block.run(lambda: body(at))

        return run

    for _name in ("copy", "fill", "gemm", "reduce", "scan", "transpose"):
        locals()[_name] = together(_name)

    def Parallel(self, *n, **o):
        b = self.block
        t = b.me
        at = t.calls[t.group] = t.calls.get(t.group, 0) + 1
        c = b.calls.setdefault((t.group, at), Call())
        c.n += 1
        if c.n == t.group[1]:
            yield from plain.Language.Parallel(self, *n, **o)
            c.done = True
        else:
            b.wait(lambda: c.done)

    # ---- what the threads have, and each has

    def _made(self, make):
        t, made = self.block.me, self.block.made
        t.made += 1
        if t.made not in made:
            made[t.made] = make()
        return made[t.made]

    def alloc_shared(self, shape, dtype, scope=None):
        return self._made(lambda: plain.Array(np.zeros(shape, dtype), dtype, True))

    alloc_fragment = alloc_shared

    def alloc_local(self, shape, dtype):
        return plain.Array(np.zeros(shape, dtype), dtype, True)

    def alloc_barrier(self, count):
        return self._made(lambda: [Barrier(c) for c in count] if isinstance(count, list) else Barrier(count))

    def get_thread_binding(self, dim=0):
        return self.block.me.i

    def get_lane_idx(self):
        return self.block.me.i % WARP

    def get_warp_idx(self):
        return self.block.me.i // WARP

    # ---- waiting

    def ws(self, *groups):
        """In place of `with T.ws(…)`."""
        t = self.block.me
        if t.i // 128 in groups:
            was, t.group = t.group, (("ws",) + groups, 128 * len(groups))
            yield
            t.group = was

    def sync_threads(self, name=None, count=None):
        self.block.call(("sync", self.block.n) if name is None else ("sync %d" % name, count), lambda _: None)

    def barrier_arrive(self, b):
        b.left -= 1
        if b.left == 0:
            b.left, b.phase = b.count, b.phase ^ 1

    mbarrier_arrive = barrier_arrive

    def barrier_wait(self, b, parity):
        parity = int(parity) & 1
        self.block.wait(lambda: b.phase != parity)

    mbarrier_wait_parity = barrier_wait

    def tma_copy(self, src, dst, barrier=None):
        self.copy(src, dst)

    def set_max_nreg(self, n, up):
        pass

    # ---- exchanges

    def _warp(self, v, f):
        """f of the values of the warp, by lane."""
        t = self.block.me
        n = min(WARP, self.block.n - t.i // WARP * WARP)
        all_of = self.block.call(("warp %d" % (t.i // WARP), n), lambda c: dict((i % WARP, g) for i, g in c.given.items()), v)
        return f(all_of, t.i % WARP)

    def shfl_sync(self, v, lane, width=WARP):
        return self._warp(v, lambda of, i: of[i // width * width + int(lane) % width])

    def shfl_xor(self, v, delta, width=WARP):
        def f(of, i):
            to = i ^ int(delta)
            return of[to] if to // width <= i // width else of[i]
        return self._warp(v, f)

    def shfl_up(self, v, delta, width=WARP):
        return self._warp(v, lambda of, i: of[i - int(delta)] if i % width - int(delta) >= 0 else of[i])

    def shfl_down(self, v, delta, width=WARP):
        return self._warp(v, lambda of, i: of[i + int(delta)] if i % width + int(delta) < width else of[i])

    def warp_reduce_sum(self, v):
        return self._warp(v, lambda of, i: sum(of.values()))

    def warp_reduce_max(self, v):
        return self._warp(v, lambda of, i: max(of.values()))

    def warp_reduce_min(self, v):
        return self._warp(v, lambda of, i: min(of.values()))

    def any_sync(self, v):
        return self._warp(bool(v), lambda of, i: int(any(of.values())))

    def all_sync(self, v):
        return self._warp(bool(v), lambda of, i: int(all(of.values())))

    def _count(self, v, f):
        return self.block.call(("sync", self.block.n), lambda c: f([bool(x) for x in c.given.values()]), v)

    def syncthreads_count(self, v):
        return self._count(v, sum)

    def syncthreads_and(self, v):
        return self._count(v, lambda x: int(all(x)))

    def syncthreads_or(self, v):
        return self._count(v, lambda x: int(any(x)))

    # ---- atomics of a thread

    def _atomic(self, at, v, f, return_prev):
        old = int(at.array.data[tuple(at.at)])
        at.array[tuple(at.at)] = f(old, v)
        return old if return_prev else None

    def atomic_add(self, at, v, memory_order=None, return_prev=False):
        if isinstance(v, (plain.Array, plain.Region)):
            return self.block.call(self.block.me.group, lambda _: plain.Language.atomic_add(self, at, v))
        return self._atomic(at, v, lambda a, b: a + b, return_prev)

    def atomic_max(self, at, v, memory_order=None, return_prev=False):
        return self._atomic(at, v, max, return_prev)

    def atomic_min(self, at, v, memory_order=None, return_prev=False):
        return self._atomic(at, v, min, return_prev)

    def atomic_or(self, at, v, memory_order=None):
        return self._atomic(at, v, lambda a, b: a | b, False)


LAUNCH = re.compile(r"(\s*)with T\.Kernel\((.*), threads=(\d+)\) as (.*):")


def run(text, arrays):
    """Runs main(…) of the text on arrays by name, in place."""
    kept, lines, of = {}, [], Language(random.Random(1))
    for line in text.splitlines():
        m = LAUNCH.match(line)
        if m:
            lines.append("%s@T.launch(%s, %s)" % (m[1], m[3], m[2]))
            line = "%sdef _(at):" % m[1]
            lines.append(line)
            line = "%s    %s = at" % (m[1], m[4])
        elif line.lstrip().startswith("with T.ws("):
            line = line.replace("with T.ws(", "for _ in T.ws(")
        elif line.startswith("import tilelang"):
            continue
        lines.append(line)
    of.workspace = lambda shape, dtype: plain.Array(kept.setdefault(len(kept), np.zeros(shape, dtype)), dtype, False)
    scope = {"T": of}
    exec(compile("\n".join(lines), "kernel", "exec"), scope)
    scope["kernel"]()(**{n: plain.Array(a, str(a.dtype), False) if isinstance(a, np.ndarray) else a for n, a in arrays.items()})
