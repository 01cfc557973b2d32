import tilelang as tl


@tl.tensor_program
def f(x: "float32[4, 8]"):
    return tl.sum(x, axis=2)  # error: tensor-axis
