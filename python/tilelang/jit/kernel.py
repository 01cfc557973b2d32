"""JITKernel: a compiled kernel."""

import json
import os
import sys
import weakref

from .._errors import refused
from ..language import KernelParam, dtype


def like(x, shape, name):
    """An uninitialised array of the same kind and place as x; elements under a byte are packed."""
    shape = _stored(shape, name)
    torch = sys.modules.get("torch")
    if torch is not None and (x is None or isinstance(x, torch.Tensor)):
        device = x.device if x is not None else "cuda" if torch.cuda.is_available() else "cpu"
        return torch.empty(shape, dtype=dtype(name).as_torch(), device=device)
    if of_jax(x) and hasattr(x, "__cuda_array_interface__") and torch is not None:
        return torch.empty(shape, dtype=dtype(name).as_torch(), device="cuda")  # given to JAX later
    if hasattr(x, "__cuda_array_interface__") and "cupy" in sys.modules:
        return sys.modules["cupy"].empty(shape, dtype(name).as_numpy())
    import numpy

    return numpy.empty(shape, dtype(name).as_numpy())


def of_jax(x):
    return "jax" in sys.modules and type(x).__module__.startswith("jax")


def to_jax(x):
    """An output for a caller who gave arrays of JAX: what he gets never changes again."""
    import jax

    return jax.dlpack.from_dlpack(x) if hasattr(x, "is_cuda") else jax.numpy.asarray(x)


