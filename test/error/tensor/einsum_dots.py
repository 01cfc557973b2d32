import tilelang as tl


@tl.tensor_program(target="cpu")
def f(x: "float32[2, 3, 4]", y: "float32[4, 4]"):
    return tl.einsum("...i,..j->...ij", x, y)  # error: tensor-einsum
