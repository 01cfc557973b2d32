import tilelang as tl


@tl.tensor_program
def f(x: "float32[4, 8]"):
    return tl.grad(lambda a: a * 2)(x)  # error: tensor-grad
