import tilelang as tl


@tl.tensor_program
def f(x: "float32[1, 1, 1, 1, 1, 1, 1, 1]"):
    return x[None]  # error: tensor-rank
