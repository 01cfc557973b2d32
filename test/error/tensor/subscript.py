import tilelang as tl


@tl.tensor_program
def f(x: "float32[4, 8]"):
    return x[4]  # error: tensor-subscript
