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
