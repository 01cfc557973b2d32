"""site.py -- the documents as a static site: HTML, search, light and dark, no framework.

Usage: site.py TL DIR [PLAYGROUND]    pages from README.md, doc/*.md, examples/ and what TL says of the language

With the folder of the playground it becomes part of the site, and kernels of the pages have a link that opens them there.
Every page stands alone and works from a folder; links among the documents become links among pages, and
names of the language in code lead to the reference.  Nothing is fetched."""
import base64
import concurrent.futures
import glob
import html
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zlib

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
REPOSITORY = "source/"

# The menu: heading, then (page, title, file).  Documents that it does not name go under the last heading.
MENU = [
    ("Start", [("index", "TileLang in C", "README.md"), ("tutorial", "Tutorial", "doc/tutorial.md"),
               ("tensor-programs", "Tensor programs", "doc/tensor-programs.md"),
               ("coming-from", "Coming from …", "doc/coming-from.md"), ("examples", "Examples", None), ("puzzles", "Puzzles", None)]),
    ("Reference", [("language", "The language", "doc/language.md"), ("names", "Every name", None), ("errors", "Messages", None),
                   ("python", "Python", "doc/python.md"), ("numerics", "Arithmetic", "doc/numerics.md"),
                   ("glossary", "Words", "doc/glossary.md")]),
    ("Machines", [("gpu", "NVIDIA", "doc/gpu.md"), ("blackwell", "Blackwell", "doc/blackwell.md"), ("amd", "AMD", "doc/amd.md"),
                  ("webgpu", "WebGPU", "doc/webgpu.md"), ("opencl", "OpenCL", "doc/opencl.md"), ("metal", "Metal", "doc/metal.md"),
                  ("cutedsl", "CuTe DSL", "doc/cutedsl.md"), ("ascend", "Ascend", "doc/ascend.md"), ("cpu", "CPUs", "doc/cpu.md")]),
    ("Use it", [("playground", "The playground", "doc/playground.md"), ("editor", "In the editor", "doc/editor.md"),
                ("proofs", "Proofs", "doc/proofs.md"), ("tuning", "Tuning", "doc/tuning.md"),
                ("bundles", "Bundles", "doc/bundles.md"), ("serving", "Serving", "doc/serving.md"),
                ("stability", "What is stable", "doc/stability.md"), ("migration", "From the original", "doc/migration.md")]),
    ("Inside", []),
]

STYLE = """
:root{--back:#fff;--ink:#1c2024;--soft:#5b6570;--line:#e1e5ea;--box:#f6f8fa;--link:#0b57d0;--key:#a626a4;--str:#2a7d32;--com:#6b7680;--num:#9a5b00}
:root.dark{color-scheme:dark;--back:#14171a;--ink:#e4e7ea;--soft:#9aa4ae;--line:#2b3138;--box:#1d2126;--link:#8ab4f8;--key:#d7a3e8;--str:#9ccc8c;--com:#8b96a1;--num:#e0b070}
*{box-sizing:border-box}
body{margin:0;background:var(--back);color:var(--ink);font:16px/1.6 system-ui,sans-serif}
a{color:var(--link);text-decoration:none}a:hover{text-decoration:underline}
header{display:flex;gap:1rem;align-items:center;padding:.6rem 1rem;border-bottom:1px solid var(--line);position:sticky;top:0;background:var(--back);z-index:2}
header b{white-space:nowrap}header input{flex:1;max-width:26rem;min-width:6rem;padding:.35rem .6rem;font:inherit;color:inherit;background:var(--box);border:1px solid var(--line);border-radius:6px}
header button{font:inherit;color:inherit;background:var(--box);border:1px solid var(--line);border-radius:6px;padding:.3rem .6rem;cursor:pointer}
#menu-button{display:none}
.frame{display:flex;max-width:78rem;margin:0 auto}
nav{width:14rem;flex:none;padding:1rem;font-size:.93rem;position:sticky;top:3.3rem;height:calc(100vh - 3.3rem);overflow:auto}
nav h2{font-size:.78rem;text-transform:uppercase;letter-spacing:.05em;color:var(--soft);margin:1.1rem 0 .2rem;border:0;padding:0}
nav a{display:block;padding:.12rem .5rem;border-radius:5px;color:inherit}nav a.here{background:var(--box);font-weight:600}
main{flex:1;min-width:0;padding:1rem 1.5rem 5rem;max-width:54rem}
h1{line-height:1.2}h2{margin-top:2.2rem;border-bottom:1px solid var(--line);padding-bottom:.2rem}
pre{background:var(--box);border:1px solid var(--line);border-radius:8px;padding:.8rem 1rem;overflow:auto;font-size:.85rem;line-height:1.45}
code{font-family:ui-monospace,monospace;font-size:.88em}p code,li code,td code{background:var(--box);padding:.08em .3em;border-radius:4px}
pre code{font-size:inherit}
.try{float:right;font-size:.8rem;margin:.45rem .6rem}
img{max-width:100%}
.scroll{overflow:auto}table{border-collapse:collapse;font-size:.93rem}td,th{border:1px solid var(--line);padding:.35rem .6rem;text-align:left;vertical-align:top}
.k{color:var(--key)}.s{color:var(--str)}.c{color:var(--com)}.n{color:var(--num)}
dt{margin-top:1rem}dd{margin:.2rem 0 0 1.2rem;color:var(--soft)}
#found{position:absolute;top:3.2rem;left:1rem;right:1rem;max-width:44rem;margin:auto;background:var(--back);border:1px solid var(--line);border-radius:8px;box-shadow:0 6px 30px #0004;display:none;max-height:70vh;overflow:auto}
#found a{display:block;padding:.5rem .9rem;color:inherit;border-bottom:1px solid var(--line)}#found small{color:var(--soft);display:block}
@media(max-width:52rem){#menu-button{display:block}nav{display:none;width:auto;height:auto;position:static}nav.open{display:block}.frame{display:block}main{padding:1rem}}
"""

