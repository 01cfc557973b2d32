import tilelang as tl


@tl.tensor_program
def f(x: "float32[1, 3, 8, 8]", w: "float32[4, 2, 3, 3]"):
    return tl.conv(x, w)  # error: tensor-conv
