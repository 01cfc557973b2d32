"""Names of the original that are not here: by module, and why.  They are no attributes: hasattr says no,
an import fails, and the error says why.  (Names of T stand with the others in the compiler's table.)"""

NO_TVM = "there is no TVM here"
TARGETS = "targets are chosen by target=, and their words are in its language"

WHY = {
    "tilelang.analysis": "a kernel is checked when it is compiled (tl verify says what was found)",
    "tilelang.cache": "there is one cache (tl cache)",
    "tilelang.carver.roller": "hints are made for the templates of tilelang.carver",
    "tilelang.contrib": "compilers and drivers are found by the library (tl targets)",
    "tilelang.cpu": TARGETS,
    "tilelang.intrinsics": "T.gemm chooses the instructions by itself",
    "tilelang.ir": "the tile IR is text (tl dump, doc/ir.md)",
    "tilelang.layout": "layouts are T.Layout, T.Fragment and what makes them",
    "tilelang.metal": TARGETS,
    "tilelang.quantize": "kernels take numbers apart with shifts and masks",
    "tilelang.rocm": TARGETS,
    "tilelang.tools": "tl layout, tl profile and tl explain show the rest",
    "tilelang.tvm": NO_TVM,
    "tilelang.utils": "it belongs to the inside of the original",
    "tilelang.webgpu": TARGETS,
}


def refusal(module, name):
    """The AttributeError for a name of a module, or of one below it."""
    known = module
    while known not in WHY:
        known = known.rpartition(".")[0]
    return AttributeError("%s.%s is not supported: %s" % (module.replace("tilelang.tvm", "tvm"), name, WHY[known]))


def names_of(module, **lazy):
    """The __getattr__ of a module: names that are found on first use, each with the module below this
    one that has it ("" where it is that module itself); all others are refused."""

    def get(name):
        if name.startswith("__") or name not in lazy:
            raise refusal(module, name)
        import importlib

        if not lazy[name]:
            return importlib.import_module("%s.%s" % (module, name))
        return getattr(importlib.import_module("%s.%s" % (module, lazy[name])), name)

    return get
