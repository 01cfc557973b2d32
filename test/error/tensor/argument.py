import tilelang as tl


@tl.tensor_program
def f(x: "float32[4, 8]"):
    return tl.top_k(x, 9)  # error: tensor-argument
