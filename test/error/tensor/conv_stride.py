import tilelang as tl


@tl.tensor_program(target="cpu")
def f(x: "float32[1, 3, 8]", w: "float32[4, 3, 3]"):
    return tl.conv(x, w, stride=0)  # error: tensor-conv