SCRIPT = """
(function(){
var root=document.documentElement,key='tilelang-theme',say=function(k,v){try{if(v===undefined)return localStorage.getItem(k);localStorage.setItem(k,v)}catch(e){}};
var dark=say(key)?say(key)==='dark':matchMedia('(prefers-color-scheme: dark)').matches;
function show(){root.classList.toggle('dark',dark)}show();
addEventListener('DOMContentLoaded',function(){
document.getElementById('theme').onclick=function(){dark=!dark;say(key,dark?'dark':'light');show()};
document.getElementById('menu-button').onclick=function(){document.querySelector('nav').classList.toggle('open')};
var box=document.getElementById('search'),found=document.getElementById('found');
function search(){var words=box.value.toLowerCase().split(/\\s+/).filter(Boolean);found.textContent='';found.style.display=words.length?'block':'none';
if(!words.length)return;
var hits=[];INDEX.forEach(function(e){var t=e[0].toLowerCase(),s=e[2].toLowerCase(),score=0;
for(var i=0;i<words.length;i++){var w=words[i];if(t===w||t==='t.'+w)score+=60;else if(t.indexOf(w)===0||t.indexOf('t.'+w)===0)score+=20;else if(t.indexOf(w)>=0)score+=10;else if(s.indexOf(w)>=0)score+=1;else return}
hits.push([score,e])});
hits.sort(function(a,b){return b[0]-a[0]});
hits.slice(0,20).forEach(function(h){var a=document.createElement('a'),s=document.createElement('small');a.href=h[1][1];a.textContent=h[1][0];s.textContent=h[1][2].slice(0,140);a.appendChild(s);found.appendChild(a)});
if(!hits.length){var p=document.createElement('a');p.textContent='nothing found';found.appendChild(p)}}
box.oninput=search;box.onfocus=search;
addEventListener('keydown',function(e){if(e.key==='/'&&document.activeElement!==box){e.preventDefault();box.focus()}
if(e.key==='Escape'){found.style.display='none';box.blur()}if(e.key==='Enter'&&document.activeElement===box&&found.firstChild&&found.firstChild.href)location=found.firstChild.href});
addEventListener('click',function(e){if(!found.contains(e.target)&&e.target!==box)found.style.display='none'});
});})();
"""


def slug(text):
    return re.sub(r"[^a-z0-9]+", "-", re.sub(r"<[^>]*>|&\w+;", "", text).lower()).strip("-") or "x"


