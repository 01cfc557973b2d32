"""Rotary embedding: the two halves of each head turned by an angle of the position and of the place.

    tl verify examples/rotary.py tokens=10 H=3 D=64
"""
import tilelang
import tilelang.language as T


@tilelang.jit(out_idx=[-1])
def rotary(tokens=128, H=8, D=128, dtype="float32", threads=256):
    half = D // 2

    @T.prim_func
    def main(
        X: T.Tensor((tokens, H, D), dtype),
        cos: T.Tensor((tokens, half), dtype),
        sin: T.Tensor((tokens, half), dtype),
        Y: T.Tensor((tokens, H, D), dtype),
    ):
        with T.Kernel(tokens, threads=threads) as bx:
            for h, j in T.Parallel(H, half):
                x = T.cast(X[bx, h, j], "float32")
                y = T.cast(X[bx, h, half + j], "float32")
                Y[bx, h, j] = x * cos[bx, j] - y * sin[bx, j]
                Y[bx, h, half + j] = y * cos[bx, j] + x * sin[bx, j]

    return main


# ---- python3 examples/rotary.py ------------------------------------------------------------------

def problem(tokens, H, D, dtype):
    import numpy as np
    from tilelang.script import normal, rounded

    angle = np.arange(tokens)[:, None] * 10000.0 ** (-np.arange(D // 2) / (D // 2))
    return [normal(tokens, H, D, dtype=dtype), rounded(np.cos(angle), dtype), rounded(np.sin(angle), dtype)]


def verify(tokens=128, H=8, D=128, dtype="float32"):
    import numpy as np
    from tilelang.script import check

    X, cos, sin = problem(tokens, H, D, dtype)
    x, y, c, s = X[..., : D // 2], X[..., D // 2 :], cos[:, None], sin[:, None]
    return check(rotary(tokens, H, D, dtype), [X, cos, sin], np.concatenate([x * c - y * s, y * c + x * s], -1))


def bench(tokens=2048, H=8, D=128, dtype="float32"):
    from tilelang.script import timed

    timed(rotary(tokens, H, D, dtype), problem(tokens, H, D, dtype), 3 * tokens * H * D)


if __name__ == "__main__":
    from tilelang import script

    script.main(verify, bench)
