import tilelang as tl


@tl.tensor_program(target="cpu")
def f(x: "float32[4]", i: "float32[2]"):
    return x[i]  # error: tensor-subscript