class Site:
    def __init__(self, tl, folder, playground=None):
        self.tl, self.folder, self.playground = tl, folder, playground
        self.index = []       # title, address, text: for search
        self.names = {}       # "T.copy" -> anchor
        self.pages = {}       # document -> page

    # ---- code ----------------------------------------------------------------------------------

    TOKENS = re.compile(r"(?P<c>#[^\n]*)|(?P<s>\"\"\".*?\"\"\"|'''.*?'''|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')"
                        r"|(?P<k>\b(?:def|return|for|in|if|elif|else|while|with|as|import|from|class|not|and|or|is|None|True|False|"
                        r"lambda|pass|break|continue|assert|yield|raise|try|except|finally|global|nonlocal|del)\b)"
                        r"|(?P<t>\b(?:T|tilelang)\.\w+)|(?P<n>\b\d[\w.]*)", re.S)

    def python(self, text):
        def mark(m):
            word = html.escape(m.group(), quote=False)
            if m.lastgroup == "t":
                return f'<a href="{self.names[m.group()]}">{word}</a>' if m.group() in self.names else word
            return f'<span class="{m.lastgroup}">{word}</span>'

        out, last = [], 0
        for m in self.TOKENS.finditer(text):
            out += [html.escape(text[last:m.start()], quote=False), mark(m)]
            last = m.end()
        return "".join(out) + html.escape(text[last:], quote=False)

    def code(self, text, language):
        body = self.python(text) if language == "python" else html.escape(text, quote=False)
        return f"{self.try_it(text)}<pre><code>{body}</code></pre>" if language == "python" else f"<pre><code>{body}</code></pre>"

    def try_it(self, text):
        """A link that holds the kernel, as the playground makes them; nothing for what is no kernel."""
        if not self.playground or not re.search(r"^import tilelang", text, re.M) or not re.search(r"\bT\.Kernel\(", text):
            return ""
        packed = zlib.compressobj(9, wbits=-15)
        data = packed.compress(json.dumps({"k": text.rstrip() + "\n", "t": "cuda -arch=sm_90a", "v": ""}).encode()) + packed.flush()
        return f'<a class="try" href="playground/index.html#k={base64.urlsafe_b64encode(data).decode().rstrip("=")}">open in the playground</a>'

    # ---- Markdown, as far as the documents use it ----------------------------------------------

    def link(self, target, page):
        """A document's page; elsewhere as it is.  None: a file of the repository that has no page."""
        if re.match(r"(https?:|#|mailto:)", target):
            return target
        path, _, anchor = target.partition("#")
        at = os.path.normpath(os.path.join(os.path.dirname(page), path))
        if at in self.pages:
            return self.pages[at] + ".html" + (f"#{anchor}" if anchor else "")
        return None

    def inline(self, text, page):
        kept = []

        def keep(x):
            kept.append(x)
            return f"\0{len(kept) - 1}\0"

        def code(m):
            word = m.group(1)
            link = self.names.get(word.split("(")[0])
            if not link and page and word in self.pages:
                link = self.pages[word] + ".html"
            shown = f"<code>{html.escape(word, quote=False)}</code>"
            return keep(f'<a href="{link}">{shown}</a>' if link else shown)

        def anchor(m):
            to = self.link(m.group(2), page)
            return f'{keep(f"<a href={chr(34)}{html.escape(to)}{chr(34)}>")}{m.group(1)}{keep("</a>")}' if to else m.group(1)

        def picture(m):
            file = os.path.normpath(os.path.join(os.path.dirname(page), m.group(2)))
            shutil.copy(os.path.join(ROOT, file), self.folder)
            return f'<img alt="{m.group(1)}" src="{os.path.basename(file)}">'

        text = re.sub(r"`([^`]+)`", code, text)
        text = html.escape(text, quote=False)
        text = re.sub(r"!\[([^\]]+)\]\(([^)\s]+)\)", lambda m: keep(picture(m)), text)
        text = re.sub(r"\[([^\]]+)\]\(([^)\s]+)\)", anchor, text)
        text = re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", text)
        text = re.sub(r"(?<![\w*])\*([^*\s][^*]*)\*(?![\w*])", r"<em>\1</em>", text)
        while "\0" in text:
            text = re.sub("\0(\\d+)\0", lambda m: kept[int(m.group(1))], text)
        return text

    def table(self, rows, page):
        cells = [[c.strip() for c in re.split(r"(?<!\\)\|", r.strip().strip("|"))] for r in rows]
        out = ["<div class=scroll><table>"]
        for n, row in enumerate(cells):
            if n == 1:
                continue
            kind = "th" if n == 0 else "td"
            out.append("<tr>" + "".join(f"<{kind}>{self.inline(c, page)}</{kind}>" for c in row) + "</tr>")
        return "\n".join(out + ["</table></div>"])

    def items(self, lines, page):
        """A list, with lists inside by indentation."""
        mark = re.match(r"(\s*)([-*]|\d+\.)\s+", lines[0])
        tag = "ol" if mark.group(2)[0].isdigit() else "ul"
        out, n = [f"<{tag}>"], 0
        while n < len(lines):
            here = re.match(r"(\s*)([-*]|\d+\.)\s+(.*)", lines[n])
            text, inner = [here.group(3)], []
            n += 1
            while n < len(lines) and not (re.match(r"(\s*)([-*]|\d+\.)\s", lines[n]) and
                                          len(lines[n]) - len(lines[n].lstrip()) <= len(mark.group(1))):
                (inner if inner or re.match(r"\s*([-*]|\d+\.)\s", lines[n]) else text).append(lines[n])
                n += 1
            nested = self.items(inner, page) if inner else ""
            out.append(f"<li>{self.inline(' '.join(t.strip() for t in text), page)}{nested}</li>")
        return "\n".join(out + [f"</{tag}>"])

    def markdown(self, text, page, address):
        lines = re.sub(r"<!--.*?-->\n?", "", text, flags=re.S).split("\n")
        out, n, section = [], 0, ["", ""]
        while n < len(lines):
            line, start = lines[n], n
            n += 1
            if not line.strip():
                continue
            if line.startswith("```"):
                while n < len(lines) and not lines[n].startswith("```"):
                    n += 1
                out.append(self.code("\n".join(lines[start + 1:n]), line[3:].strip()))
                n += 1
            elif m := re.match(r"(#+)\s+(.*)", line):
                level, title = len(m.group(1)), self.inline(m.group(2), page)
                plain = html.unescape(re.sub(r"<[^>]*>", "", title))
                out.append(f'<h{level} id="{slug(title)}">{title}</h{level}>')
                section = [plain, address + (f"#{slug(title)}" if level > 1 else "")]
                self.index.append([*section, ""])
            elif line.startswith("    "):
                while n < len(lines) and (lines[n].startswith("    ") or (not lines[n].strip() and n + 1 < len(lines) and
                                                                         lines[n + 1].startswith("    "))):
                    n += 1
                out.append(self.code("\n".join(x[4:] for x in lines[start:n]), ""))
            elif line.startswith("|"):
                while n < len(lines) and lines[n].startswith("|"):
                    n += 1
                out.append(self.table(lines[start:n], page))
            elif re.match(r"\s*([-*]|\d+\.)\s", line):
                while n < len(lines) and lines[n].strip() and not re.match(r"(#+\s|```|\|)", lines[n]):
                    n += 1
                out.append(self.items(lines[start:n], page))
            else:
                while n < len(lines) and lines[n].strip() and not re.match(r"(#+\s|```|\||\s*[-*]\s)", lines[n]):
                    n += 1
                words = " ".join(x.strip() for x in lines[start:n])
                out.append(f"<p>{self.inline(words, page)}</p>")
                if self.index and section[0] and len(self.index[-1][2]) < 400:
                    self.index[-1][2] += " " + re.sub(r"[`*\[\]]", "", words)
        return "\n".join(out)

    # ---- pages ---------------------------------------------------------------------------------

    def menu(self, here, up):
        out = []
        for heading, pages in MENU:
            out.append(f"<h2>{heading}</h2>")
            out += [f'<a href="{up}{page}.html"{" class=here" if page == here else ""}>{html.escape(title)}</a>' for page, title, _ in pages]
        return "\n".join(out)

    def write(self, page, title, body, here=None):
        up = "../" * page.count("/")
        if up:
            body = re.sub(r'href="(?!https?:|#|\.\./)', f'href="{up}', body)
        text = f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>{html.escape(title)}</title><link rel="stylesheet" href="{up}style.css"><script src="{up}site.js"></script></head>
