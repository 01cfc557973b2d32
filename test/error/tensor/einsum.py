import tilelang as tl


@tl.tensor_program
def f(x: "float32[4, 8]", y: "float32[4, 3]"):
    return tl.einsum("ij,jk->ik", x, y)  # error: tensor-einsum
