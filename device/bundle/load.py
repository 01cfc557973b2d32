"""@NAME@.py -- the kernel from Python: nothing is needed but this folder.  Made by tilelang @VERSION@.

    import @NAME@
    @NAME@.call(A, B, C)        # arrays of numpy, tensors of torch, whatever has __array_interface__
    print(@NAME@.check())       # what runs on this machine

Outputs are arguments like the others.  Run-time dimensions are taken from the shapes; keywords name
those that no shape tells.  Tensors on a GPU go into torch's current stream, or into stream=.
"""

import ctypes
import json
import os

NAME = "@NAME@"
_here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(_here, "manifest.json"), encoding="utf-8") as _f:
    manifest = json.load(_f)
if manifest.get("format") != 2:
    raise ImportError("%s has format %s; this file reads 2" % (_here, manifest.get("format")))
if not manifest["library"]:
    raise ImportError("%s was made without a C compiler: compile %s.c as its first lines say" % (_here, NAME))
_lib = ctypes.CDLL(os.path.join(_here, manifest["library"]))
_fn = getattr(_lib, NAME)
_error = getattr(_lib, NAME + "_error")
_error.restype = ctypes.c_char_p

_FLOATS = {"float16": 16, "bfloat16": 16, "float32": 32, "float64": 64}


def check():
    """A line for each part of the bundle: whether it runs here, and why not."""
    text = ctypes.create_string_buffer(1 << 16)
    getattr(_lib, NAME + "_check")(text, ctypes.c_size_t(len(text)))
    return text.value.decode()


