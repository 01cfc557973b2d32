"""Kernels as operators of torch, so that torch.compile does not look inside of them."""

import itertools
import weakref

_count = itertools.count()
_TYPES = {"float": "float", "int": "int", "uint": "int", "bool": "bool", "handle": "int"}


def _schema(kernel, rows):
    words = []
    for i in kernel._ins:
        name, dtype, _, scalar, _, _, written = rows[i]
        if scalar:
            kind = _TYPES[kernel.params[i].dtype._about()[3]]
        else:
            kind = "Tensor(a%d!)" % i if written else "Tensor"
        words.append("%s %s" % (kind, name))
    outs = len(kernel._outs)
    gives = "()" if not outs else "Tensor" if outs == 1 else "(%s)" % ", ".join(["Tensor"] * outs)
    return "(%s) -> %s" % (", ".join(words), gives)


def _sizes(kernel, args):
    """Values of the names in shapes: extents of inputs, and scalars."""
    names = {}
    for i, x in zip(kernel._ins, args):
        if kernel.params[i].is_scalar():
            names[kernel.params[i].name] = x
        for n, size in zip(kernel._named[i], getattr(x, "shape", ())):
            if isinstance(n, str) and n.isidentifier():
                names.setdefault(n, size)
    return names


def _min(a, b):
    import torch

    return torch.sym_min(a, b)


def _max(a, b):
    import torch

    return torch.sym_max(a, b)


def _extent(n, names):
    """The extent of an output from its text, which is an expression of sizes; one that is not
    becomes a size torch knows nothing of."""
    if not isinstance(n, str):
        return n
    try:
        return eval(n, {"__builtins__": {}, "min": _min, "max": _max}, names)
    except Exception:
        import torch

        return torch.library.get_ctx().new_dynamic_size()


# ---- gradients ------------------------------------------------------------------------------------


def _gradient_of(name, names):
    """The one of `names` whose gradient is called `name`: dX, grad_X, X_grad; None: it is none."""
    for way in ("d%s", "grad_%s", "%s_grad"):
        for one in names:
            if name == way % one:
                return one
    return None


class _Backward:
    """How the gradients of a kernel's inputs come out of another kernel, or a function.  What it
    takes is told by the names of its parameters: inputs and outputs of the kernel by theirs, the
    gradient of an output O as dO, grad_O or O_grad."""

    def __init__(self, kernel, backward):
        self.ins = [kernel.params[i].name for i in kernel._ins]
        self.outs = [kernel.params[i].name for i in kernel._outs]
        self.backward, self.name = backward, kernel.name
        params = getattr(backward, "params", None)
        if params is not None:
            self.takes = [p.name for p in params if not p.is_output]
            self.gives = [_gradient_of(p.name, self.ins) for p in params if p.is_output]
            for p, of in zip([p for p in params if p.is_output], self.gives):
                if of is None:
                    raise ValueError("register_autograd: the output %r of the backward kernel is no "
                                     "gradient (dX, grad_X, X_grad) of an input of %s, which are %s"
                                     % (p.name, self.name, ", ".join(self.ins)))
            if not self.gives:
                raise ValueError("register_autograd: the backward kernel has no outputs; out_idx= "
                                 "names them")
        elif callable(backward):
            import inspect

            self.takes, self.gives = list(inspect.signature(backward).parameters), self.ins
        else:
            raise TypeError("register_autograd needs a kernel or a function, not %s"
                            % type(backward).__name__)
        for name in self.takes:
            if name not in self.ins + self.outs and _gradient_of(name, self.outs) is None:
                raise ValueError("register_autograd: the parameter %r of the backward is neither an "
                                 "input nor an output of %s, nor the gradient (dX, grad_X, X_grad) "
                                 "of an output" % (name, self.name))

    def setup(self, ctx, inputs, output):
        outputs = output if isinstance(output, (tuple, list)) else (output,)
        known = {**dict(zip(self.ins, inputs)), **dict(zip(self.outs, outputs))}
        self._keep(ctx, {n: v for n, v in known.items() if n in self.takes})

    @staticmethod
    def _keep(ctx, known):
        tensors = {n: v for n, v in known.items() if hasattr(v, "shape")}
        ctx.save_for_backward(*tensors.values())
        ctx.names = list(tensors)
        ctx.numbers = {n: v for n, v in known.items() if n not in tensors}

    def run(self, ctx, *grads):
        known = {**dict(zip(ctx.names, ctx.saved_tensors)), **ctx.numbers}
        by_output = dict(zip(self.outs, grads))
        args = [known[n] if n in known else by_output[_gradient_of(n, self.outs)].contiguous()
                for n in self.takes]
        got = self.backward(*args)
        got = got if isinstance(got, (tuple, list)) else (got,)
        if len(got) != len(self.gives):
            raise ValueError("the backward of %s gave %d gradients and not %d, one for each of %s"
                             % (self.name, len(got), len(self.gives), ", ".join(self.gives)))
        by_input = dict(zip(self.gives, got))
        return tuple(by_input.get(n) for n in self.ins)


def differentiable(kernel, backward):
    """The kernel's operator gets a gradient."""
    import torch

    if not kernel._outs:
        raise ValueError("register_autograd: %s writes into its arguments; a gradient needs outputs "
                         "of its own, which out_idx= names" % kernel.name)
    rows = kernel._core.params()
    written = [rows[i][0] for i in kernel._ins if rows[i][6] and not rows[i][3]]
    if written:
        raise ValueError("register_autograd: %s writes into its argument %r" % (kernel.name,
                                                                               written[0]))
    how = _Backward(kernel, backward)
    if kernel.as_torch_op() is None:
        raise RuntimeError("%r is no operator of torch" % kernel)
    torch.library.register_autograd("tilelang::" + kernel._op_name, how.run,
                                    setup_context=how.setup)
    return how


def wants_gradient(args):
    import torch

    return torch.is_grad_enabled() and any(getattr(x, "requires_grad", False) for x in args)


def register(kernel, name=None):
    import torch

    name = "tilelang::%s" % (name or "%s_%d" % (kernel.name, next(_count)))
    rows = kernel._core.params()
    try:
        torch.library.define(name, _schema(kernel, rows))
    except Exception:  # a parameter named as no operator's may be; the kernel works without
        return None

    ref = weakref.ref(kernel)  # operators live for ever; kernels need not
    del kernel

    def run(*args):
        kernel = ref()
        if kernel is None:
            raise RuntimeError("the kernel of %s is gone" % name)
        full = kernel._arguments(args, {})
        kernel._run(*full)
        got = tuple(full[i] for i in kernel._outs)
        return None if not got else got[0] if len(got) == 1 else got

    def fake(*args):
        kernel = ref()
        first = next(x for x in args if hasattr(x, "shape"))
        names = _sizes(kernel, args)
        made = tuple(
            first.new_empty([_extent(n, names) for n in kernel._named[i]],
                            dtype=kernel.params[i].torch_dtype())
            for i in kernel._outs
        )
        return None if not made else made[0] if len(made) == 1 else made

    for kind in ("CPU", "CUDA"):
        torch.library.impl(name, kind)(run)
    torch.library.register_fake(name)(fake)
    space, word = name.split("::")
    return getattr(getattr(torch.ops, space), word)
