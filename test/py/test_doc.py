"""The code of doc/python.md runs as it stands."""

import os
import re
import subprocess
import sys
import tempfile


def test_quickstart():
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "..", "..", "doc", "python.md")) as f:
        code = "\n".join(re.findall(r"```python\n(.*?)```", f.read(), re.S))
    assert "T.gemm" in code and "T.empty" in code
    with tempfile.NamedTemporaryFile("w", suffix=".py") as f:
        f.write(code)
        f.flush()
        r = subprocess.run([sys.executable, f.name], capture_output=True, text=True)
    assert r.returncode == 0, r.stderr
