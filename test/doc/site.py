"""site.py TL -- the site of `make site`: every link of it leads somewhere, every tag and name has its place.

The last line is "N passed, M failed"."""
import glob
import html.parser
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
VOID = {"meta", "link", "input", "br", "img", "hr"}


class Page(html.parser.HTMLParser):
    """Links, ids, and whether every element that opens closes."""

    def __init__(self, path):
        super().__init__()
        self.links, self.ids, self.open, self.wrong = [], set(), [], []
        with open(path, encoding="utf-8") as f:
            self.feed(f.read())
        self.wrong += [f"<{t}> stays open" for t in self.open]

    def handle_starttag(self, tag, attrs):
        for name, value in attrs:
            if name in ("href", "src"):
                self.links.append(value)
            if name == "id":
                self.ids.add(value)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"</{tag}> closes what is not open")


def check(folder):
    pages = {os.path.relpath(p, folder): Page(p) for p in glob.glob(folder + "/**/*.html", recursive=True)}
    for name, page in sorted(pages.items()):
        wrong = list(page.wrong)
        for link in page.links:
            if re.match(r"(https?|mailto):", link):
                continue
            path, _, anchor = link.partition("#")
            to = os.path.normpath(os.path.join(os.path.dirname(name), path)) if path else name
            if not os.path.exists(os.path.join(folder, to)):
                wrong.append(f"a link to {link}, which is not there")
            elif anchor and to in pages and anchor not in pages[to].ids:
                wrong.append(f"a link to {link}, which has no such place")
        yield name, wrong
    with open(os.path.join(ROOT, "doc/errors.md"), encoding="utf-8") as f:
        tags = re.findall(r"^## (\S+)", f.read(), re.M)
    shown = [t for t in tags if "<p>is answered by</p>" in open(os.path.join(folder, f"errors/{t}.html"), encoding="utf-8").read()]
    yield "an example on the pages of tags", [] if len(shown) > 0.6 * len(tags) else [f"{len(shown)} of {len(tags)}"]
    yield "a page for each tag", [t for t in tags if f"errors/{t}.html" not in pages]
    with open(os.path.join(ROOT, "src/front/builtin.def"), encoding="utf-8") as f:
        names = re.findall(r'^BUILTIN\("(\w+)"', f.read(), re.M)
    yield "a place for each name", [n for n in names if "T." + n not in pages["names.html"].ids]


def main():
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, os.path.join(ROOT, "tools/site.py"), sys.argv[1], folder], check=True, stdout=subprocess.DEVNULL)
        for name, wrong in check(folder):
            passed, failed = passed + (not wrong), failed + bool(wrong)
            if wrong:
                print(f"FAIL {name}:", *wrong[:5], sep="\n    ")
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
