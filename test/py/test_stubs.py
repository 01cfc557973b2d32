"""Stubs say what there is: every name and keyword of them exists, and the other way round."""

import ast
import inspect
import os

import tilelang
import tilelang.language as T
from tilelang import _core

HERE = os.path.dirname(tilelang.__file__)


def stub(*path):
    with open(os.path.join(HERE, *path, "__init__.pyi")) as f:
        return ast.parse(f.read()).body


def words(node):
    a = node.args
    return [x.arg for x in a.posonlyargs + a.args + a.kwonlyargs]


def test_names_of_the_language():
    told = {n.name: n for n in stub("language") if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    told.update((n.target.id, n) for n in stub("language") if isinstance(n, ast.AnnAssign))
    for name in told:
        assert hasattr(T, name), name
    for name, signature, _, _, why in _core.rows():
        if "." in name or not name.isidentifier() or name.startswith("__"):
            continue
        if why and "annotations" not in why:
            assert name not in told, name
            continue
        assert name in told, name
        node = told[name]
        if isinstance(node, ast.FunctionDef) and name not in ("prim_func", "macro", "inline",
                                                              "meta_class"):
            have = [p.name for p in inspect.signature(_core.builtin(name)).parameters.values()
                    if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
            assert words(node) == have, name


def test_names_of_the_package():
    for node in stub():
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            thing = getattr(tilelang, node.name)
            if isinstance(node, ast.FunctionDef) and inspect.isfunction(thing):
                assert words(node) == [p.name for p in inspect.signature(thing).parameters.values()
                                       if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    told = {n.name for n in stub() if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    assert {"jit", "compile", "par_compile", "lower", "autotune", "Profiler", "JITKernel",
            "PassConfigKey", "TensorSupplyType", "set_log_level"} <= told
    for node in stub("layout"):
        if isinstance(node, ast.FunctionDef):
            assert hasattr(tilelang.layout, node.name), node.name


def test_asking_for_names_changes_nothing():
    for name in dir(T) + ["int", "float", "bool", "print", "max", "long", "half"]:
        getattr(T, name)
    assert T.float32(3) == 3.0 and T.int32(2.5) == 2 and isinstance(T.float16.bits, int)
    assert T.dtype(int) == "int32" and T.dtype(float) == "float32" and T.int == "int32"