def _stored(shape, name):
    bits = dtype(name).bits
    if bits < 8 and name != "bool" and shape:
        return shape[:-1] + (-(-shape[-1] * bits // 8),)
    return shape


def _row_major(shape):
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(step)
        step *= max(n, 1)
    return tuple(reversed(strides))


def _tracing():
    """Whether torch.compile reads this; torch's own function once a kernel has met torch."""
    compiler = getattr(sys.modules.get("torch"), "compiler", None)
    return compiler is not None and compiler.is_dynamo_compiling()


def _compiling():
    """Or torch.export runs it."""
    return False


def constant(fn):
    """torch.compile calls the function while it looks, and takes what it gives as a constant; the
    mark is what torch.compiler.assume_constant_result makes, and torch need not be there yet."""
    fn._dynamo_marked_constant = True
    return fn


def op_text(kernel):
    """The operator of a kernel, and how many outputs it has."""
    if kernel.as_torch_op() is None:
        raise RuntimeError("%r is no operator of torch" % kernel)
    return "%s %d %d" % (kernel._op_name, len(kernel._outs), kernel._backward is not None)


def meet_torch():
    """torch.compiler, if torch is there and is new enough."""
    global _tracing, _compiling
    compiler = getattr(sys.modules.get("torch"), "compiler", None)
    _compiling = getattr(compiler, "is_compiling", _compiling)
    _tracing = getattr(compiler, "is_dynamo_compiling", _compiling)
    return compiler


def tracing():
    """Whether torch.compile reads the caller."""
    return _tracing()


def _cuobjdump():
    import importlib.util
    import shutil

    places = [os.path.join(os.environ[v], "bin") for v in ("CUDA_HOME", "CUDA_PATH")
              if os.environ.get(v)] + ["/usr/local/cuda/bin"]
    triton = importlib.util.find_spec("triton")
    if triton is not None and triton.origin:
        places.append(os.path.join(os.path.dirname(triton.origin), "backends", "nvidia", "bin"))
    return shutil.which("cuobjdump") or shutil.which("cuobjdump", path=os.pathsep.join(places))


def _dispatched(args):
    """Whether there are tensors without memory that torch has rules for: fake ones, and those of
    torch.func."""
    torch = sys.modules["torch"]
    plain = torch._C._disabled_torch_dispatch_impl
    wrapped = getattr(getattr(torch._C, "_functorch", None), "is_functorch_wrapped_tensor", None)
    for x in args:
        if isinstance(x, torch.Tensor) and (
                getattr(type(x), "__torch_dispatch__", plain) is not plain
                or wrapped is not None and wrapped(x)):
            return True
    return False


def _asked_by(kernel):
    """op_text of one kernel, without arguments: older versions of torch take numbers only."""
    own = weakref.ref(kernel)
    return constant(lambda: op_text(own()))


class OpInGraph:
    """A kernel while torch.compile looks: the name of its operator and how many outputs it has."""

    def __init__(self, text):
        self.name, outs, backward = text.split()
        self.outs, self.backward = int(outs), int(backward)

    def __call__(self, *args):
        torch = sys.modules["torch"]
        if self.backward:
            got = getattr(torch.ops.tilelang, self.name)(*args)
        else:
            with torch.no_grad():
                got = getattr(torch.ops.tilelang, self.name)(*args)
        return list(got) if self.outs > 1 else got if self.outs else None


class Executable:
    """A kernel for the CPU as a shared library with a C function of its name; one for a GPU as the
    code that a driver loads."""

    def __init__(self, kernel):
        self.kernel = kernel

    def jit(self):
        """Itself: the kernel is compiled."""
        return self

    def get_function(self, name, query_imports=False):
        """The kernel by its name; query_imports: there are no imported modules to look in."""
        if query_imports:
            raise NotImplementedError("query_imports=True: a kernel imports no modules")
        own = getattr(self.kernel.prim_func, "__name__", None)
        if name == own:
            return self.kernel
        raise AttributeError("there is no function %r here; there is %r" % (name, own))

    def export_library(self, path, levels=None, **options):
        """levels: of CPUs, as `tl build --levels` has them."""
        if options:
            raise TypeError("export_library has no option %r" % sorted(options)[0])
        import shutil
        import tempfile

        cubin = self.kernel._core.cubin()
        if cubin:
            with open(path, "wb") as f:
                f.write(cubin)
            return
        with tempfile.TemporaryDirectory() as folder:
            self.kernel._core.bundle(folder, levels)
            made = next(n for n in sorted(os.listdir(folder)) if n.endswith(".so"))
            shutil.copyfile(os.path.join(folder, made), path)


def _in_order(out_idx, outs, n):
    """Outputs come in the order they were named in."""
    named = [int(i) % n for i in (out_idx if isinstance(out_idx, (list, tuple)) else [out_idx])]
    named = list(dict.fromkeys(named))
    return named if sorted(named) == sorted(outs) else outs


class Profile:
    """What JITKernel.profile found: print it, save it, compare it with one that was saved."""

    def __init__(self, trace, svg, table):
        self.trace, self.svg, self.table = trace, svg, table

    def __str__(self):
        return self.table

    @property
    def lines(self):
        """{line: {"copy": …, "matrix": …, "wait": …, "compute": …}}, in `unit`."""
        return {x.pop("line"): x for x in json.loads(self.trace)["tilelang"]["lines"]}

    @property
    def roles(self):
        """The same of one warp or thread of each role: {"producer": {…}, "consumer": {…}}."""
        works = ("copy", "matrix", "wait", "compute")
        return {x["role"]: {w: x[w] for w in works} for x in json.loads(self.trace)["tilelang"]["roles"]}

    @property
    def unit(self):
        return json.loads(self.trace)["tilelang"]["unit"]

    def save(self, path):
        """For chrome://tracing, ui.perfetto.dev, and `tl profile --against`."""
        with open(path, "w") as f:
            f.write(self.trace)

    def against(self, other):
        """{line: how much longer than in `other`, a Profile or the path of a saved one}"""
        if not isinstance(other, Profile):
            with open(other) as f:
                other = Profile(f.read(), "", "")
        now, then = ({n: sum(x.values()) for n, x in p.lines.items()} for p in (self, other))
        return {n: now.get(n, 0) - then.get(n, 0) for n in sorted(now.keys() | then.keys())}


class JITKernel:
    """Call it with its inputs; outputs named by out_idx are made and returned."""

    latency = config = ref_latency = None
    dynamic_symbolic_map = None
    _recipe = None  # to make it again in another process, while tuning
    _op = None
    _quick = None  # makes the outputs with torch, and runs
    _backward = None  # where its gradients come from

    def __init__(self, func=None, out_idx=None, target=None, target_host=None,
                 execution_backend=None, verbose=False, pass_configs=None, compile_flags=None,
                 from_database=False):
        from . import compile as build

        if from_database:
            raise ValueError("from_database=True: kernels out of a database are made by "
                             "JITKernel.from_database")
        made = build(func, out_idx, execution_backend, target, target_host, verbose, pass_configs,
                     compile_flags)
        self.__dict__.update(made.__dict__)
        self._ask, self._op, self._quick = _asked_by(self), None, None

    @classmethod
    def from_tilelang_function(cls, tilelang_func, **options):
        """The same as JITKernel(func, …)."""
        return cls(tilelang_func, **options)

    @classmethod
    def _made(cls, core, func, target, out_idx, pass_configs, compile_flags):
        k = cls._bare(core)
        named = {p[0]: p[2] for p in getattr(func, "_params", ()) if p[2] is not None}
        for p in k.params:  # run-time extents by their names
            if None in p.shape and len(named.get(p.name, ())) == len(p.shape):
                p.shape = list(named[p.name])
        k.prim_func = k.func = func.told(out_idx) if out_idx is not None else func
        k.target = target
        k.execution_backend = "tvm_ffi"
        k.pass_configs = pass_configs
        k.compile_flags = compile_flags
        if out_idx is not None:
            k.out_idx = out_idx
            k._outs = _in_order(out_idx, k._outs, len(k.params))
        if "torch" in sys.modules:  # operators are made when they are asked for: torch keeps them
            meet_torch()
        return k

    @classmethod
    def _bare(cls, core):
        """A kernel whose function is not known."""
        k = object.__new__(cls)
        k._core = core
        k._run = core.run
        k._ask = _asked_by(k)
        k.prim_func = k.func = None
        rows = core.params()
        k.params = [KernelParam(n, d, None if scalar else [None if s < 0 else s for s in shape],
                                out) for n, d, shape, scalar, out, _, _ in rows]
        k._outs = [i for i, p in enumerate(k.params) if p.is_output]
        k.out_idx = k._outs or None
        k._ins = [i for i, p in enumerate(k.params) if not p.is_output]
        k._dynamic = any(None in p.shape for p in k.params if p.is_output)
        for i in k._outs:
            if k.params[i].shape is None:
                raise ValueError("the output %r has no dimensions" % k.params[i].name)
        return k

    @property
    def name(self):
        return self._core.text("name")

    # ---- calling

    def _arguments(self, args, keys):
        """All arguments in order, outputs made."""
        if keys:
            args = self._by_name(args, keys)
        if len(args) != len(self._ins):
            raise refused(ValueError, "Kernel expected %d inputs, but %d are provided. [argument-count]"
                          % (len(self._ins), len(args)))
        if not self._outs:
            return args
        full = [None] * len(self.params)
        for i, x in zip(self._ins, args):
            full[i] = x
        first = next((x for x in args if hasattr(x, "shape")), None)
        shapes = self._core.shapes(*full) if self._dynamic else None
        for i in self._outs:
            p = self.params[i]
            full[i] = like(first, tuple(shapes[i]) if shapes else tuple(p.shape), str(p.dtype))
        return full

    def _by_name(self, args, keys):
        names = [self.params[i].name for i in self._ins]
        full = list(args)
        for name in keys:
            if name in names[:len(args)]:
                raise refused(TypeError, "the argument %r is given twice, by place and by name [argument-name]" % name)
            if name not in names and name not in ("stream", "skip_tensor_validation"):
                raise refused(TypeError, "the kernel has no argument called %r; it takes %s [argument-name]"
                              % (name, ", ".join(names) or "none"))
        for name in names[len(args):]:
            if name not in keys:
                raise refused(TypeError, "the kernel needs an argument called %r [argument-count]" % name)
            full.append(keys[name])
        return full

    def _in_stream(self, stream, args):
        """A launch goes into torch's current stream, so that is what `stream` becomes meanwhile."""
        torch = sys.modules.get("torch")
        if torch is None or not torch.cuda.is_available():
            raise refused(ValueError, "a stream needs torch and a GPU [argument-type]")
        at = getattr(stream, "cuda_stream", stream)
        if not isinstance(at, int):
            raise refused(TypeError, "a stream is a number or a torch.cuda.Stream, not %s [argument-type]"
                          % type(stream).__name__)
        with torch.cuda.stream(torch.cuda.ExternalStream(at) if at else torch.cuda.default_stream()):
            return self(*args)

    def __call__(self, *args, **keys):
        if _tracing():
            return self._torch_op(self._by_name(args, keys) if keys else args)
        if keys:
            args = self._by_name(args, keys)
            if keys.get("stream", -1) not in (None, -1):
                return self._in_stream(keys["stream"], args)
        if self._backward is not None and self._wants_gradient(args):
            return self._torch_op(args)
        try:
            if self._outs:
                if self._quick is None:
                    return self._with_outputs(*args)
                return self._quick(self, *args)
            return self._run(*args)
        except Exception:
            if "torch" not in sys.modules or not (_compiling() or _dispatched(args)) or \
                    self.as_torch_op() is None:
                raise
        return self._torch_op(args)

    def _with_outputs(self, *args):
        full = self._arguments(args, {})
        self._run(*full)
        outs = self._outs
        if self._quick is None and not self._dynamic and "torch" in sys.modules:
            meet_torch()
            self._quick = self._quick_call()
        made = [full[i] for i in outs]
        if any(map(of_jax, args)):
            made = [to_jax(x) for x in made]
        return made[0] if len(outs) == 1 else made

    def _quick_call(self):
        """A call with torch's tensors and outputs of fixed shapes; all else is worked out before."""
        torch = sys.modules["torch"]
        empty, kind, run, n = torch.empty_strided, torch.Tensor, self._run, len(self._ins)
        tensors = [k for k, i in enumerate(self._ins) if not self.params[i].is_scalar()]
        outs = []
        for i, p in enumerate(self.params):
            if p.is_output:
                shape = _stored(tuple(p.shape), str(p.dtype))
                outs.append((i, shape, _row_major(shape), p.torch_dtype()))
        if not tensors:
            return JITKernel._with_outputs
        first = tensors[0]
        at, only, by, of = outs[0]

        def one(self, *args):
            if len(args) != n or not isinstance(args[first], kind):
                return self._with_outputs(*args)
            out = empty(only, by, dtype=of, device=args[first].device)
            run(*args[:at], out, *args[at:])
            return out

        def last(self, *args):
            if len(args) != n or not isinstance(args[first], kind):
                return self._with_outputs(*args)
            out = empty(only, by, dtype=of, device=args[first].device)
            run(*args, out)
            return out

        order = [[row[0] for row in outs].index(i) for i in self._outs]

        def many(self, *args):
            if len(args) != n or not isinstance(args[first], kind):
                return self._with_outputs(*args)
            device, full, made = args[first].device, list(args), []
            for i, shape, strides, t in outs:
                made.append(empty(shape, strides, dtype=t, device=device))
                full.insert(i, made[-1])
            run(*full)
            return [made[k] for k in order]

        return many if len(outs) > 1 else last if at == n else one

    def as_torch_op(self, name=None):
        """A custom operator of torch with a fake implementation, which torch.compile keeps whole:
        torch.ops.tilelang.NAME.  Calls of the kernel inside of torch.compile use it."""
        if self._op is None:
            from .torch_op import register

            try:
                self._op = register(self, name)
                self._op_name = str(self._op).split(".")[-1]
            except Exception as why:  # an older torch: torch.compile then breaks its graph here
                from .._log import logger

                logger.info("%s is no operator of torch: %s", self.name, why)
            meet_torch()
        return self._op

    def register_autograd(self, backward):
        """Make calls differentiable.  backward: a kernel whose parameters are told by their names,
        among the inputs and outputs of this one and gradients (dX, grad_X, X_grad) of its outputs;
        its own outputs are gradients of inputs.  Or a function with such parameters that gives one
        gradient, or None, for each input.  Returns the kernel."""
        from .torch_op import differentiable, wants_gradient

        self._backward = differentiable(self, backward)
        self._wants_gradient = wants_gradient
        return self

    @property
    def _named(self):
        """Shapes with the names of run-time extents, by parameter."""
        by_name = {p.name: p.shape for p in getattr(self.prim_func, "params", ())}
        return [by_name.get(p.name, p.shape) for p in self.params]

    def _torch_op(self, args):
        """Inside of torch.compile, or where there are gradients; as in a plain call, autograd does
        not look at kernels that have none."""
        return OpInGraph(self._ask())(*args)

    @property
    def torch_function(self):
        return self

    # ---- looking

    def get_kernel_source(self, kernel_only=True):
        """What the target's compiler gets; with kernel_only=False also the host's part."""
        text = self._core.text("source")
        return text if kernel_only else text + "\n" + self.get_host_source()

    def get_host_source(self):
        """C declarations a caller needs."""
        return self._core.text("header")

    kernel_source = property(lambda self: self.get_kernel_source())
    host_source = property(get_host_source)

    def show_source(self, which="kernel"):
        if which not in ("kernel", "host", "both"):
            raise ValueError("which is kernel, host or both, not %r" % (which,))
        if which in ("kernel", "both"):
            print(self.get_kernel_source())
        if which in ("host", "both"):
            print(self.get_host_source())

    print_source_code = show_source

    def export_sources(self, kernel_path=None, host_path=None):
        for path, text in ((kernel_path, self.kernel_source), (host_path, self.host_source)):
            if path:
                with open(path, "w") as f:
                    f.write(text)

    def get_ir(self):
        return self._core.text("ir")

    def get_plans(self):
        return self._core.text("plans")

    def get_audit(self):
        """Where the kernel got less than its target has, by line, and why."""
        return self._core.text("audit")

    def get_warnings(self):
        return self._core.text("warnings")

    def profile(self, *args):
        """What its threads or warps spend their time on; `args` are as in a call, or all its tensors, outputs
        among them.

        On a CPU the kernel runs for a while, compiled once more with lines of its file.  A kernel for a
        GPU runs in the simulator, and a model of latencies that is of no machine says how long things
        take; one whose target has -profile runs on the GPU."""
        words = str(self.target).split()
        if len(args) != len(self.params):
            args = tuple(self._arguments(args, {}))
        if "-profile" in words:
            return Profile(*self._core.profile(args, True))
        if words[0] not in ("cpu", "c", "llvm"):
            return Profile(*self._core.profile(args, False))
        from . import compile as build

        if self.func is None:
            raise ValueError("a kernel that was loaded has no lines to profile: compile it here [not-profiled]")
        configs = dict(self.pass_configs or {}, **{"tl.emit_line_directives": True, "tirx.enable_debug": True})
        made = build(self.func, target=self.target, pass_configs=configs, compile_flags=self.compile_flags)
        return Profile(*made._core.profile(args, True))

    def get_layout(self, buffer, svg=False):
        return self._core.layout(buffer, svg)

    def get_ptx(self):
        text = self._core.text("ptx")
        if not text:
            raise RuntimeError("there is no PTX: the kernel is for %s" % self.target)
        return text

    def show_ptx(self):
        print(self.get_ptx())

    def export_ptx(self, path):
        with open(path, "w") as f:
            f.write(self.get_ptx())

    def get_sass(self):
        import subprocess
        import tempfile

        cubin, tool = self._core.cubin(), _cuobjdump()
        if not cubin:
            raise RuntimeError("there is no SASS: the kernel is for %s" % self.target)
        if not tool:
            raise RuntimeError("SASS needs cuobjdump, in PATH, $CUDA_HOME/bin or with Triton")
        with tempfile.NamedTemporaryFile(suffix=".cubin") as f:
            f.write(cubin)
            f.flush()
            return subprocess.run([tool, "-sass", f.name], capture_output=True, text=True,
                                  check=True).stdout

    def show_sass(self):
        print(self.get_sass())

    def export_sass(self, path):
        with open(path, "w") as f:
            f.write(self.get_sass())

    def export_library(self, path):
        """A folder with C text, header, shared object and manifest: see doc/bundles.md."""
        self._core.bundle(str(path))

    def get_exportable_executable(self):
        """What export_library(path) of makes a shared library of."""
        return Executable(self)

    @classmethod
    def from_database(cls, func=None, params=None, backend_context=None, out_idx=None,
                      pass_configs=None, compile_flags=None, host_kernel_source=None,
                      device_kernel_source=None, kernel_lib_path=None):
        """A kernel out of a folder of tilelang.cached: its IR is lowered again, its code comes from
        the library's cache.  What is said of its parameters and sources must be true of it."""
        import json

        from .. import _core

        def meet(name, said, has):
            if said is not None and said != has:
                raise ValueError("from_database: the kernel has another %r" % name)

        try:
            with open(os.path.join(os.path.dirname(kernel_lib_path), "recipe.json")) as f:
                recipe = json.load(f)
        except (OSError, ValueError):
            return None
        core = _core.read(recipe["ir"], recipe["told"]).compile(recipe["told"],
                                                                **recipe["options"])
        kernel = cls._bare(core)
        kernel.prim_func = kernel.func = func
        kernel.target = backend_context.target if backend_context else recipe["told"]
        kernel.execution_backend = "tvm_ffi"
        kernel.pass_configs, kernel.compile_flags = pass_configs, compile_flags
        if out_idx is not None:
            kernel.out_idx = out_idx
        meet("params", params and [p.name for p in params], [p.name for p in kernel.params])
        for name, said in (("host_kernel_source", host_kernel_source),
                           ("device_kernel_source", device_kernel_source)):
            of = kernel.get_host_source if name[0] == "h" else kernel.get_kernel_source
            meet(name, getattr(said, "read", lambda: said)() or None, said and of())
        return kernel

    def _save_code(self, folder):
        """The code for a GPU into a folder; that for the CPU is in the kernel cache."""
        cubin = self._core.cubin()
        if cubin:
            with open(os.path.join(folder, "kernel.cubin"), "wb") as f:
                f.write(cubin)

    @property
    def resource_usage(self):
        return self._core.text("resources")

    def _number(self, word):
        """The number before a word of resource_usage, or None."""
        import re

        found = re.search(r"(\d+) %s" % word, self.resource_usage or "")
        return int(found.group(1)) if found else None

    n_regs = property(lambda self: self._number("registers"))
    n_spills = property(lambda self: self._number("bytes spilled"))
    n_max_threads = property(lambda self: self._number("threads"))

    @property
    def artifact(self):
        return self

    @property
    def adapter(self):
        return self

    # ---- measuring

    def get_profiler(self, tensor_supply_type=None):
        from ..profiler import Profiler, TensorSupplyType

        return Profiler(self, tensor_supply_type or TensorSupplyType.Auto)

    def run_once(self, func=None):
        return self.get_profiler().run_once(func)

    def update_tuner_result(self, latency, config, ref_latency=None):
        self.latency, self.config, self.ref_latency = latency, config, ref_latency
        return self

    def get_tuner_result(self):
        if self.latency is None:
            raise ValueError("this kernel was not tuned")
        return self.latency, self.config, self.ref_latency

    def __copy__(self):
        """Copies of models share their kernels, which do not change."""
        return self

    def __deepcopy__(self, memo):
        return self

    def __reduce__(self):
        raise TypeError("a compiled kernel is not pickled: send its function, and compile it there "
                        "(the kernel cache has the code), or use export_library")

    def __repr__(self):
        return "<JITKernel %s for %s>" % (self.name, self.target)
