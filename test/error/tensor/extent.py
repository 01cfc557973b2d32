import tilelang as tl


@tl.tensor_program
def f(x: "float32[n, 8]"):
    y = x * 2
    return y[:3]  # error: tensor-extent
