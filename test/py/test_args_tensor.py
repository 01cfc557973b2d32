"""Every parameter of every operator of tensor programs is given another value: the kernels differ, or it is refused."""
import linecache
import re

import numpy as np
import tilelang
from tilelang import _core
from test_args import call, parameters

HEAD = """import tilelang


def g(x, y):
    return tilelang.sum(x * y)


def h(x, y):
    return tilelang.sum(x * y * y)


def f(%s):
    return %s
"""
SHAPES = {
    "a": ((4, 6), "float32"), "b": ((4, 6), "float32"), "c": ((4, 6), "float32"), "m": ((4, 6), "bool"), "n": ((4, 6), "bool"),
    "i": ((4, 6), "int32"), "j": ((4, 6), "int32"), "k": ((4, 6), "int32"), "p": ((3,), "int32"), "r": ((3,), "int32"),
    "u": ((6,), "float32"), "v": ((6,), "float32"), "t": ((2, 3, 4), "float32"), "s": ((1, 4, 1), "float32"), "z": ((1, 5, 1), "float32"),
    "img": ((1, 4, 8, 8), "float32"), "pic": ((1, 4, 8, 8), "float32"), "w": ((6, 4, 3, 3), "float32"), "wo": ((6, 4, 3, 3), "float32"),
    "q8": ((4, 6), "int8"), "q9": ((4, 6), "int8"), "one": ((1, 1), "float32"), "two": ((1, 1), "float32"),
    "d": ((3, 6), "float32"), "e": ((3, 6), "float32"),
}
# What a parameter is given first ("": nothing) and then, by its name.
USUAL = {
    "x": ("a", "b"), "x1": ("a", "b"), "x2": ("c", "b"), "y": ("c", "b"), "condition": ("m", "n"), "axis": ("", "0"),
    "keepdims": ("", "True"), "ddof": ("", "1"), "weight": ("", "u"), "bias": ("", "u"), "eps": ("", "0.25"), "min": ("-1", "-2"),
    "max": ("1", "2"), "dtype": ("", '"float16"'), "shape": ("(4, 6)", "(4, 7)"), "value": ("", "3"), "seed": ("", "7"),
    "reverse": ("", "True"), "descending": ("", "True"), "stride": ("", "2"), "padding": ("", "1"), "dilation": ("", "2"),
    "groups": ("", "2"), "argnums": ("", "1"), "indices": ("p", "r"), "values": ("d", "e"),
}
# The same, of an operator.
OWN = {
    **{name: {"x": ("i", "j"), "x1": ("i", "j"), "x2": ("k", "j")}
       for name in ("bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift", "invert")},
    **{name: {"x": ("m", "n")} for name in ("any", "all", "logical_not")},
    "argmax": {"axis": ("1", "0")}, "argmin": {"axis": ("1", "0")},
    "astype": {"dtype": ('"float16"', '"float64"')},
    "zeros_like": {"x": ("a", "u")}, "ones_like": {"x": ("a", "u")}, "iota": {"x": ("a", "t"), "axis": ("", "1")},
    "arange": {"start": ("2", "3"), "stop": ("9", "8"), "step": ("", "2")},
    "full": {"value": ("1", "2")},
    "matmul": {"x1": ("a", "b"), "x2": ("w[0, 0:2, 0:3, 0:3].reshape(6, 3)", "wo[0, 0:2, 0:3, 0:3].reshape(6, 3)")},
    "einsum": {"spec": ('"ij,kj->ik"', '"ij,kj->ki"'), "operands": ("a, c", "b, c")},
    "reshape": {"shape": ("6, 4", "24")}, "transpose": {"axes": ("1, 0", "0, 1")},
    "swapaxes": {"x": ("t", "a"), "axis1": ("0", "2"), "axis2": ("1", "2")}, "expand_dims": {"axis": ("0", "1")},
    "squeeze": {"x": ("s", "z"), "axis": ("", "0")}, "broadcast_to": {"x": ("u", "v"), "shape": ("(4, 6)", "(5, 6)")},
    "concatenate": {"xs": ("[a, b]", "[b, a]"), "axis": ("", "1")}, "stack": {"xs": ("[a, b]", "[b, a]"), "axis": ("", "1")},
    "split": {"parts": ("2", "4"), "axis": ("", "1")}, "pad": {"width": ("((1, 1), (0, 2))", "((1, 1), (0, 3))")},
    "flip": {"axis": ("1", "0")}, "roll": {"shift": ("1", "2"), "axis": ("0", "1")}, "take": {"axis": ("0", "1")},
    "take_along_axis": {"indices": ("i", "j"), "axis": ("0", "1")}, "scatter": {"axis": ("", "1")},
    "scatter_add": {"axis": ("", "1")}, "one_hot": {"x": ("p", "r"), "n": ("5", "6")}, "cumsum": {"axis": ("", "0")},
    "conv": {"x": ("img", "pic"), "weight": ("w", "wo")},
    "max_pool": {"x": ("img", "pic"), "size": ("2", "3"), "stride": ("", "1")},
    "avg_pool": {"x": ("img", "pic"), "size": ("2", "3"), "stride": ("", "1")},
    "top_k": {"k": ("2", "3")}, "quantize_tensor": {"dtype": ("", '"int16"'), "axis": ("", "1")},
    "dequantize_tensor": {"q": ("q8", "q9"), "scale": ("one", "two")},
    "grad": {"f": ("g", "h")}, "value_and_grad": {"f": ("g", "h")},
}
AFTER = {"split": "[0]", "top_k": "[0]", "quantize_tensor": "[0]", "grad": "(a, b)", "value_and_grad": "(a, b)"}
made = 0


def tiles(expression):
    """The kernels of a program that gives an expression, or why there are none."""
    global made
    used = [n for n in SHAPES if re.search(r"(?<![\w.\"'])%s(?!\w|=|\")" % n, expression)]
    made += 1
    text, file = HEAD % (", ".join(used), expression), "<program %d>" % made
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    scope = {}
    exec(compile(text, file, "exec"), scope)
    try:
        return tilelang.tensor_program(scope["f"], target="cpu").compile(*(np.zeros(*SHAPES[n]) for n in used)).tiles
    except Exception as e:
        return "%s: %s" % (type(e).__name__, str(e).split("\n")[0].replace(file, ""))


def test_every_parameter_of_tensor_programs():
    quiet, seen = [], 0
    for name, signature, group, doc, why in _core.rows():
        if group != "tensor":
            continue
        short = name.split(".")[1]
        values = {p: OWN.get(short, {}).get(p) or USUAL.get(p) for p, _ in parameters(signature)}
        quiet += ["%s(%s): no row" % (name, p) for p in values if not values[p]]
        base = {p: v[0] for p, v in values.items() if v and v[0]}
        before = tiles(call(name, signature, base) + AFTER.get(short, ""))
        if before.split(":")[0].endswith("Error"):
            quiet.append("%s: %s" % (name, before))
        for p, v in values.items():
            seen += 1
            if v and tiles(call(name, signature, {**base, p: v[1]}) + AFTER.get(short, "")) == before:
                quiet.append("%s(%s=%s)" % (name, p, v[1]))
    assert seen > 200 and not quiet, "ignored:\n  " + "\n  ".join(quiet)
