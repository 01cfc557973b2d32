"""Configurations are tried in a process of their own: one that crashes, hangs or leaves the GPU in
an error takes that process, and the next configuration gets a new one.

Parent and child speak in pickles with their length before them, over two pipes.  A kernel travels
as its IR; the child lowers it again, and takes the machine code from the kernel cache."""

import os
import pickle
import select
import struct
import subprocess
import sys
import time
import warnings


class Died(RuntimeError):
    """The child ended, or did not answer in time."""


def _send(fd, thing):
    data = pickle.dumps(thing)
    data = struct.pack("<Q", len(data)) + data
    while data:
        data = data[os.write(fd, data):]


def _receive(fd, n, until):
    parts = b""
    while len(parts) < n:
        if until is not None:
            left = until - time.monotonic()
            if left <= 0 or not select.select([fd], [], [], left)[0]:
                raise Died("it took longer than its limit")
        got = os.read(fd, min(n - len(parts), 1 << 20))
        if not got:
            raise Died("its process ended")
        parts += got
    return parts


def _message(fd, until=None):
    n, = struct.unpack("<Q", _receive(fd, 8, until))
    return pickle.loads(_receive(fd, n, until))


# ---- the parent's side ----------------------------------------------------------------------------


class Trials:
    """One child at a time, started when it is needed and again after it died."""

    START = 120  # seconds: importing torch from a cold disk

    def __init__(self, inputs=None):
        self._inputs = inputs
        self._child = None

    def _start(self):
        theirs, ours = os.pipe(), os.pipe()
        # Ctrl-C goes to the parent as well, which ends the child.
        code = ("import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); "
                "from tilelang.autotuner.trial import serve; serve(%d, %d)" % (theirs[0], ours[1]))
        env = dict(os.environ, PYTHONPATH=os.pathsep.join(p for p in sys.path if p))
        try:
            self._child = subprocess.Popen([sys.executable, "-c", code], env=env,
                                           pass_fds=(theirs[0], ours[1]),
                                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        except OSError:
            os.close(theirs[1])
            os.close(ours[0])
            raise
        finally:
            os.close(theirs[0])
            os.close(ours[1])
        self._to, self._from = theirs[1], ours[0]
        _send(self._to, {"torch": "torch" in sys.modules, "inputs": _packed(self._inputs)})
        answer = _message(self._from, time.monotonic() + self.START)
        if answer != "ready":
            raise Died(str(answer))

    def start(self):
        """Before the first question, to import while the parent compiles."""
        try:
            self._start()
            return True
        except Exception as why:
            self.close()
            warnings.warn("no process for trials could be started (%s): configurations are tried in "
                          "this one, which ends with a configuration that crashes" % why,
                          RuntimeWarning, stacklevel=2)
            return False

    def started(self):
        return self._child is not None

    def time(self, kernel, told, limit):
        """Milliseconds; raises Died, or RuntimeError with what the child said."""
        return self.ask({"kernel": kernel._recipe, "told": told}, limit)

    def ask(self, request, limit):
        try:
            if self._child is None:
                self._start()
            _send(self._to, request)
            ms, why = _message(self._from, time.monotonic() + limit)
        except (OSError, EOFError, pickle.UnpicklingError, Died) as e:
            self.close()
            raise Died("the configuration was given up: %s" % e) from None
        if why is not None:
            # The GPU may be in an error that stays with the process.
            self.close()
            raise RuntimeError(why)
        return ms

    def close(self):
        child, self._child = self._child, None
        if child is None:
            return
        child.kill()
        child.wait()
        os.close(self._to)
        os.close(self._from)


def _packed(inputs):
    """Tensors of torch as bytes with dtype and shape; what is on a GPU comes back on one."""
    if inputs is None:
        return None
    torch = sys.modules.get("torch")
    out = []
    for x in inputs:
        if torch is not None and isinstance(x, torch.Tensor):
            import io

            f = io.BytesIO()
            torch.save(x.detach().cpu(), f)
            out.append(("torch", f.getvalue(), str(x.device)))
        else:
            out.append(("plain", x, None))
    return out


def _unpacked(inputs):
    if inputs is None:
        return None
    out = []
    for kind, x, device in inputs:
        if kind == "torch":
            import io
            import torch

            x = torch.load(io.BytesIO(x), weights_only=True).to(device)
        out.append(x)
    return out


# ---- the child's side -----------------------------------------------------------------------------

MEASURED_MS = 400  # of runs tell the time of one, however many were asked for


def measure(run, told):
    """Milliseconds of run().  A few runs decide whether it may be the best, and how many follow."""
    from ..profiler import do_bench

    by = told["backend"]
    each = do_bench(run, n_warmup=1, n_repeat=3, early_stop_baseline=told["limit"], backend=by)
    if told["limit"] and each > told["limit"]:
        return each
    n = max(3, int(min(told["rep"], MEASURED_MS / max(each, 1e-3))))
    return do_bench(run, n_warmup=max(1, int(min(told["warmup"], n))), n_repeat=n, backend=by)


def made_inputs(kernel, told, kept):
    """Inputs for a kernel; cache_input_tensors=True has those of the same shapes again."""
    from ..profiler import Profiler

    key = repr(kernel.params)
    if not told["keep"] or key not in kept:
        kept[key] = Profiler(kernel, told["supply_type"])._get_inputs()
    return kept[key] if told["keep"] else kept.pop(key)


def _once(request, inputs, kept):
    from .. import _core
    from ..jit import JITKernel

    recipe, told = request["kernel"], request["told"]
    trace = _core.read(recipe["ir"], recipe["told"])
    core = trace.compile(recipe["told"], **recipe["options"])
    kernel = JITKernel._bare(core)
    if told is None:  # only to be built
        return kernel.resource_usage
    args = inputs
    if args is None:
        args = made_inputs(kernel, told, kept)
    if request.get("reference"):
        _compare(request["reference"], kernel, args, kept)
    if told.get("runs"):
        return _samples(lambda: kernel(*args), told)
    return measure(lambda: kernel(*args), told)


class Wrong(RuntimeError):
    """Its results are not those of another configuration."""


def _compare(recipe, kernel, args, kept):
    """With what the configuration that was right first gives for the same inputs.  A kernel that
    has no outputs of its own is not compared: it has changed what it was given."""
    from .. import _core
    from ..jit import JITKernel
    from ..utils.tensor import torch_assert_close

    if not kernel._outs:
        return
    key = "results"
    if kept.get(key, (None,))[0] != repr(kernel.params):
        core = _core.read(recipe["ir"], recipe["told"]).compile(recipe["told"], **recipe["options"])
        other = JITKernel._bare(core)(*args)
        kept[key] = repr(kernel.params), other if isinstance(other, (list, tuple)) else [other]
    got = kernel(*args)
    for i, a, b in zip(kernel._outs, got if isinstance(got, (list, tuple)) else [got], kept[key][1]):
        near = 4 * kernel._core.tolerance(str(kernel.params[i].dtype))
        try:
            torch_assert_close(a, b, rtol=near, atol=near, max_mismatched_ratio=0.001)
        except Exception as why:
            raise Wrong(str(why).splitlines()[0]) from None


def _samples(run, told):
    """Milliseconds of each of some runs; few where the first ones are hopeless."""
    from ..profiler import do_bench

    each = do_bench(run, n_warmup=1, n_repeat=2, early_stop_baseline=told["limit"],
                    return_mode="min", backend=told["backend"])
    if told["limit"] and each > told["limit"]:
        return [each]
    n = max(2, min(told["runs"], int(MEASURED_MS / max(each, 1e-3))))
    return do_bench(run, n_warmup=max(1, n // 4), n_repeat=n, backend=told["backend"],
                    quantiles=[(i + 0.5) / n for i in range(n)])


class Tied:
    """In the block this process ends with its parent, also one that was killed, and whatever it is doing:
    the end of the parent's side of the pipe is a signal, whose default is to end the process."""

    def __init__(self, fd):
        import fcntl
        import signal

        self.fd, self.fcntl = fd, fcntl
        signal.signal(signal.SIGIO, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGIO])
        fcntl.fcntl(fd, fcntl.F_SETOWN, os.getpid())
        self.plain = fcntl.fcntl(fd, fcntl.F_GETFL)

    def __enter__(self):
        self.fcntl.fcntl(self.fd, self.fcntl.F_SETFL, self.plain | os.O_ASYNC)
        if select.select([self.fd], [], [], 0)[0]:  # it ended before, as it says nothing while one works
            os._exit(1)

    def __exit__(self, *why):
        self.fcntl.fcntl(self.fd, self.fcntl.F_SETFL, self.plain)


def serve(requests, answers):
    """Answer until the parent closes its pipe."""
    try:
        tied = Tied(requests)
        hello = _message(requests)
        if hello["torch"]:
            import torch  # noqa: F401
        inputs, kept = _unpacked(hello["inputs"]), {}
        _send(answers, "ready")
        while True:
            request = _message(requests)
            try:
                with tied:
                    answer = _once(request, inputs, kept), None
            except Exception as why:
                answer = None, "%s: %s" % (type(why).__name__, why)
            _send(answers, answer)
    except (Died, OSError):
        pass
    os._exit(0)
