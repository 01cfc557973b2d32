import tilelang as tl


@tl.tensor_program(target="cpu")
def f(x: "float32[4, 5]"):
    return tl.sum(x, axis=(0, 0))  # error: tensor-axis
