import tilelang as tl


@tl.tensor_program
def f(x: "float32[4, 8]"):
    return tl.einsum("ii->i", x)  # error: tensor-einsum
