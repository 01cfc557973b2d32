"""Nothing is silently ignored: every parameter of every T.* and of every function of the package is given a
value that is not its default, and there is an effect, a warning or an error.

The names and parameters come from the tables themselves (_core.rows, inspect); a parameter for which
there is no row fails.  Rows of T.* are in args_language.txt."""

import os
import re

import tilelang
import tilelang.language as T
from tilelang import _core

HERE = os.path.dirname(os.path.abspath(__file__))
SHAPES = {"I": ((8,), None, 32), "J": ((16,), None, 32)}
TARGETS = ("cuda -arch=sm_90a", "cuda -arch=sm_80", "cpu")

# ---- what a row may mention ----------------------------------------------------------------------

TENSORS = {
    **{n: "T.Tensor((128, 128), T.float16)" for n in "AB"},
    **{n: "T.Tensor((128, 128), T.float32)" for n in "CD"},
    **{n: "T.Tensor((128,), T.float32)" for n in "FGHO"},
    **{n: "T.Tensor((1024,), T.int32)" for n in "IJ"},
    "K": "T.Tensor((128, 128), T.int32)",
    "I8": "T.Tensor((128, 128), T.int8)", "J8": "T.Tensor((128, 128), T.int8)",
    "N4": "T.Tensor((2, 16, 16, 64), T.float16)", "N5": "T.Tensor((2, 16, 16, 64), T.float16)",
    "BIG": "T.Tensor((512, 1024), T.float16)", "BIG2": "T.Tensor((1024, 128), T.float16)",
    "CB": "T.Tensor((512, 128), T.float32)",
    "n": "T.int32", "m": "T.int32", "W": "T.int64", "W2": "T.int64", "P": "T.ptr", "P2": "T.ptr",
}
TILES = {
    **{n: "T.alloc_shared((64, 64), T.float16)" for n in ("S", "Z", "W16")},
    "S8": "T.alloc_shared((64, 64), T.int8)",
    "X": "T.alloc_shared((64, 32), T.float16)", "X2": "T.alloc_shared((64, 32), T.float16)",
    "Y": "T.alloc_shared((32, 64), T.float16)",
    "M8": "T.alloc_shared((64, 8), T.uint8)", "M82": "T.alloc_shared((64, 8), T.uint8)",
    **{n: "T.alloc_shared((64, 64), T.float32)" for n in ("Q", "Q2")},
    **{n: "T.alloc_fragment((64, 64), T.float32)" for n in ("R", "R2")},
    **{n: "T.alloc_fragment((64, 64), T.int32)" for n in ("RI", "RI2")},
    **{n: "T.alloc_fragment((64,), T.float32)" for n in ("V", "V2")},
    "V64": "T.alloc_fragment((32,), T.float32)",
    **{n: "T.alloc_fragment((64,), T.int32)" for n in ("VI", "VI2")},
    "L": "T.alloc_local((8,), T.float32)", "L2": "T.alloc_local((16,), T.float32)",
    **{n: "T.alloc_local((16,), T.float16)" for n in ("LA", "LB", "LA2", "LB2")},
    **{n: "T.alloc_local((16,), T.float32)" for n in ("LC", "LC2")},
    **{n: "T.alloc_shared((128, 32), T.float8_e4m3fn)" for n in ("E8", "E82", "E83")},
    **{n: "T.alloc_shared((128, 1), T.uint32)" for n in ("SF", "SF2", "SF3")},
    **{n: "T.alloc_shared((128,), T.uint32)" for n in ("SW", "SW2")},
    **{n: "T.alloc_fragment((128, 128), T.float32)" for n in ("RB", "RB2")},
    **{n: "T.alloc_tmem([128, 128], T.float32)" for n in ("TM", "TM2")},
    **{n: "T.alloc_tmem([128, 4], T.uint32)" for n in ("TS", "TS2", "TS3")},
    "bar": "T.alloc_barrier([128, 128])",
    "tx": "T.get_thread_binding(0)",
    "FRAG": "T.Fragment((64, 64), forward_thread_fn=lambda i, j: j, forward_index_fn=lambda i, j: i)",
    "FRAG2": "T.Fragment((64, 64), forward_thread_fn=lambda i, j: i // 2, "
             "forward_index_fn=lambda i, j: j + i % 2 * 64)",
    "ROLES": "[T.WSRole('a', warps_lo=0, warps_hi=4), T.WSRole('b', warps_lo=4, warps_hi=8)]",
    "WS": "T.WSSchedule(8, [], [], [])",
    "WS2": "T.WSSchedule(12, [], [], [])",
}
TEXTS = {
    "SOURCE": 'extern "C" __global__ void main_kernel(float *F) { F[0] = 1; }\n'
              'extern "C" __global__ void other_kernel(float *F) { F[0] = 3; }\n',
    "OTHER": 'extern "C" __global__ void main_kernel(float *F) { F[0] = 2; }\n',
}


