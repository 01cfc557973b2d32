"""The programs of examples/programs: the CPU's kernels and those of a GPU, simulated, against numpy in float64."""

import glob
import importlib.util
import os
import sys
import unittest

import numpy as np
from test_tensor import functions, simulated

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


def run(name):
    scope = load(name)
    arrays = scope["inputs"](np.random.default_rng(1), *scope["SIZES"]["test"])
    program = scope["program"]
    for got in (program(*arrays), simulated(program, arrays)):
        why = common.differs(scope, got, arrays, 2e-4)
        assert why is None, "%s: %s" % (name, why)
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
