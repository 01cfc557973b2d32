"""The code of doc/python.md runs as it stands, cell by cell."""

import contextlib
import importlib.util
import io
import linecache
import os
import re


def test_quickstart():
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "..", "..", "doc", "python.md")) as f:
        cells = re.findall(r"```python\n(.*?)```", f.read(), re.S)
    assert len(cells) >= 9 and "T.gemm" in cells[0] and "T.empty" in cells[1]
    names, said = {"__name__": "__main__"}, io.StringIO()
    for i, cell in enumerate(cells):
        if cell.startswith("# needs torch") and importlib.util.find_spec("torch") is None:
            continue
        file = "<cell %d of doc/python.md>" % (i + 1)
        linecache.cache[file] = len(cell), None, cell.splitlines(True), file
        with contextlib.redirect_stdout(said):
            exec(compile(cell, file, "exec"), names)
    for words in ("dimension 0 is 6; the kernel takes 5 (= M)", "wgmma", "indexed with 2", " ms",
                  "block_M"):
        assert words in said.getvalue(), words
