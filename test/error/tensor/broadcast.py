import tilelang as tl


@tl.tensor_program
def f(x: "float32[4, 8]", y: "float32[4, 3]"):
    z = x * 2
    return z + y  # error: tensor-broadcast
