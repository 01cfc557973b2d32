"""audit.py -- what fell back in the kernels of scripts: compiled for a GPU, with none here.

Usage: PYTHONPATH=build/py python3 tools/audit.py [--target T] [--limit SECONDS] FILE|FOLDER…

Each script runs in a process of its own with a torch that only knows shapes and types (none is needed
here), so that it comes to its kernels; calls of kernels give empty results.  Of each kernel that is
compiled the audit is printed (tl build --audit: errors.md, "slow"), then how many findings of each kind there are.
What scripts do with numbers is not looked at; a script that compiles nothing is told."""

import argparse
import collections
import dis
import os
import re
import subprocess
import sys
import types

TARGET = "cuda -arch=sm_90a"


# ---- a torch without numbers ---------------------------------------------------------------------


def _unpacked(frame):
    """Into how many names the statement unpacks what it has now; None if it does not."""
    here = [i for i in dis.get_instructions(frame.f_code) if i.offset == frame.f_lasti]
    return here[0].arg if here and here[0].opname == "UNPACK_SEQUENCE" else None


class Vague:
    """A value that nobody knows: it is called, indexed, compared, and gives more of its kind."""

    device, is_cuda, requires_grad = "cuda", True, False

    def __init__(self, shape=(), dtype="float32", *rest, **keys):
        self.shape, self.dtype = tuple(shape) if isinstance(shape, (tuple, list)) else (), dtype

    def __getattr__(self, name):
        if name.startswith("__") and name != "__cuda_array_interface__":
            raise AttributeError(name)
        return self

    def __call__(self, *args, **keys):
        return self

    def size(self, dim=None):
        return self.shape if dim is None else self.shape[dim]

    def dim(self):
        return len(self.shape)

    def numel(self):
        n = 1
        for extent in self.shape:
            n *= extent
        return n

    def stride(self, dim=None):
        strides = [1]
        for extent in reversed(self.shape[1:]):
            strides.insert(0, strides[0] * extent)
        return tuple(strides[:len(self.shape)]) if dim is None else strides[dim]

    def to(self, *args, **keys):
        known = [a for a in list(args) + list(keys.values()) if isinstance(a, Dtype)]
        return Vague(self.shape, known[0] if known else self.dtype)

    def view(self, *shape):
        shape = shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape
        return Vague(shape, self.dtype) if all(isinstance(n, int) and n >= 0 for n in shape) else self

    reshape = view

    def item(self):
        return 1

    def __bool__(self):
        return True

    def __len__(self):
        return self.shape[0] if self.shape else 1

    def __iter__(self):
        wanted = _unpacked(sys._getframe(1))
        return iter([Vague(self.shape[1:], self.dtype)] * (wanted or (self.shape[0] if self.shape else 1)))

    def __getitem__(self, at):
        return self

    def __setitem__(self, at, value):
        pass

    def __int__(self):
        return 1

    __index__ = __int__

    def __float__(self):
        return 1.0

    def __format__(self, how):
        return "?"

    def __enter__(self):
        return self

    def __exit__(self, *why):
        return False


def _same(self, *args):
    return self


for _op in ("add radd sub rsub mul rmul truediv rtruediv floordiv matmul pow mod neg invert lt le gt ge and or "
            "xor rshift lshift abs").split():
    setattr(Vague, "__%s__" % _op, _same)


class Dtype(str):
    """A type by torch's name, which kernels take as a word."""

    is_floating_point = True
    itemsize = 2

    def __repr__(self):
        return "torch." + self

    __str__ = __repr__


DTYPES = ("float16 bfloat16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 bool float8_e4m3fn "
          "float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz float8_e8m0fnu").split()
SAME = {"half": "float16", "float": "float32", "double": "float64", "int": "int32", "long": "int64", "short": "int16"}


def _made(*shape, dtype=None, **keys):
    shape = keys.get("size", shape[0] if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else shape)
    extents = [n for n in shape if isinstance(n, int)]
    return Vague(extents, dtype or Dtype("float32"))


def _ranged(low, high=None, size=None, *rest, dtype=None, **keys):
    size = size if size is not None else high if isinstance(high, (tuple, list)) else ()
    return Vague([n for n in size if isinstance(n, int)], dtype or Dtype("int64"))


def _like(x, *args, dtype=None, **keys):
    return Vague(getattr(x, "shape", ()), dtype or getattr(x, "dtype", Dtype("float32")))


class Context(Vague):
    """What forward leaves for backward."""

    saved_tensors = ()

    def save_for_backward(self, *tensors):
        self.saved_tensors = tensors


def _both(cls, *args):
    """An operator and, so that its kernels are seen, its gradient."""
    context = Context()
    out = cls.forward(context, *args)
    if "backward" in vars(cls):
        cls.backward(context, *(out if isinstance(out, (tuple, list)) else (out,)))
    return out


