"""The emitted text of a script's kernel, without a GPU and without running the script's main part.

    python3 -m tilelang.tools.compile_only --target cuda --output_file out.cu example.py

The first @tilelang.jit function or @T.prim_func of the file is taken."""

import argparse
import contextlib
import importlib.util
import json
import sys

__all__ = ["DEFAULT_TARGET", "cli_main", "compile_kernel_source", "cuda_codegen_available",
           "discover_prim_func", "load_example", "resolve_target"]

DEFAULT_TARGET = "c"
_CUDA = "cuda -arch=sm_80"  # what "cuda" means where no device is asked


def cuda_codegen_available():
    """Text for GPUs needs nothing but this package."""
    return True


def resolve_target(target):
    """The target a name stands for; never the one of this machine."""
    text = target.strip() if isinstance(target, str) else target
    if isinstance(text, str) and text.startswith("{"):
        try:
            text = json.loads(text)
        except ValueError:
            raise ValueError("this is no target in JSON: %r" % target) from None
    if isinstance(text, dict):
        if "kind" not in text:
            raise ValueError("a target in JSON has a kind: %r" % target)
        words = [text["kind"]] + ["-%s=%s" % (k, v) for k, v in text.items() if k != "kind"]
        text = " ".join(words)
    if text in ("", "auto"):
        raise ValueError("name a target: the one of this machine is not asked for")
    return _CUDA if text == "cuda" else text


def load_example(path):
    """The file as a module; what stands under __main__ is not run."""
    spec = importlib.util.spec_from_file_location("tilelang_compile_only_input", path)
    if spec is None or spec.loader is None:
        raise RuntimeError("cannot load %s" % path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def discover_prim_func(module, target=None):
    """The first kernel function of the module, in its order; of a factory with its defaults, which
    may depend on the target."""
    from .._target import Target
    from ..jit import JITImpl
    from ..language import PrimFunc

    for value in list(vars(module).values()):
        if isinstance(value, JITImpl):
            with Target(target) if target else contextlib.nullcontext():
                return value.get_tir()
        if isinstance(value, PrimFunc):
            return value
    raise ValueError("there is neither a @tilelang.jit function nor a @T.prim_func in this file")


def compile_kernel_source(func, target=DEFAULT_TARGET):
    from .. import lower

    return lower(func, target=resolve_target(target)).kernel_source


def cli_main(argv=None):
    ap = argparse.ArgumentParser(prog="compile_only", description=__doc__.splitlines()[0])
    ap.add_argument("input", help="a Python file with a kernel")
    ap.add_argument("--target", default=DEFAULT_TARGET, help="c, cuda, cuda -arch=sm_90a, …")
    ap.add_argument("--output_file", "-o", help="where the text goes; standard output if not given")
    args = ap.parse_args(argv)
    try:
        target = resolve_target(args.target)
        text = compile_kernel_source(discover_prim_func(load_example(args.input), target), target)
        if args.output_file:
            with open(args.output_file, "w") as f:
                f.write(text)
        else:
            sys.stdout.write(text)
    except Exception as why:
        print("tilelang compile-only error: %s" % why, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(cli_main())
