"""vscode.py TL -- the VS Code extension: what its description promises is there, it packs, and what is packed runs in Node with the real server.

VS Code itself is not started.  Where there is no Node, only the package is looked at."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import vsix  # noqa: E402

# What VS Code's own schema of package.json asks for, of the parts that are used here.
NEEDED = {"name": r"[a-z0-9][a-z0-9-]*", "publisher": r"[A-Za-z0-9][A-Za-z0-9-]*", "version": r"\d+\.\d+\.\d+", "displayName": ".+", "description": ".+", "main": r"\./[\w.]+\.js"}
CATEGORIES = {"Programming Languages", "Snippets", "Linters", "Themes", "Debuggers", "Formatters", "Keymaps", "SCM Providers", "Other", "Extension Packs", "Language Packs",
              "Data Science", "Machine Learning", "Visualization", "Notebooks", "Education", "Testing"}
KNOWN = {*NEEDED, "license", "engines", "categories", "activationEvents", "contributes", "files"}
passed = failed = 0


def check(what, holds, *seen):
    global passed, failed
    passed, failed = passed + bool(holds), failed + (not holds)
    if not holds:
        print(f"FAIL {what}:", *(str(s)[:1500] for s in seen))


def describe(folder):
    with open(os.path.join(folder, "package.json"), encoding="utf-8") as f:
        about = json.load(f)
    with open(os.path.join(folder, "extension.js"), encoding="utf-8") as f:
        code = f.read()
    for key, pattern in NEEDED.items():
        check(key, re.fullmatch(pattern, about.get(key, "")), about.get(key))
    check("no field that VS Code does not know", set(about) <= KNOWN, set(about) - KNOWN)
    check("engines", re.fullmatch(r"\^\d+\.\d+\.\d+", about["engines"]["vscode"]), about["engines"])
    check("categories", set(about["categories"]) <= CATEGORIES, about["categories"])
    check("events", all(re.fullmatch(r"on[A-Z]\w*(:\w+)?|\*", e) for e in about["activationEvents"]), about["activationEvents"])
    check("main", os.path.exists(os.path.join(folder, about["main"])), about["main"])
    for name, setting in about["contributes"]["configuration"]["properties"].items():
        own = name.removeprefix("tilelang.")
        check(f"setting {name}", setting["type"] == "string" and isinstance(setting["default"], str) and setting["description"] and f'settings.get("{own}")' in code, setting)
    for needed in re.findall(r'require\("\./(\w+)"\)', code):
        check(f"{needed}.js is packed", needed + ".js" in about["files"], about["files"])
    check("needs nothing from npm", "dependencies" not in about and not re.search(r'require\("(?!vscode"|\./|child_process")', code))


def packed(folder):
    path, again = os.path.join(folder, "a.vsix"), os.path.join(folder, "b.vsix")
    vsix.package(path)
    vsix.package(again)
    with open(path, "rb") as a, open(again, "rb") as b:
        check("the same bytes", a.read() == b.read())
    with zipfile.ZipFile(path) as z:
        names = set(z.namelist())
        check("a zip", z.testzip() is None and {"extension.vsixmanifest", "[Content_Types].xml", "extension/package.json", "extension/extension.js"} <= names, names)
        for name in ("extension.vsixmanifest", "[Content_Types].xml"):
            root = xml.etree.ElementTree.fromstring(z.read(name))
        types = {x.get("Extension") for x in root}
        check("a type for every file", {os.path.splitext(n)[1] for n in names if not n.startswith("[")} <= types, names, types)
        assets = re.findall(r'Path="([^"]+)"', z.read("extension.vsixmanifest").decode())
        check("every asset is there", set(assets) <= names and assets, assets)
        z.extractall(os.path.join(folder, "at"))
    return os.path.join(folder, "at/extension")


def main(tl):
    global passed, failed
    describe(os.path.join(ROOT, "editors/vscode"))
    with tempfile.TemporaryDirectory() as folder:
        at = packed(folder)
        if shutil.which("node"):
            script = os.path.join(ROOT, "test/lsp/vscode.js")
            done = subprocess.run(["node", script, at, tl], capture_output=True, text=True, timeout=600)
            last = re.search(r"(\d+) passed, (\d+) failed\n$", done.stdout)
            passed, failed = passed + int(last.group(1) if last else 0), failed + int(last.group(2) if last else 1)
            if done.returncode:
                print(done.stdout, done.stderr)
        else:
            print("no Node here: the extension is not run")
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main(os.path.abspath(sys.argv[1])))
