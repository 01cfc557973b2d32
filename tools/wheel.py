"""wheel.py -- is a wheel what its name says: abi3, manylinux_2_28, nothing of third parties, one symbol exported.

Usage: wheel.py FILE.whl"""

import re
import subprocess
import sys
import tempfile
import zipfile

MAY_NEED = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "ld-linux-aarch64.so.1", "ld-linux-x86-64.so.2"}
GLIBC = (2, 28)


def faults(path):
    name = path.rpartition("/")[2]
    m = re.fullmatch(r"tilelang_c-([\w.]+)-cp310-abi3-manylinux_2_28_(x86_64|aarch64)\.whl", name)
    if not m:
        return ["its name is %s" % name]
    out = []
    with zipfile.ZipFile(path) as z, tempfile.TemporaryDirectory() as folder:
        names = z.namelist()
        library = [n for n in names if n.endswith(".so")]
        if library != ["tilelang/_core.abi3.so"]:
            return ["it holds the libraries %s" % library]
        about = z.read("tilelang_c-%s.dist-info/METADATA" % m.group(1)).decode()
        for field in ("Name: tilelang-c\n", "License", "Author", "Requires-Python: >=3.10\n"):
            if field not in about:
                out.append("its metadata has no %s" % field.strip())
        if "Requires-Dist" in about:
            out.append("it requires other distributions")
        library = z.extract(library[0], folder)
        said = subprocess.run(["readelf", "-dW", library], capture_output=True, text=True, check=True).stdout
        for need in re.findall(r"\(NEEDED\).*\[(.*)\]", said):
            if need not in MAY_NEED:
                out.append("it needs %s" % need)
        table = subprocess.run(["readelf", "--dyn-syms", "-W", library], capture_output=True, text=True, check=True).stdout
        machine = subprocess.run(["readelf", "-h", library], capture_output=True, text=True, check=True).stdout
        if ("AArch64" in machine) != (m.group(2) == "aarch64"):
            out.append("its code is for another machine")
        for line in table.splitlines():
            words = line.split()
            if len(words) < 8 or not words[0].rstrip(":").isdigit():
                continue
            if words[6] not in ("UND", "ABS") and words[4] == "GLOBAL" and words[7] != "PyInit__core":
                out.append("it exports %s" % words[7])
            for version in re.findall(r"@GLIBC_([\d.]+)", words[7]):
                if tuple(map(int, version.split("."))) > GLIBC:
                    out.append("%s needs a newer glibc" % words[7])
    return out


found = faults(sys.argv[1])
for text in found[:20]:
    print("%s: %s" % (sys.argv[1], text))
sys.exit(bool(found))
