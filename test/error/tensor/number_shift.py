import tilelang as tl


@tl.tensor_program(target="cpu")
def f(x: "int32[4]"):
    return x << 40  # error: tensor-number
