"""kernel.profile: what warps spend their time on, by the simulator's model; what threads of a CPU do, as they run."""
import os
import tempfile
import unittest

import numpy as np
import tilelang
import tilelang.language as T


@tilelang.jit(target="cuda -arch=sm_90a")
def product(M, N, K, stages):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float16"), B: T.Tensor((K, N), "float16"), C: T.Tensor((M, N), "float16")):
        with T.Kernel(T.ceildiv(N, 64), T.ceildiv(M, 64), threads=128) as (bx, by):
            a = T.alloc_shared((64, 32), "float16")
            b = T.alloc_shared((32, 64), "float16")
            c = T.alloc_fragment((64, 64), "float32")
            T.clear(c)
            for k in T.Pipelined(T.ceildiv(K, 32), num_stages=stages):
                T.copy(A[by * 64, k * 32], a)
                T.copy(B[k * 32, bx * 64], b)
                T.gemm(a, b, c)
            T.copy(c, C[by * 64, bx * 64])

    return main


@tilelang.jit(target="cuda -arch=sm_80")
def spread(step):
    """Threads of a warp read shared memory so many words apart."""
    @T.prim_func
    def main(X: T.Tensor((32 * step,), "float32"), Y: T.Tensor((32,), "float32")):
        with T.Kernel(1, threads=32):
            tx = T.get_thread_binding()
            s = T.alloc_shared((32 * step,), "float32")
            total = T.alloc_var("float32", init=0)
            for i in T.serial(step):
                s[i * 32 + tx] = X[i * 32 + tx]
            T.sync_threads()
            for i in T.serial(32):
                total += s[tx * step + i]
            Y[tx] = total

    return main


@tilelang.jit(target="cpu")
def products(M, N, K):
    @T.prim_func
    def main(A: T.Tensor((M, K), "float32"), B: T.Tensor((K, N), "float32"), D: T.Tensor((N, N), "float32"),
             C: T.Tensor((M, N), "float32")):
        with T.Kernel(T.ceildiv(M, 64), threads=128) as bx:
            a = T.alloc_shared((64, K), "float32")
            b = T.alloc_shared((K, N), "float32")
            d = T.alloc_shared((N, N), "float32")
            x = T.alloc_fragment((64, N), "float32")
            y = T.alloc_fragment((64, N), "float32")
            T.copy(A[bx * 64, 0], a)
            T.copy(B, b)
            T.copy(D, d)
            T.gemm(a, b, x, clear_accum=True)
            T.gemm(x, d, y, clear_accum=True)
            T.copy(y, C[bx * 64, 0])

    return main


def total(profile):
    return sum(sum(x.values()) for x in profile.lines.values())


class ProfileTest(unittest.TestCase):
    def profile(self, stages):
        rng = np.random.default_rng(0)
        A, B = (rng.standard_normal((64, 512)).astype("float16") for _ in range(2))
        C = np.zeros((64, 64), "float16")
        p = product(64, 64, 512, stages).profile(A, B.T.copy(), C)
        np.testing.assert_allclose(C.astype("float32"), (A.astype("float32") @ B.astype("float32").T), rtol=2e-2, atol=0.2)
        return p

    def test_stages_hide_latency(self):
        few, many = self.profile(2), self.profile(4)
        self.assertIn("producer", str(many))
        self.assertGreater(total(few), 1.2 * total(many))
        work = {k: sum(x[k] for x in many.lines.values()) for k in ("copy", "matrix", "wait", "compute")}
        self.assertTrue(all(v > 0 for v in work.values()), work)

    def test_roles(self):
        roles = self.profile(4).roles
        self.assertEqual(set(roles), {"producer", "consumer"})
        self.assertEqual(roles["producer"]["matrix"], 0)
        self.assertGreater(roles["consumer"]["matrix"], 0)

    def test_bank_conflicts_take_time(self):
        few, many = (spread(n).profile(np.ones(32 * n, "float32"), np.zeros(32, "float32")) for n in (33, 32))
        self.assertGreater(total(many), 1.5 * total(few))

    def test_tensors_are_added_to_once(self):
        X, Y = np.ones(32 * 32, "float32"), np.zeros(32, "float32")
        spread(32).profile(X, Y)
        np.testing.assert_array_equal(Y, np.full(32, 32, "float32"))

    def test_products_of_a_cpu_are_told_apart(self):
        rng = np.random.default_rng(0)
        A, B, D = (rng.standard_normal(s).astype("float32") for s in ((512, 512), (512, 128), (128, 128)))
        C = np.zeros((512, 128), "float32")
        p = products(512, 128, 512).profile(A, B, D, C)
        np.testing.assert_allclose(C, A @ B @ D, rtol=1e-3, atol=1e-1)
        self.assertEqual(p.unit, "us")
        matrix = [n for n, x in p.lines.items() if x["matrix"] > 0]
        with open(__file__, encoding="utf-8") as f:
            text = f.read().split("\n")
        self.assertEqual([text[n - 1].strip() for n in matrix],
                         ["T.gemm(a, b, x, clear_accum=True)", "T.gemm(x, d, y, clear_accum=True)"])
        self.assertIn('"ph":"X"', p.trace)
        self.assertTrue(set(p.roles) <= {"caller", "worker", "thread"}, p.roles)

    def test_outputs_need_not_be_given(self):
        made = {}
        for target in ("cpu", "cuda -arch=sm_80"):
            @tilelang.jit(out_idx=[-1], target=target)
            def twice():
                @T.prim_func
                def main(X: T.Tensor((1024,), "float32"), Y: T.Tensor((1024,), "float32")):
                    with T.Kernel(8, threads=128) as bx:
                        for i in T.Parallel(128):
                            Y[bx * 128 + i] = X[bx * 128 + i] * 2

                return main

            made[target] = twice()
        X, Y = np.ones(1024, "float32"), np.zeros(1024, "float32")
        self.assertIn("main_kernel", str(made["cpu"].profile(X)))
        few = made["cuda -arch=sm_80"].profile(X)
        self.assertEqual(few.lines, made["cuda -arch=sm_80"].profile(X, Y).lines)
        self.assertEqual(Y[0], 2)
        for args in ((), (X, Y, Y)):
            with self.assertRaisesRegex(ValueError, "argument-count"):
                made["cpu"].profile(*args)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.json")
            with open(path, "w") as f:
                f.write("{")
            with self.assertRaises(Exception):
                few.against(path)

    def test_saved_and_compared(self):
        few, many = self.profile(2), self.profile(4)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "few.json")
            few.save(path)
            self.assertEqual(many.against(path), many.against(few))
        self.assertLess(sum(many.against(few).values()), 0)
        self.assertFalse(any(many.against(many).values()))
        self.assertTrue(many.svg.startswith("<svg"))


if __name__ == "__main__":
    unittest.main()