class Loose(type):
    """Of classes whose attributes nobody knows."""

    def __getattr__(cls, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if name == "apply" and "forward" in vars(cls):  # an operator with a gradient
            return lambda *args: _both(cls, *args)
        return Vague()


def _class(name):
    return Loose(name, (Vague,), {})


class Torch(types.ModuleType):
    """torch and what lies below it."""

    __path__ = ()
    __file__ = "/not/installed"
    __version__ = "2.9.0"

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        if name in DTYPES or name in SAME:
            return Dtype(SAME.get(name, name))
        if name == "dtype":
            return Dtype
        if name in ("device", "Size"):
            return _class(name)
        if name.endswith("_like"):
            return _like
        if name == "randint":
            return _ranged
        if name in ("empty", "zeros", "ones", "randn", "rand", "full", "tensor", "arange", "randperm", "eye"):
            return _made
        if name in ("is_available", "is_bf16_supported"):
            return lambda *args: True
        if name in ("is_compiling", "is_dynamo_compiling", "is_tracing", "is_scripting"):
            return lambda *args: False
        if name == "get_device_capability":
            return lambda *args: (9, 0)
        if name in ("compile", "no_grad", "inference_mode", "jit"):
            return lambda fn=None, *args, **keys: fn if callable(fn) and not isinstance(fn, Vague) else Vague()
        if name[:1].isupper():
            return _class(name)
        return Torch(self.__name__ + "." + name)

    def __call__(self, *args, **keys):
        known = [a for a in args if isinstance(a, Vague)]
        return known[0] if known else Vague()


for _op in "mul rmul neg add sub lt le gt ge".split():
    setattr(Torch, "__%s__" % _op, lambda self, *args: Vague())


class Finder:
    """torch, and what else is not installed and the scripts of this folder import beside their kernels."""

    def __init__(self, folder):
        self.folder = folder

    def asked_by_script(self):
        frame = sys._getframe(2)
        while frame and (frame.f_code.co_filename.startswith("<frozen") or "importlib" in frame.f_code.co_filename):
            frame = frame.f_back
        return frame is not None and os.path.abspath(frame.f_code.co_filename).startswith(self.folder)

    def find_spec(self, name, path=None, target=None):
        import importlib.machinery

        first = name.split(".")[0]
        if first in ("tilelang", "tvm") or first != "torch" and not isinstance(sys.modules.get(first), Torch) and (
                not self.asked_by_script()):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return Torch(spec.name)

    def exec_module(self, module):
        pass


# ---- one script ----------------------------------------------------------------------------------


def one(file, target):
    """Runs the script; the audit of each kernel goes to standard output."""
    import io
    import runpy
    import warnings

    os.environ.setdefault("TILELANG_NO_DEVICE_CODE", "1")
    os.environ["TILELANG_DEFAULT_TARGET"] = target
    warnings.simplefilter("ignore")
    folder = os.path.dirname(os.path.abspath(file))
    sys.meta_path.append(Finder(folder))
    import tilelang.profiler
    from tilelang.jit.kernel import JITKernel

    jit = sys.modules["tilelang.jit"]

    out, sys.stdout, seen, finish = sys.stdout, io.StringIO(), set(), jit._finish

    def audited(*args, **keys):
        got = finish(*args, **keys)
        text = got[0].get_audit()
        if text not in seen:
            seen.add(text)
            out.write(text)
            out.flush()
        return got

    def called(self, *args, **keys):
        made = [Vague([n for n in p.shape if isinstance(n, int)], Dtype(str(p.dtype))) for p in self.params]
        outs = [made[i] for i in self._outs or ()]
        return outs[0] if len(outs) == 1 else outs or None

    def once(fn=None, *args, **keys):
        if callable(fn):
            fn()
        return 1.0

    for module in [m for n, m in list(sys.modules.items()) if n.startswith("tilelang") and "do_bench" in vars(m)]:
        module.do_bench = once
    for name in ("do_bench", "assert_allclose", "assert_consistent", "run_once"):
        setattr(tilelang.profiler.Profiler, name, lambda self, *args, **keys: 1.0)
    jit._finish = audited
    JITKernel.__call__ = called
    sys.argv = [file]
    os.chdir(folder)
    sys.path.insert(0, os.getcwd())
    try:
        runpy.run_path(os.path.basename(file), run_name="__main__")
    except BaseException as why:  # whatever it is, what was compiled before has been printed
        if not isinstance(why, SystemExit) or why.code:
            out.write("  (stopped: %s: %s)\n" % (type(why).__name__, str(why).split("\n")[0][:160]))
    out.flush()


# ---- all of them ---------------------------------------------------------------------------------


def scripts(paths):
    for path in paths:
        if os.path.isdir(path):
            for folder, _, names in sorted(os.walk(path)):
                yield from (os.path.join(folder, n) for n in sorted(names) if n.endswith(".py"))
        else:
            yield path


def main():
    p = argparse.ArgumentParser(usage=__doc__.split("Usage: ")[1].split("\n")[0])
    p.add_argument("--target", default=TARGET)
    p.add_argument("--limit", type=float, default=120)
    p.add_argument("--one", help=argparse.SUPPRESS)
    p.add_argument("paths", nargs="*")
    o = p.parse_args()
    if o.one:
        return one(o.one, o.target)
    count, kernels, silent = collections.Counter(), 0, []
    for file in scripts(o.paths):
        words = [sys.executable, os.path.abspath(__file__), "--target", o.target, "--one", os.path.abspath(file)]
        try:
            text = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                  timeout=o.limit).stdout
        except subprocess.TimeoutExpired as why:
            text = (why.stdout or b"").decode() + "  (stopped: it ran longer than %g s)\n" % o.limit
        found = re.findall(r"^kernel ", text, re.M)
        kernels += len(found)
        count.update(re.findall(r"^  [^\s(]\S*: ((?:\[slow\] )?[^:(]+): ", text, re.M))
        silent += [] if found else [file]
        print("%s\n%s" % (file, text), end="", flush=True)
    print("%d kernel%s" % (kernels, "" if kernels == 1 else "s"))
    for kind, n in count.most_common():
        print("%6d  %s" % (n, kind))
    if silent:
        print("%d scripts compiled no kernel" % len(silent))
    return 0 if kernels else 1


if __name__ == "__main__":
    sys.exit(main())
