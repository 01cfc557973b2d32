"""export.py BUNDLE OUT -- a model that calls the kernel of a bundle, exported and compiled by AOTInductor.

OUT gets libscale_torch.so, the operator, and model.pt2, which C++ runs (use.cpp)."""

import os
import sys

import torch

bundle, out = sys.argv[1:3]
sys.path.insert(0, bundle)
import scale  # noqa: E402

torch.ops.load_library(scale.torch_library(out))


class Model(torch.nn.Module):
    def forward(self, x):
        y = torch.empty_like(x)
        torch.ops.tilelang.scale(x + 1, 0.5, y)
        return torch.relu(y)


x = torch.randn(30, 40)
program = torch.export.export(Model(), (x,))
model = torch._inductor.aoti_load_package(
    torch._inductor.aoti_compile_and_package(program, package_path=os.path.join(out, "model.pt2")))
print("differs by", (model(x) - torch.relu((x + 1) * 0.5)).abs().max().item())
