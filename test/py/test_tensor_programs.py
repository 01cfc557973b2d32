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
KERNELS = {"attention": 1, "attention_alibi": 1, "attention_bias": 1, "attention_causal": 1, "attention_grouped": 1,
           "attention_softcap": 1, "attention_window": 1, "bias_gelu": 1, "broadcast_chain": 1, "embedding": 1,
           "grouped_linear": 1, "layer_norm": 1, "linear_gelu": 1, "mamba_step": 1, "quantised_linear": 1, "rms_norm": 1,
           "rotary": 1, "softmax": 1, "batch_norm": 1}


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
    if name in KERNELS:
        count = program.tiles().count("T.Kernel(")
        assert count == KERNELS[name], "%s is %d kernels" % (name, count)


class Programs(unittest.TestCase):
    def test_there_are_thirty(self):
        self.assertGreaterEqual(len(names()), 30)


for _name in names():
    setattr(Programs, "test_" + _name, lambda self, name=_name: run(name))

globals().update(functions(Programs))

if __name__ == "__main__":
    unittest.main()
