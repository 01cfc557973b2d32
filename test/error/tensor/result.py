import tilelang as tl


@tl.tensor_program
def f(x: "float32[4, 8]"):  # error: tensor-return
    return "x"
