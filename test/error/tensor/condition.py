import tilelang as tl


@tl.tensor_program
def f(x: "float32[4, 8]"):
    if x > 0:  # error: tensor-condition
        return x
    return -x
