"""Kernels inside of torch.compile; nothing is tested where torch is not installed."""

import importlib.util

import tilelang
import tilelang.language as T
from check import raises

HERE = importlib.util.find_spec("torch") is not None


def doubled(n=8):
    M = T.dynamic("M")

    @T.prim_func
    def main(A: T.Tensor((M, n), "float32"), B: T.Tensor((M * 2, n), "float32")):
        with T.Kernel(T.ceildiv(M, 4), threads=32) as bx:
            for i, j in T.Parallel(4, n):
                if bx * 4 + i < M:
                    B[2 * (bx * 4 + i), j] = A[bx * 4 + i, j]
                    B[2 * (bx * 4 + i) + 1, j] = A[bx * 4 + i, j]

    return main


def scaled(n=8):
    M = T.dynamic("M")

    @T.prim_func
    def main(A: T.Tensor((M, n), "float32"), by: T.float32):
        with T.Kernel(T.ceildiv(M, 4), threads=32) as bx:
            for i, j in T.Parallel(4, n):
                if bx * 4 + i < M:
                    A[bx * 4 + i, j] = A[bx * 4 + i, j] * by

    return main


def graph(**options):
    import torch

    return torch.compile(backend="aot_eager", fullgraph=True, **options)


def test_outputs_of_other_shapes():
    if not HERE:
        return
    import torch

    kernel = tilelang.compile(doubled(), out_idx=[1], target="c")

    @graph(dynamic=True)
    def f(x):
        return kernel(A=x + 1) * 2

    for m in (3, 5, 9):
        x = torch.randn(m, 8)
        assert torch.equal(f(x), (x + 1).repeat_interleave(2, 0) * 2)
    x = torch.randn(3, 8, requires_grad=True)
    assert not f(x).requires_grad and not kernel(x).requires_grad


def test_written_in_place():
    if not HERE:
        return
    import torch

    kernel = tilelang.compile(scaled(), target="c")

    @graph()
    def f(x):
        y = x + 1
        kernel(y, 2.0)
        kernel(x, 3.0)
        return y

    x = torch.randn(5, 8)
    before = x.clone()
    assert torch.equal(f(x), (before + 1) * 2) and torch.equal(x, before * 3)


def test_made_while_torch_looks():
    if not HERE:
        return
    import torch

    lazy = tilelang.jit(doubled, out_idx=[1], target="c")

    @tilelang.jit(target="c")
    def fixed(A, by=2.0, block=16):
        N = T.const("N")
        A: T.Tensor((N,), "float32")
        B = T.empty((N,), "float32")
        with T.Kernel(T.ceildiv(N, block), threads=32) as bx:
            for i in T.Parallel(block):
                B[bx * block + i] = A[bx * block + i] * by
        return B

    @tilelang.jit(target="c")
    def open_(A, by=2.0, block=16):
        N = T.dynamic("N")
        A: T.Tensor((N,), "float32")
        B = T.empty((N,), "float32")
        with T.Kernel(T.ceildiv(N, block), threads=32) as bx:
            for i in T.Parallel(block):
                B[bx * block + i] = A[bx * block + i] * by
        return B

    @graph(dynamic=True)
    def f(x):
        return fixed(x, by=3.0) + open_(x)

    @graph()
    def g(x):
        return lazy(4)(x)

    for n in (20, 33):
        x = torch.randn(n)
        assert torch.allclose(f(x), x * 5)
    x = torch.randn(3, 4)
    assert torch.equal(g(x), x.repeat_interleave(2, 0))
    assert len(open_._kernels) == 1


def test_outputs_in_their_order():
    if not HERE:
        return
    import torch
    from test_arrays import pair

    kernel = tilelang.compile(pair(), out_idx=[3, 2], target="c")
    x = torch.arange(4, dtype=torch.float32)
    for f in (kernel, kernel, graph()(lambda x, s: kernel(x, s))):
        c, b = f(x, 2.0)
        assert c.dtype is torch.int32 and torch.equal(b, x * 2)


def test_tensors_without_memory():
    if not HERE:
        return
    import copy
    import torch
    from torch._subclasses.fake_tensor import FakeTensorMode

    kernel = tilelang.compile(doubled(), out_idx=[1], target="c")
    with FakeTensorMode():
        got = kernel(torch.empty(3, 8))
    assert got.shape == (6, 8) and type(got).__name__ == "FakeTensor"
    model = torch.nn.Module()
    model.kernel = kernel
    assert copy.deepcopy(model).kernel is kernel
    from torch.fx.experimental.proxy_tensor import make_fx

    g = make_fx(lambda x: kernel(x) + 1, tracing_mode="fake")(torch.randn(3, 8))
    assert "tilelang" in g.code
    x = torch.randn(3, 8)
    assert torch.equal(g(x), kernel(x) + 1)


