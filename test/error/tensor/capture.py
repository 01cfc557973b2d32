import tilelang as tl
import torch

bias = torch.zeros(8)


@tl.tensor_program
def f(x: "float32[4, 8]"):
    return x + bias  # error: tensor-capture
