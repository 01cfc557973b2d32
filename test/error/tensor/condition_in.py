import tilelang as tl


@tl.tensor_program(target="cpu")
def f(x: "float32[4]"):
    return x * 2 if 1 in x else x  # error: tensor-condition