<body><header><button id="menu-button" aria-label="menu">☰</button><b><a href="{up}index.html">TileLang in C</a></b>
<input id="search" type="search" placeholder="search ( / )" aria-label="search"><button id="theme" aria-label="light or dark">◐</button></header>
<div id="found"></div><div class="frame"><nav>{self.menu(here or page, up)}</nav><main>
{body}
</main></div><script>const UP="{up}";INDEX.forEach(e=>e[1]=UP+e[1])</script></body></html>
"""
        path = os.path.join(self.folder, page + ".html")
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)

    def read_names(self):
        """What `tl explain names` prints: groups of a signature and its sentences."""
        text = subprocess.run([self.tl, "explain", "names"], capture_output=True, text=True, check=True).stdout
        self.groups = []
        for block in text.strip().split("\n\n"):
            lines = block.split("\n")
            rows = []
            for line in lines[1:]:
                if line.startswith("      "):
                    rows[-1][1].append(line.strip())
                else:
                    rows.append((line.strip(), []))
            self.groups.append((lines[0], rows))
            for signature, _ in rows:
                name = signature.split("(")[0]
                self.names[name] = f"names.html#{name}"

    def names_page(self):
        out = ["<h1>Every name</h1>", "<p>As <code>tl explain NAME</code> prints them.</p>"]
        for group, rows in self.groups:
            out.append(f'<h2 id="group-{slug(group)}">{html.escape(group)}</h2><dl>')
            for signature, doc in rows:
                name, _, rest = signature.partition("(")
                out.append(f'<dt id="{name}"><code><b>{html.escape(name)}</b>({html.escape(rest)}</code></dt>'
                           + "".join(f"<dd>{self.inline(d, '')}</dd>" for d in doc))
                self.index.append([name, self.names[name], " ".join(doc)])
            out.append("</dl>")
        self.write("names", "Every name", "\n".join(out))

    def read_mistakes(self):
        """By tag the program of test/error of its name, or the shortest that is about it, without the words for the test, and what tl says of it."""
        found = {}
        for path in sorted(glob.glob("test/error/*/*.py", root_dir=ROOT)):
            with open(os.path.join(ROOT, path), encoding="utf-8") as f:
                text = f.read()
            for tag in set(re.findall(r"# (?:error|warning): ([a-z0-9-]+)", text)):
                named = tag.replace("-", "_") + ".py" != os.path.basename(path)
                if tag not in found or (named, len(text)) < found[tag][:2]:
                    found[tag] = named, len(text), text
        with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(2) as pool:
            said = pool.map(lambda tag: self.mistake(folder, tag, found[tag][2]), sorted(found))
            self.mistakes = {tag: pair for tag, pair in zip(sorted(found), said) if pair}

    def mistake(self, folder, tag, text):
        words = {k: v.split() for k, v in re.findall(r"^# (given|target|func): (.*)\n", text, re.M)}
        own = re.sub(r"^# (given|target|func|stage|refuse|expect)[^\n]*\n", "", text, flags=re.M)
        own = re.sub(r"\s*# (error|warning|note): [^\n]*", "", own).strip() + "\n"
        os.makedirs(os.path.join(folder, tag))
        with open(os.path.join(folder, tag, "kernel.py"), "w", encoding="utf-8") as f:
            f.write(own)
        target = ["--target", " ".join(words["target"])] if "target" in words else []
        func = "".join(":" + w for w in words.get("func", []))
        done = subprocess.run([self.tl, "build", "--no-cache", "--source", "kernel.py" + func, *words.get("given", []), *target], cwd=os.path.join(folder, tag), capture_output=True,
                              text=True, errors="replace")
        parts = re.split(r"^(?=kernel\.py:\d+:\d+: (?:error|warning))", done.stderr, flags=re.M)
        message = next((p for p in parts if f"[{tag}]" in p), None)
        return (own, message) if message else None

    def errors_pages(self):
        self.read_mistakes()
        with open(os.path.join(ROOT, "doc/errors.md"), encoding="utf-8") as f:
            head, *parts = re.split(r"^## ", f.read(), flags=re.M)
        out = [self.markdown(head, "doc/errors.md", "errors.html"), "<ul>"]
        for part in parts:
            tag, _, text = part.partition("\n")
            first = self.inline(re.split(r"(?<=[.!?])\s", " ".join(text.split()))[0], "")
            out.append(f'<li><a href="errors/{tag}.html"><code>{tag}</code></a> {first}</li>')
            self.index.append([tag, f"errors/{tag}.html", " ".join(text.split())[:300]])
            keep, self.index = self.index, []
            body = self.markdown(text, "doc/errors.md", f"errors/{tag}.html")
            self.index = keep
            if tag in self.mistakes:
                code, message = self.mistakes[tag]
                body += f"<p>For example,</p>{self.code(code, 'python')}<p>is answered by</p><pre><code>{html.escape(message.rstrip())}</code></pre>"
            self.write(f"errors/{tag}", f"[{tag}]", f"<h1><code>[{tag}]</code></h1>{body}", "errors")
        self.write("errors", "Messages", "\n".join(out + ["</ul>"]))

    def source_pages(self, page, title, files, text):
        out = [f"<h1>{title}</h1>", f"<p>{text}</p>", "<ul>"]
        for path in files:
            name = os.path.basename(path)[:-3]
            with open(os.path.join(ROOT, path), encoding="utf-8") as f:
                code = f.read()
            m = re.match(r'(?:#[^\n]*\n)*\s*"""(.*?)(?:\n\n|""")', code, re.S) or re.match(r"#\s*([^\n]*)", code)
            about = " ".join(m.group(1).split()) if m else ""
            out.append(f'<li><a href="{page}/{name}.html">{name}</a>: {html.escape(about)}</li>')
            self.index.append([name, f"{page}/{name}.html", about])
            self.write(f"{page}/{name}", name, f"<h1>{html.escape(path)}</h1>{self.code(code, 'python')}", page)
        self.write(page, title, "\n".join(out + ["</ul>"]))

    def build(self):
        named = {file for _, pages in MENU for _, _, file in pages if file}
        for _, pages in MENU:
            pages[:] = [p for p in pages if not p[2] or os.path.exists(os.path.join(ROOT, p[2]))]
        for path in sorted(glob.glob("doc/*.md", root_dir=ROOT)):
            if path not in named and path != "doc/errors.md":
                with open(os.path.join(ROOT, path), encoding="utf-8") as f:
                    title = re.search(r"^# (.*)", f.read(), re.M).group(1)
                MENU[-1][1].append((os.path.basename(path)[:-3], title.replace("`", ""), path))
        self.pages = {file: page for _, pages in MENU for page, _, file in pages if file}
        self.pages["doc/errors.md"] = "errors"
        os.makedirs(self.folder, exist_ok=True)
        self.read_names()
        for _, pages in MENU:
            for page, title, file in pages:
                if file:
                    with open(os.path.join(ROOT, file), encoding="utf-8") as f:
                        self.write(page, title, self.markdown(f.read(), file, page + ".html"))
        if self.playground:
            shutil.copytree(self.playground, os.path.join(self.folder, "playground"), dirs_exist_ok=True)
        self.names_page()
        self.errors_pages()
        self.source_pages("examples", "Examples", sorted(glob.glob("examples/*.py", root_dir=ROOT)),
                          "Each is a script: <code>python3 examples/gemm.py</code> verifies and times it, <code>tl run</code> runs it without Python.")
        self.source_pages("puzzles", "Puzzles", sorted(glob.glob("examples/puzzles/*.py", root_dir=ROOT)),
                          "Ten kernels to write, from one line to attention; <code>examples/puzzles/README.md</code> says how they are checked.")
        self.index = [[t, u, " ".join(s.split())] for t, u, s in self.index]
        with open(os.path.join(self.folder, "site.js"), "w", encoding="utf-8") as f:
            f.write("const INDEX=" + json.dumps(self.index, ensure_ascii=False, separators=(",", ":")) + ";\n" + SCRIPT.strip() + "\n")
        with open(os.path.join(self.folder, "style.css"), "w", encoding="utf-8") as f:
            f.write(STYLE.strip() + "\n")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__)
    Site(os.path.abspath(sys.argv[1]), *sys.argv[2:]).build()
    print(f"{sys.argv[2]}/index.html: {sum(len(f) for _, _, f in os.walk(sys.argv[2]))} files")
