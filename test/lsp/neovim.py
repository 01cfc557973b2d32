"""neovim.py TL -- Neovim without a screen, with the lines of doc/editor.md: messages, hover, completion, definition.

Without nvim nothing is counted."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
KERNEL = '''import tilelang
import tilelang.language as T


@tilelang.jit
def double(N=256):
    @T.prim_func
    def main(X: T.Tensor((N,), "float32"), Y: T.Tensor((N,), "float32")):
        with T.Kernel(1, threads=128) as bx:
            tile = T.alloc_shared((N,), "float32")
            T.copy(X, tile)
            T.cpoy(tile, Y)

    return main
'''
# Lines and characters are counted from 0 in requests.
ASK = '''
local out = {}
local function put(key, value) out[key] = value end
local function ask(method, line, character)
  local got = vim.lsp.buf_request_sync(0, 'textDocument/' .. method, {
    textDocument = { uri = vim.uri_from_bufnr(0) }, position = { line = line, character = character } }, 60000)
  for _, answer in pairs(got or {}) do
    return answer.result
  end
end
vim.wait(60000, function() return #vim.diagnostic.get(0) > 0 end, 50)
put('diagnostics', vim.diagnostic.get(0))
put('hover', ask('hover', 10, 15))
put('completion', ask('completion', 10, 14))
put('definition', ask('definition', 10, 22))
local file = io.open(vim.env.TL_TEST_OUT, 'w')
file:write(vim.fn.json_encode(out))
file:close()
vim.cmd('qall!')
'''


def setup(version):
    """The lines that the document has for this version."""
    with open(os.path.join(ROOT, "doc/editor.md"), encoding="utf-8") as f:
        new, old = re.findall(r"```lua\n(.*?)```", f.read(), re.S)
    return new if version >= (0, 11) else old


def main(tl):
    nvim = shutil.which("nvim")
    if not nvim:
        print("no nvim here\n0 passed, 0 failed")
        return 0
    version = tuple(map(int, re.search(r"v(\d+)\.(\d+)", subprocess.run([nvim, "--version"], capture_output=True, text=True).stdout).groups()))
    with tempfile.TemporaryDirectory() as folder:
        def path(name, text=None):
            if text is not None:
                with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                    f.write(text)
            return os.path.join(folder, name)

        env = dict(os.environ, PATH=os.path.dirname(os.path.abspath(tl)) + ":" + os.environ["PATH"], TL_TEST_OUT=path("out.json"), HOME=folder,
                   XDG_STATE_HOME=folder, XDG_DATA_HOME=folder, XDG_CONFIG_HOME=folder)
        done = subprocess.run([nvim, "--headless", "-u", path("init.lua", "vim.cmd('filetype on')\n" + setup(version)), path("kernel.py", KERNEL), "-S", path("ask.lua", ASK)],
                              env=env, cwd=folder, capture_output=True, text=True, timeout=300)
        if not os.path.exists(path("out.json")):
            print("FAIL neovim:", done.stdout, done.stderr, "\n0 passed, 1 failed")
            return 1
        with open(path("out.json"), encoding="utf-8") as f:
            out = json.load(f)
    items = out["completion"]["items"] if isinstance(out["completion"], dict) else out["completion"]
    place = out["definition"][0] if isinstance(out["definition"], list) else out["definition"]
    holds = {
        "messages": any(d.get("code") == "no-such-name" and d["lnum"] == 11 for d in out["diagnostics"]),
        "hover": "src, dst" in json.dumps(out["hover"]),
        "completion": any(i["label"] == "alloc_shared" for i in items),
        "definition": place["range"]["start"]["line"] == 9,
    }
    for what in [w for w, good in holds.items() if not good]:
        print(f"FAIL neovim: {what}:", json.dumps(out.get(what) or out["diagnostics"])[:600])
    print("Neovim %d.%d\n%d passed, %d failed" % (*version, sum(holds.values()), 4 - sum(holds.values())))
    return not all(holds.values())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