def mentioned(table, text):
    return [n for n in table if re.search(r"(?<![\w.'\"])%s(?!\w|\s*=[^=])" % n, text)]


def function(body):
    """The function around a row's text."""
    if body.startswith("raw:"):
        return body[4:].strip().replace("  //  ", "\n") + "\n"
    eager, whole = body.startswith("eager:"), body.startswith("whole:")
    lines = re.split(r"  //  ", body.split(":", 1)[1].strip() if whole or eager else body)
    text = "\n".join(lines)
    if whole or eager:
        own = [line for line in lines if re.match(r"\w+: T\.", line)]
        lines = [line for line in lines if line not in own]
    else:
        own = []
    tiles = [] if whole or eager else mentioned(TILES, text)
    tensors = [n for n in mentioned(TENSORS, text) if n not in tiles
               and not any(o.startswith(n + ":") for o in own)]
    head = "def f(%s):\n" % ", ".join(["%s: %s" % (n, TENSORS[n]) for n in tensors] + own)
    if whole or eager:
        return head + "".join("    %s\n" % line for line in lines)
    made = ["%s = %s" % (n, TILES[n]) for n in tiles]
    return head + "    with T.Kernel(4, 4, threads=128) as (bx, by):\n" + "".join(
        "        %s\n" % line for line in made + lines)


def seen(body, targets=TARGETS):
    """What comes out of a function for the targets, one after the other: texts, plans and warnings, or a
    message."""
    text = function(body)
    if "blockscaled" in body or "T.clc_" in body:
        targets += ("cuda -arch=sm_100a", "cuda -arch=sm_120a")
    if "k_pack" in body or "tvm_mfma" in body:
        targets += ("hip -mcpu=gfx942",)
    kind = "eager" if body.startswith(("eager:", "raw:")) else "prim"
    for target in targets:
        try:
            trace = _core.trace("k.py", text, kind, ({}, {"T": T, "tilelang": tilelang, **TEXTS}, {}, {}), {},
                                SHAPES if kind == "eager" else {}, target)
            params = str(trace.params())
            made = trace.compile(target, no_cache=True, no_build=True)
        except Exception as e:
            yield type(e).__name__ + ": " + str(e)
        else:
            said = re.findall(r"warning: .*", made.text("warnings"))  # not the lines that they quote
            yield "\n".join([made.text("source"), made.text("plans"), params] + said)


# ---- signatures and calls -----------------------------------------------------------------------


def split(text, at):
    """Parts of a text outside of brackets and quotes."""
    parts, depth, quote, start = [], 0, "", 0
    for i, c in enumerate(text):
        if quote:
            quote = "" if c == quote else quote
        elif c in "\"'":
            quote = c
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif c == at and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [p.strip() for p in parts + [text[start:]] if p.strip()]


def parameters(signature):
    """[(name, stars)]"""
    found = []
    for p in split(signature, ","):
        stars = len(p) - len(p.lstrip("*"))
        name = p.lstrip("*").split("=")[0].strip()
        if name:
            found.append((name, stars))
    return found


def call(name, signature, given):
    """The call's text.  What stands before *name goes by place."""
    params = parameters(signature)
    stars = [i for i, p in enumerate(params) if p[1] == 1]
    words, owner = [], "T"
    for i, (p, star) in enumerate(params):
        if p not in given:
            continue
        if p == "self":
            owner = "(%s)" % given[p]
        elif star or (stars and i < stars[0]):
            words.append(given[p])
        else:
            words.append("%s=%s" % (p, given[p]))
    own, _, method = name.rpartition(".")
    if "self" in given or own:
        owner = {"": owner, "layout": "tilelang.layout", "tilelang": "tilelang", "WSSync": "T.WSSync",
                 "GemmWarpPolicy": owner if "self" in given else "T.GemmWarpPolicy"}.get(own, owner)
    return "%s.%s(%s)" % (owner, method, ", ".join(words))


def assignments(text, params):
    """[(parameter, value)]; a parameter may be given by its place."""
    pairs = [p.split("=", 1) for p in split(text, ";")]
    return [(params[int(k)][0] if k.strip().isdigit() else k.strip(), v.strip()) for k, v in pairs]


