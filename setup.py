"""setup.py -- the whole library as one extension module: a C compiler is all that is needed."""

import glob
import os
import re

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext

here = os.path.dirname(os.path.abspath(__file__))
os.chdir(here)
GEN = os.path.join("build", "wheel-gen")


def version():
    with open("include/tilelang.h") as f:
        return re.search(r'TL_VERSION "([^"]+)"', f.read()).group(1)


def embed(out, files):
    """What tools/embed.sh does, for machines without a shell."""
    os.makedirs(GEN, exist_ok=True)
    with open(os.path.join(GEN, out), "w") as f:
        for path in files:
            with open(path, "rb") as g:
                data = g.read()
            f.write("static const unsigned char %s[] = {\n" % re.sub(r"[^A-Za-z0-9]", "_", path))
            for i in range(0, len(data), 16):
                f.write(",".join(str(b) for b in data[i : i + 16]) + ",\n")
            f.write("0};\n")


def sources():
    found = []
    for folder, _, names in os.walk("src"):
        found += [os.path.join(folder, n) for n in names if n.endswith(".c")]
    return sorted(found)


class Build(build_ext):
    def run(self):
        for folder in sorted(os.listdir("device")):
            embed("device_%s.h" % folder, sorted(glob.glob("device/%s/*" % folder)))
        embed("errors_text.h", ["doc/errors.md"])
        embed("package_text.h", sorted(glob.glob("python/tilelang/rocm/intrinsics/*.py")))
        super().run()

    def build_extensions(self):
        """Objects side by side: there are many, and setuptools takes one after the other."""
        from concurrent.futures import ThreadPoolExecutor

        one = self.compiler.compile

        def all_of(files, *args, **keys):
            with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
                made = pool.map(lambda f: one([f], *args, **keys), files)
                return [o for objects in made for o in objects]

        self.compiler.compile = all_of
        super().build_extensions()


setup(
    version=version(),
    ext_modules=[
        Extension(
            "tilelang._core",
            sources(),
            include_dirs=["src", "include", GEN],
            define_macros=[("_GNU_SOURCE", None), ("Py_LIMITED_API", "0x030A0000")],
            extra_compile_args=["-std=c11", "-O2", "-g0", "-fvisibility=hidden"],
            extra_link_args=["-Wl,--version-script=src/py/exports.txt"],
            libraries=["m", "pthread", "dl"],
            py_limited_api=True,
        )
    ],
    cmdclass={"build_ext": Build},
    options={"bdist_wheel": {"py_limited_api": "cp310"}},
)