def test_compiles_leave_nothing_with_torch():
    """An operator of torch lives for ever, so none is made before it is asked for."""
    if not HERE:
        return
    import torch

    def build(by):
        @T.prim_func
        def main(A: T.Tensor((8,), "float32"), B: T.Tensor((8,), "float32")):
            with T.Kernel(1, threads=32):
                for i in T.Parallel(8):
                    B[i] = A[i] * by

        return tilelang.compile(main, target="sim -arch=sm_80")

    before = len(torch._C._dispatch_get_all_op_names())
    made = [build(float(i)) for i in range(5)]
    assert len(torch._C._dispatch_get_all_op_names()) == before
    assert made[0].as_torch_op() is not None
    assert len(torch._C._dispatch_get_all_op_names()) == before + 1


def test_views_that_turn_signs_are_refused():
    if not HERE:
        return
    import torch

    k = tilelang.compile(scaled(), target="c")
    x = torch.randn(4, 8)
    view = torch._neg_view(x)
    for _ in range(2):  # before the type of tensors is known, and after
        with raises(ValueError, "'A'", "argument-sign"):
            k(view, 2.0)
    before = x.clone()
    k(view.resolve_neg(), 2.0)
    k(x, 2.0)
    assert torch.equal(x, before * 2)


def test_sparse_tensors_are_refused():
    if not HERE:
        return
    import torch
    k = tilelang.compile(doubled(), target="cpu")
    for x in torch.eye(8).to_sparse(), torch.eye(8).to_sparse_csr():
        with raises(TypeError, "argument-layout"):
            k(x, torch.zeros(16, 8))


def product(m, n, k, trans_a=False, trans_b=False, names="ABC"):
    """names[2] = names[0] names[1]; an operand may lie transposed."""
    a, b, c = names.split()
    text = """
@T.prim_func
def main({a}: T.Tensor({sa}, "float32"), {b}: T.Tensor({sb}, "float32"), {c}: T.Tensor(({m}, {n}), "float32")):
    with T.Kernel(T.ceildiv({n}, 16), {m}, threads=16) as (bx, i):
        for j in T.Parallel(16):
            if bx * 16 + j < {n}:
                total = T.alloc_var("float32", init=0)
                for l in T.serial({k}):
                    total += {a}[{ia}] * {b}[{ib}]
                {c}[i, bx * 16 + j] = total
""".format(a=a, b=b, c=c, m=m, n=n, k=k, sa=(k, m) if trans_a else (m, k), sb=(n, k) if trans_b else (k, n),
           ia="l, i" if trans_a else "i, l", ib="bx * 16 + j, l" if trans_b else "l, bx * 16 + j")
    return traced(text)


def traced(text):
    import linecache
    import tilelang.language as T

    name = "<product %d>" % len(linecache.cache)
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space = {"T": T}
    exec(compile(text, name, "exec"), space)
    return space["main"]


def test_gradients():
    if not HERE:
        return
    import torch

    forward = tilelang.compile(product(5, 7, 3, names="A B C"), out_idx=[2], target="c")
    da = tilelang.compile(product(5, 3, 7, trans_b=True, names="dC B dA"), out_idx=[2], target="c")
    db = tilelang.compile(product(3, 7, 5, trans_a=True, names="A dC dB"), out_idx=[2], target="c")
    a, b = (torch.randn(*s, requires_grad=True) for s in ((5, 3), (3, 7)))
    assert not forward(a, b).requires_grad  # until it is said where gradients come from
    assert forward.register_autograd(lambda A, B, dC: (da(dC, B), db(A, dC))) is forward

    def both(a, b):
        return (forward(a, b) * 2).square().sum()

    def check(f):
        a.grad = b.grad = None
        f(a, b).backward()
        got = a.grad, b.grad
        a.grad = b.grad = None
        (a @ b * 2).square().sum().backward()
        assert torch.allclose(got[0], a.grad, atol=1e-4) and torch.allclose(got[1], b.grad, atol=1e-4)

    check(both)
    check(graph()(both))
    with torch.no_grad():
        assert not forward(a, b).requires_grad
    assert not forward(a.detach(), b.detach()).requires_grad


def test_gradient_by_a_kernel():
    if not HERE:
        return
    import torch

    forward = tilelang.compile(product(5, 7, 3, names="A B C"), out_idx=[2], target="c")
    forward.register_autograd(tilelang.compile(product(5, 3, 7, trans_b=True, names="grad_C B A_grad"),
                                               out_idx=[2], target="c"))
    a, b = (torch.randn(*s, requires_grad=True) for s in ((5, 3), (3, 7)))
    forward(a, b).sum().backward()
    assert torch.allclose(a.grad, torch.ones(5, 7) @ b.detach().T, atol=1e-5) and b.grad is None
    for names, words in (("A B D", "is no gradient"), ("A X dA", "neither an input nor an output")):
        other = tilelang.compile(product(5, 7, 3, names=names), out_idx=[2], target="c")
        with raises(ValueError, words):
            forward.register_autograd(other)
    with raises(TypeError, "a kernel or a function"):
        forward.register_autograd(3)
    with raises(ValueError, "writes into its argument"):
        tilelang.compile(product(5, 7, 3, names="A B C"), target="c").register_autograd(forward)
    two = tilelang.compile(product(5, 7, 3, names="A B C"), out_idx=[2], target="c")
    two.register_autograd(lambda A, dC: dC)
    with raises(ValueError, "gave 1 gradients and not 2"):
        two(a, b).sum().backward()
