"""Lists what a package named tilelang offers, and what is new between two of them.

    inventory.py ROOT                 every public name with its signature, module by module
    inventory.py OLD NEW              names that NEW adds, takes away or gives another signature
    inventory.py OLD NEW --here DIR   the added and changed ones, and whether DIR has them

ROOT, OLD, NEW and DIR are folders that hold the package (an unpacked wheel, or python/ here).  Files
are read, never imported, so a package need not fit this machine.
"""

import argparse
import ast
import pathlib

DEFS = (ast.FunctionDef, ast.AsyncFunctionDef)


def signature(node):
    """The parameters of a function as a caller sees them: no annotations, no self."""
    a = node.args
    names = [p.arg for p in a.posonlyargs + a.args]
    parts = list(names)
    for i, value in enumerate(reversed(a.defaults), 1):
        parts[-i] += "=" + ast.unparse(value)
    parts = parts[1:] if names[:1] in (["self"], ["cls"]) else parts
    if a.vararg or a.kwonlyargs:
        parts.append("*" + (a.vararg.arg if a.vararg else ""))
    for p, value in zip(a.kwonlyargs, a.kw_defaults):
        parts.append(p.arg + ("=" + ast.unparse(value) if value else ""))
    if a.kwarg:
        parts.append("**" + a.kwarg.arg)
    return "(" + ", ".join(parts) + ")"


def statements(body):
    """Statements that run on import, those under if and try too."""
    for s in body:
        yield s
        for field in ("body", "orelse", "finalbody"):
            if isinstance(s, (ast.If, ast.Try, ast.With)):
                yield from statements(getattr(s, field, []))
        for handler in getattr(s, "handlers", []):
            yield from statements(handler.body)


def of_class(node):
    found = {"": "class"}
    for s in node.body:
        if isinstance(s, DEFS) and (not s.name.startswith("_") or s.name == "__init__"):
            found["." + s.name] = signature(s)
        elif isinstance(s, ast.AnnAssign) and isinstance(s.target, ast.Name):
            found["." + s.target.id] = "field"
        elif isinstance(s, ast.Assign):
            found.update({"." + t.id: "field" for t in s.targets if isinstance(t, ast.Name)})
    return found


class Package:
    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.cache = {}

    def file(self, module):
        stem = self.root.joinpath(*module.split("."))
        for f in (stem / "__init__.pyi", stem / "__init__.py",
                  stem.with_suffix(".pyi"), stem.with_suffix(".py")):
            if f.exists():
                return f
        return None

    def modules(self):
        found = set()
        for f in self.root.joinpath("tilelang").rglob("*.py*"):
            name = ".".join(f.relative_to(self.root).with_suffix("").parts)
            if f.suffix in (".py", ".pyi") and "3rdparty" not in name:
                found.add(name.removesuffix(".__init__"))
        return sorted(m for m in found if not any(p.startswith("_") for p in m.split(".")))

    def source(self, module, node):
        """The module an import statement names, dots counted from `module`."""
        if not node.level:
            return node.module
        parts = module.split(".")
        if self.file(module).stem != "__init__":
            parts = parts[:-1]
        parts = parts[:len(parts) - node.level + 1]
        return ".".join(parts + ([node.module] if node.module else []))

    def names(self, module):
        """{name: signature} of a module; names of other modules are followed to their definition."""
        if module in self.cache:
            return self.cache[module]
        found = self.cache[module] = {}
        f = self.file(module)
        if f is None:
            return found
        said = None
        for s in statements(ast.parse(f.read_text()).body):
            if isinstance(s, DEFS):
                found[s.name] = signature(s)
            elif isinstance(s, ast.ClassDef):
                found.update({s.name + k: v for k, v in of_class(s).items()})
            elif isinstance(s, ast.ImportFrom):
                self.imported(module, s, found)
            elif isinstance(s, (ast.Assign, ast.AnnAssign)):
                said = self.assigned(s, found) or said
        for key in [k for k in found if k.startswith("_") and not k.startswith("__")]:
            del found[key]
        if said is not None:
            found = {k: v for k, v in found.items() if k.split(".")[0] in said}
        self.cache[module] = found
        return found

    def imported(self, module, node, found):
        source = self.source(module, node)
        there = self.names(source) if source and source.startswith("tilelang") else {}
        for alias in node.names:
            if alias.name == "*":
                found.update(there)
                continue
            name = alias.asname or alias.name
            if not there and alias.asname is None and not (source or "").startswith("tilelang"):
                continue                         # os, typing, torch: no names of this package
            found[name] = "value"
            for k, v in there.items():
                if k == alias.name or k.startswith(alias.name + "."):
                    found[name + k[len(alias.name):]] = v

    @staticmethod
    def assigned(node, found):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        for t in targets:
            if not isinstance(t, ast.Name):
                continue
            if t.id == "__all__":
                return {c.value for c in ast.walk(node.value) if isinstance(c, ast.Constant)}
            found.setdefault(t.id, found.get(getattr(node.value, "id", ""), "value"))
        return None


def changes(old, new):
    """[(module, name, signature before, signature now)]; None where there is no such name."""
    out = []
    for module in sorted(set(old.modules()) | set(new.modules())):
        a, b = old.names(module), new.names(module)
        for name in sorted(set(a) | set(b)):
            if a.get(name) != b.get(name):
                out.append((module, name, a.get(name), b.get(name)))
    return out


def state(here, module, name, now):
    """What this package says to a name that the newer version has."""
    mine = here.names(module).get(name)
    if mine is None and ".language" in module:  # dialects hand on T's own names
        mine = here.names("tilelang.language").get(name)
    if mine is None:
        return "missing"
    return "same" if mine == now or "value" in (mine, now) else "here " + mine


def main():
    ap = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    ap.add_argument("roots", nargs="+", metavar="ROOT", help="one or two folders with a package")
    ap.add_argument("--here", metavar="DIR", help="a package that is asked for what is new")
    ap.add_argument("--under", default="tilelang", help="only this module and what is below it")
    args = ap.parse_args()
    packages = [Package(r) for r in args.roots]
    if len(packages) > 2:
        ap.error("one or two packages can be compared")
    if len(packages) == 1:
        for module in packages[0].modules():
            for name, sig in sorted(packages[0].names(module).items()):
                if (module + ".").startswith(args.under + "."):
                    print(module, name, sig, sep="\t")
        return
    here = Package(args.here) if args.here else None
    for module, name, before, now in changes(*packages):
        if not (module + ".").startswith(args.under + "."):
            continue
        kind = "new" if before is None else "gone" if now is None else "changed"
        row = [kind, module, name, now or before]
        if here is not None and now is not None:
            row.append(state(here, module, name, now))
        print(*row, sep="\t")


if __name__ == "__main__":
    main()
