import tilelang as tl


@tl.tensor_program(target="cpu")
def f(x: "int8[4]"):
    return x * 300  # error: tensor-number