class _View:
    """Address, dtype, shape and strides (in elements) of whatever holds elements."""

    def __init__(self, x, name):
        if hasattr(x, "data_ptr"):
            self.at, self.shape, self.strides = x.data_ptr(), tuple(x.shape), tuple(x.stride())
            self.dtype, self.bits = str(x.dtype).replace("torch.", ""), x.element_size() * 8
            self.gpu = x.is_cuda
            return
        about = getattr(x, "__cuda_array_interface__", None)
        self.gpu = about is not None
        about = about or getattr(x, "__array_interface__", None)
        if about is None:
            raise TypeError("%s: argument '%s' is a %s; it must be an array or a tensor"
                            % (NAME, name, type(x).__name__))
        size = int(about["typestr"][2:])
        kind = {"f": "float", "i": "int", "u": "uint", "b": "bool", "V": "bits"}.get(about["typestr"][1], "?")
        self.dtype, self.bits = "bool" if kind == "bool" else kind + str(size * 8), size * 8
        self.at, self.shape = about["data"][0], tuple(about["shape"])
        given = about.get("strides")
        self.strides = tuple(s // size for s in given) if given else _packed(self.shape)


def _packed(shape):
    strides, n = [], 1
    for d in reversed(shape):
        strides.append(n)
        n *= d
    return tuple(reversed(strides))


def _bits(dtype):
    if dtype == "bool":
        return 8
    digits = "".join(c for c in dtype.split("_")[0] if c.isdigit())
    return _FLOATS.get(dtype) or int(digits)


def _fits(view, dtype):
    """Types that Python has no word for travel as whole numbers of their width."""
    return view.dtype == dtype or (view.bits == _bits(dtype) and view.dtype.startswith(("uint", "bits")))


def _solve(name, what, got, want, known):
    """Names in `want` get their values; what the kernel computes from them is its own to check."""
    for d, (n, w) in enumerate(zip(got, want)):
        value = known.setdefault(w, n) if isinstance(w, str) and w.isidentifier() else w
        if not isinstance(value, str) and n != value:
            raise ValueError("%s: argument '%s': %s %d is %d, not %s" % (NAME, name, what, d, n, value))


def _tensor(p, x, known):
    v = _View(x, p["name"])
    if not _fits(v, p["dtype"]):
        raise TypeError("%s: argument '%s' is %s, not %s" % (NAME, p["name"], v.dtype, p["dtype"]))
    if v.gpu != manifest["stream"]:
        raise TypeError("%s: argument '%s' is %s memory, the kernel runs on the %s"
                        % (NAME, p["name"], "a GPU's" if v.gpu else "the host's",
                           "GPU" if manifest["stream"] else "CPU"))
    if len(v.shape) != len(p["shape"]):
        raise TypeError("%s: argument '%s' has %d dimensions, not %d"
                        % (NAME, p["name"], len(v.shape), len(p["shape"])))
    _solve(p["name"], "extent", v.shape, p["shape"], known)
    if p.get("strides"):
        _solve(p["name"], "stride", v.strides, p["strides"], known)
    elif any(s != c and n > 1 for s, c, n in zip(v.strides, _packed(v.shape), v.shape)):
        raise ValueError("%s: argument '%s' is not contiguous" % (NAME, p["name"]))
    return ctypes.c_void_p(v.at)


def _scalar(p, x):
    if p["dtype"].startswith(("float", "bfloat")):
        return (ctypes.c_double if p["dtype"] == "float64" else ctypes.c_float)(x)
    kind = p["dtype"].lstrip("u")
    size = {"int8": 8, "int16": 16, "int32": 32, "int64": 64, "bool": 8}[kind]
    return getattr(ctypes, "c_%sint%d" % ("u" if p["dtype"][0] == "u" else "", size))(int(x))


def _stream(args, stream):
    if stream is not None or not any(hasattr(x, "data_ptr") for x in args):
        return stream
    import torch

    return torch.cuda.current_stream().cuda_stream


def call(*args, stream=None, **dims):
    """Runs the kernel; raises RuntimeError with its sentence."""
    if len(args) != len(manifest["params"]):
        raise TypeError("%s takes %d arguments (%s), not %d" % (
            NAME, len(manifest["params"]), ", ".join(p["name"] for p in manifest["params"]), len(args)))
    known, words = dict(dims), []
    for p, x in zip(manifest["params"], args):
        words.append(_tensor(p, x, known) if "shape" in p else _scalar(p, x))
    for name in manifest["dims"]:
        if name not in known:
            raise TypeError("%s: no shape tells '%s'; give it by keyword" % (NAME, name))
        words.append(ctypes.c_int64(known[name]))
    if manifest["stream"]:
        words.append(ctypes.c_void_p(_stream(args, stream)))
    if _fn(*words) != 0:
        raise RuntimeError("%s: %s" % (NAME, _error().decode()))


def _untold():
    """Run-time dimensions that are no extent or stride of a tensor by themselves."""
    told = [w for p in manifest["params"] for w in (*p.get("shape", ()), *(p.get("strides") or ()))]
    return [n for n in manifest["dims"] if n not in told]


def _schema():
    """The arguments of the operator; dimensions that no shape tells come last."""
    words = []
    for p in manifest["params"]:
        kind = "Tensor" if "shape" in p else "float" if "float" in p["dtype"] else "int"
        if p.get("written"):
            kind = "Tensor(%s!)" % chr(97 + len([w for w in words if "!" in w]))
        words.append("%s %s" % (kind, p["name"]))
    return "(%s) -> ()" % ", ".join(words + ["int " + n for n in _untold()])


def register(namespace="tilelang"):
    """An operator of torch, torch.ops.NAMESPACE.NAME: it writes its outputs in place, and
    torch.compile and torch.export take it as it is."""
    import torch

    def run(*args):
        n = len(manifest["params"])
        call(*args[:n], **dict(zip(_untold(), args[n:])))

    full = "%s::%s" % (namespace, NAME)
    torch.library.define(full, _schema())
    torch.library.impl(full, "CUDA" if manifest["stream"] else "CPU")(run)
    torch.library.register_fake(full)(lambda *a: None)
    return getattr(getattr(torch.ops, namespace), NAME)


_SCALARS = {"float16": "Half", "bfloat16": "BFloat16", "float32": "Float", "float64": "Double", "int8": "Char",
            "uint8": "Byte", "int16": "Short", "int32": "Int", "int64": "Long", "bool": "Bool",
            "float8_e4m3": "Float8_e4m3fn", "float8_e4m3fn": "Float8_e4m3fn", "float8_e5m2": "Float8_e5m2"}


def _checks(p, known):
    """Lines of C++ that hold a tensor to its declaration and find run-time dimensions."""
    name, lines = p["name"], []

    def need(cond, text):
        lines.append('    TORCH_CHECK(%s, "%s: argument \'%s\' %s");' % (cond, NAME, name, text))

    if p["dtype"] in _SCALARS:
        need("%s.scalar_type() == at::ScalarType::%s" % (name, _SCALARS[p["dtype"]]), "is not " + p["dtype"])
    else:
        need("%s.element_size() == %d" % (name, _bits(p["dtype"]) // 8), "has elements of another size")
    need("%s.dim() == %d" % (name, len(p["shape"])), "has not %d dimensions" % len(p["shape"]))
    for what, want in (("size", p["shape"]), ("stride", p.get("strides") or ())):
        for d, w in enumerate(want):
            got = "%s.%s(%d)" % (name, what, d)
            if isinstance(w, str) and w.isidentifier() and w not in known:
                known.add(w)
                lines.append("    const int64_t %s = %s;" % (w, got))
            elif not isinstance(w, str) or w.isidentifier():
                need("%s == %s" % (got, w), "%s %d is not %s" % (what, d, w))
    if not p.get("strides"):
        need(name + ".is_contiguous()", "is not contiguous")
    need("%s.is_%s()" % (name, "cuda" if manifest["stream"] else "cpu"), "is in other memory than the kernel's")
    return lines


def torch_source(namespace="tilelang"):
    """C++ that makes the kernel an operator of torch, for programs without Python: what AOTInductor
    made of a model that calls it needs the operator when it runs."""
    takes, lines, gives, known = [], [], [], set()
    for p in manifest["params"]:
        if "shape" in p:
            takes.append("const at::Tensor &" + p["name"])
            lines += _checks(p, known)
            gives.append("Address{%s.data_ptr()}" % p["name"])
        else:
            takes.append(("double " if "float" in p["dtype"] else "int64_t ") + p["name"])
            gives.append(p["name"])
    takes += ["int64_t " + n for n in _untold()]
    gives += manifest["dims"] + ["c10::cuda::getCurrentCUDAStream().stream()"] * manifest["stream"]
    return """// %(name)s as an operator of torch; made by tilelang @VERSION@.
#include <ATen/ATen.h>
#include <torch/library.h>
%(stream)s#include "%(name)s.h"

namespace {

struct Address {
    void *at;
    template <class T> operator T *() const { return static_cast<T *>(at); }
};

void run(%(takes)s)
{
%(lines)s
    TORCH_CHECK(::%(name)s(%(gives)s) == 0, "%(name)s: ", ::%(name)s_error());
}

void nothing(%(types)s) {}

} // namespace

TORCH_LIBRARY_FRAGMENT(%(space)s, m)
{
    m.def("%(name)s%(schema)s");
}

TORCH_LIBRARY_IMPL(%(space)s, %(key)s, m)
{
    m.impl("%(name)s", &run);
}

TORCH_LIBRARY_IMPL(%(space)s, Meta, m)
{
    m.impl("%(name)s", &nothing);
}
""" % dict(name=NAME, space=namespace, schema=_schema(), key="CUDA" if manifest["stream"] else "CPU",
           stream="#include <c10/cuda/CUDAStream.h>\n" * manifest["stream"], takes=", ".join(takes),
           types=", ".join(t.split("&")[0] + "&" if "&" in t else t.split()[0] for t in takes),
           lines="\n".join(lines), gives=", ".join(gives))


def torch_library(folder, namespace="tilelang"):
    """Compiles torch_source() with $CXX into FOLDER/libNAME_torch.so, which torch.ops.load_library and
    dlopen take; it finds the kernel's own library where that lies now."""
    import shlex
    import subprocess

    import torch
    from torch.utils import cpp_extension

    text, out = (os.path.join(folder, n % NAME) for n in ("%s_torch.cpp", "lib%s_torch.so"))
    with open(text, "w", encoding="utf-8") as f:
        f.write(torch_source(namespace))
    device = "cuda" if manifest["stream"] else "cpu"
    words = [
        "-O2", "-shared", "-fPIC", "-D_GLIBCXX_USE_CXX11_ABI=%d" % torch.compiled_with_cxx11_abi(),
        "-I" + _here, text, "-o", out, os.path.join(_here, manifest["library"]), "-Wl,-rpath," + _here]
    words += ["-I" + d for d in cpp_extension.include_paths(device)]
    words += ["-L" + d for d in cpp_extension.library_paths(device)] + ["-ltorch", "-ltorch_cpu", "-lc10"]
    words += ["-ltorch_cuda", "-lc10_cuda"] * manifest["stream"]
    for standard in ("c++20", "c++17"):  # later headers of torch want the one, older compilers have the other
        done = subprocess.run([*shlex.split(os.environ.get("CXX", "c++")), "-std=" + standard, *words], capture_output=True, text=True)
        if done.returncode == 0:
            break
    else:
        raise RuntimeError("%s: the operator does not compile: %s" % (NAME, done.stderr.strip()[-2000:]))
    return out
