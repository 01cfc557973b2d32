"""kernel.profile: what warps spend their time on, by the simulator's model."""
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
