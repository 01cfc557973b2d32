import tilelang as tl


@tl.tensor_program(target="cpu")
def f(x: "float32[4]"):
    return x[..., ...]  # error: tensor-subscript
