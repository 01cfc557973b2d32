"""The programs of examples/programs: the CPU's kernels and those of a GPU, simulated, against numpy in float64."""

import glob
import importlib.util
import os
import runpy
import sys
import tempfile
import unittest

import numpy as np
from test_tensor import as_list, functions, simulated

import tilelang as tl

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples", "programs")
sys.path.insert(0, FOLDER)
import common  # noqa: E402

# What is one kernel each; a program that falls into more is slower on every machine.
ONE = """adamw attention attention_alibi attention_bias attention_causal attention_grouped attention_softcap attention_window
    batch_norm bias_gelu broadcast_chain conv_bias_relu depthwise_conv embedding group_norm grouped_linear kl_divergence
    layer_norm linear_gelu mamba_step norm_quantise quantised_linear rms_norm rotary softmax""".split()


def load(name):
    spec = importlib.util.spec_from_file_location("program_" + name, os.path.join(FOLDER, name + ".py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return vars(module)


def names():
    return sorted(os.path.basename(f)[:-3] for f in glob.glob(FOLDER + "/*.py") if not f.endswith("common.py"))


def saved(program, arrays):
    """What the printed source gives, saved to a file and compiled from there."""
    with tempfile.NamedTemporaryFile("w", suffix=".py") as f:
        f.write(program.tiles())
        f.flush()
        func = runpy.run_path(f.name)[program.__name__]
        count = program.compile(*arrays).outputs
        first = len(func.params) - count
        return tl.compile(func, out_idx=list(range(first, first + count)), target="cpu")(*arrays)


def run(name):
    scope = load(name)
    arrays = scope["inputs"](np.random.default_rng(1), *scope["SIZES"]["test"])
    program = scope["program"]
    for got in (program(*arrays), simulated(program, arrays)):
        why = common.differs(scope, got, arrays, 2e-4)
        assert why is None, "%s: %s" % (name, why)
    for got, again in zip(as_list(program(*arrays)), as_list(saved(program, arrays))):
        assert np.array_equal(got, again, equal_nan=got.dtype.kind == "f"), "%s, saved, gives other numbers" % name
    assert " bytes, " in program.explain() and " flops" in program.explain()
    count = program.tiles().count("T.Kernel(")
    assert count == 1 or name not in ONE, "%s is %d kernels" % (name, count)


class Programs(unittest.TestCase):
    def test_there_are_thirty(self):
        self.assertGreaterEqual(len(names()), 30)


for _name in names():
    setattr(Programs, "test_" + _name, lambda self, name=_name: run(name))

globals().update(functions(Programs))

if __name__ == "__main__":
    unittest.main()
