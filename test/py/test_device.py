"""What the package says of this machine's device."""

import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def driver(folder, answers):
    """A libcuda.so.1 in which every function that is asked for succeeds but those of answers."""
    names = set()
    for name in ("cuda.c", "cuda.h", "map.c"):
        with open(os.path.join(ROOT, "src/target/cuda/rt", name)) as f:
            names |= set(re.findall(r"\bcu[A-Z]\w*", f.read()))
    text = "".join("int %s(%s) { %s }\n" % (n, *answers.get(n, ("void", "return 0;"))) for n in sorted(names))
    with open(os.path.join(folder, "driver.c"), "w") as f:
        f.write(text)
    subprocess.run([os.environ.get("CC", "cc").split()[-1], "-w", "-shared", "-fPIC", "-o", os.path.join(folder, "libcuda.so.1"),
                    os.path.join(folder, "driver.c")], check=True)


def asked(folder, lines):
    env = dict(os.environ, LD_LIBRARY_PATH=folder, PYTHONPATH=os.pathsep.join(os.path.abspath(p) for p in sys.path if p))
    return subprocess.run([sys.executable, "-c", lines], capture_output=True, text=True, env=env)


def test_a_device_that_cannot_be_used_is_no_cpu():
    one, full = ("int *n", "*n = 1; return 0;"), ("void **c, int d", "return 2;")
    name = ("int r, const char **t", '*t = "out of memory"; return 0;')
    with tempfile.TemporaryDirectory() as folder:
        driver(folder, {"cuDeviceGetCount": one, "cuDevicePrimaryCtxRetain": full, "cuGetErrorString": name,
                        "cuGetErrorName": name})
        got = asked(folder, "import tilelang.utils.target as t\nprint(t.has_gpu())\nt.determine_target('auto')")
        assert got.stdout == "False\n" and "out of memory" in got.stderr and "[device-unusable]" in got.stderr, got
        assert "target=\"cpu\"" in got.stderr and got.returncode == 1, got
        assert asked(folder, "import tilelang.utils.target as t\nt.determine_target('cpu')").returncode == 0
        driver(folder, {"cuDeviceGetCount": ("int *n", "*n = 0; return 0;")})
        got = asked(folder, "import tilelang.utils.target as t\nprint(t.determine_target('auto'))")
        assert got.stdout.startswith("cpu"), got