def rows():
    """{name: [(text, {parameter: value}, [(parameter, other value)])]}"""
    signatures = {r[0]: r[1] for r in _core.rows()}
    found = {}
    with open(os.path.join(HERE, "args_language.txt")) as f:
        for line in f:
            if not line.strip() or line.startswith("#"):
                continue
            names, body, base, other = [p.strip() for p in line.split("|")]
            for name in names.split(", "):
                params = parameters(signatures[name])
                found.setdefault(name, []).append(
                    (body, dict(assignments(base, params)), assignments(other, params)))
    return found


# Arguments for functions of values: the first pool that a function takes is used.
POOLS = {
    "floats": ("O[tx] = @", ("F[tx]", "G[tx]", "H[tx]"), "F[tx + 1]"),
    "integers": ("I[tx] = @", ("I[tx]", "J[tx]", "K[tx, 0]"), "I[tx + 1]"),
    "conditions": ("if @:  //      I[tx] = 2", ("tx < n", "tx > m", "tx > 3"), "tx == 9"),
    "pairs": ("F[T.Ramp(0, 1, 2)] = @",
              ("F[T.Ramp(2, 1, 2)]", "G[T.Ramp(2, 1, 2)]", "H[T.Ramp(2, 1, 2)]"), "F[T.Ramp(4, 1, 2)]"),
}


def failed(text):
    return re.match(r"\w+: ", text) is not None


def pooled(name, signature):
    """A row for a function of values alone."""
    params = parameters(signature)
    for body, values, other in POOLS.values():
        base = {p[0]: v for p, v in zip(params, values)}
        if len(base) == len(params) and not failed(next(seen(body.replace("@", call(name, signature, base))))):
            return [(body, base, [(p[0], other) for p in params])]
    return []


def refused(name, signature):
    """Those that no program can use say so, whatever they are given."""
    params = parameters(signature)
    base = {p: "1" for p, star in params if star < 2}
    said = next(seen("t = " + call(name, signature, base)))
    return failed(said) and ("not supported" in said or "unsupported" in said or "[argument" in said)


# What is accepted and not obeyed anywhere: there is only a warning.
MAY_WARN = {"use_tma", "the order of T.Pipelined", "the schedule of warp roles",
            "the exchange between threads"}


def told(text, out):
    """What a text says is ignored, as a set of names."""
    names = set(re.findall(r"warning: (.*) is ignored: ", out))
    return {n for n in names if re.split(r"[.= ]", n)[-1].strip("'\"") in text or n.startswith("the ")}


def warned(out):
    return " is ignored: " in out


def ignored(name, signature, own, only_told, obeyed):
    """The parameters that nothing is seen of.  only_told: gets those that there is but a warning of;
    obeyed: those that change something."""
    left = {p for p, _ in parameters(signature)}
    quiet = []
    for body, base, other in own:
        before = list(seen(body.replace("@", call(name, signature, base))))
        if all(map(failed, before)):
            quiet.append("%s(…): %s" % (name, before[0]))
        for p, value in other:
            if p not in dict(parameters(signature)):
                continue
            left.discard(p)
            text = body.replace("@", call(name, signature, {**base, p: value}))
            after = list(seen(text))
            if any(a != b and not warned(a) for a, b in zip(after, before)):
                obeyed.add(p)
                continue
            names = told(text, after[0])
            only_told |= names
            if not names:
                quiet.append("%s(%s=%s)" % (name, p, value))
    return quiet + ["%s(%s): no row" % (name, p) for p in sorted(left)]


def test_every_parameter_of_the_language():
    own, quiet, only_told, obeyed = rows(), [], set(), set()
    for name, signature, group, doc, why in _core.rows():
        if why:
            if not refused(name, signature):
                quiet.append("%s is not refused" % name)
        elif parameters(signature) and group != "tensor":  # those: test_args_tensor.py
            quiet += ignored(name, signature, own.get(name) or pooled(name, signature), only_told, obeyed)
    assert not quiet, "ignored:\n  " + "\n  ".join(quiet)
    # With those of pass configs (`tl explain pass_configs`) and target_host they are ten at most.
    never = {n for n in only_told if re.split(r"[.= ]", n)[0] not in obeyed}
    assert never <= MAY_WARN, never - MAY_WARN
    others = {row[0] for row in _core.configs() if row[3] == "ignored"} | {"target_host"}
    assert len(MAY_WARN | others) <= 10, MAY_WARN | others
