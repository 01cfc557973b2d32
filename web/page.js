// page.js -- the playground: an editor, the compiler in a worker, and panes that show what it says.
"use strict";

const TARGETS = [["NVIDIA Hopper", "cuda -arch=sm_90a"], ["NVIDIA Ampere", "cuda -arch=sm_80"], ["NVIDIA Blackwell", "cuda -arch=sm_100a"],
    ["AMD MI300", "hip -mcpu=gfx942"], ["WebGPU", "webgpu"], ["CPU (AVX2)", "cpu -mcpu=x86-64-v3"]];
const FILE = "kernel.py";
const $ = (id) => document.getElementById(id);
const bytesOf = (text) => new TextEncoder().encode(text);
const textOf = (bytes) => new TextDecoder().decode(bytes);

function element(tag, attributes = {}, ...inside) {
    const e = document.createElement(tag);
    for (const [k, v] of Object.entries(attributes))
        k in e && k !== "list" ? e[k] = v : e.setAttribute(k, v);
    e.append(...inside);
    return e;
}

// ---- the compiler -------------------------------------------------------------------------------

// The page holds the compiler as text, gzip in base64, in pieces behind this script: the browser compiles them while the rest comes.
const unpacking = new DecompressionStream("gzip"), packed = unpacking.writable.getWriter();
const compiler = WebAssembly.compileStreaming(new Response(unpacking.readable, {headers: {"Content-Type": "application/wasm"}}));

// A piece; none: that was the last.
function feed(piece) {
    const done = piece === undefined ? packed.close() : packed.write(Uint8Array.from(atob(piece), (c) => c.charCodeAt(0)));
    done.catch(() => {});
}

const workerURL = URL.createObjectURL(new Blob([$("worker").textContent], {type: "text/javascript"}));
let calls = 0;

// One call at a time; a new one ends the one before.  A call that was ended never answers.
class Tool {
    async call(args, {files = {}, tick} = {}) {
        const id = ++calls;
        this.cancel();
        this.id = id;
        const module = await compiler;
        if (this.id !== id)
            return new Promise(() => {});
        if (!this.worker) {
            this.worker = new Worker(workerURL);
            this.worker.postMessage({module});
        }
        this.busy = true;
        this.worker.postMessage({id, args, files: {[FILE]: bytesOf(state.text), ...files}});
        return new Promise((done) => {
            this.worker.onmessage = ({data}) => {
                if (data.id !== id)
                    return;
                if ("code" in data) {
                    this.busy = false;
                    done(data);
                } else {
                    tick?.(data.started);
                }
            };
        });
    }
    cancel() {
        this.id = 0;
        if (!this.busy)
            return;
        this.worker.terminate();
        this.worker = null;
        this.busy = false;
    }
}

const tools = {main: new Tool(), pane: new Tool(), sim: new Tool()};

// ---- what is edited -----------------------------------------------------------------------------

const state = {text: "", target: TARGETS[0][1], values: "", tab: "code", built: null, version: 0, name: ""};

// Values of lines "# tl: M=64" in the text, then those of the page, which win.
function words() {
    const said = [...state.text.matchAll(/^#\s*tl:(.*)$/gm)].flatMap((m) => m[1].trim().split(/[\s,]+/));
    const own = state.values.trim().split(/\s+/), names = own.map((w) => w.split("=")[0]);
    const all = [...said.filter((w) => !names.includes(w.split("=")[0])), ...own].filter(Boolean);
    const func = all.filter((w) => !w.includes("=")).pop();
    return [FILE + (func ? ":" + func.replace(/^:/, "") : ""), ...all.filter((w) => w.includes("=")), "--target", state.target];
}

const TOKENS = new RegExp(String.raw`(?<c>#[^\n]*)|(?<s>"""[^]*?"""|'''[^]*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')` +
    String.raw`|(?<k>\b(?:def|return|for|in|if|elif|else|while|with|as|import|from|class|not|and|or|is|None|True|False|lambda|pass|assert)\b)` +
    String.raw`|(?<t>\b(?:T|tl|tilelang)\.[\w.]+|@[\w.]+)|(?<n>\b\d[\w.]*)`, "g");

// Emitted text, and the IR.
const C_TOKENS = /(?<c>^\s*\/\/.*|\/\*.*?(?:\*\/|$)|^ \* .*| @\d+:\d+-\d+:\d+$)|(?<s>"(?:\\.|[^"\\])*")|(?<k>^\s*#\s*\w+|\b(?:for|if|else|while|return|const|void|fn|let|var|struct|in|body)\b)|(?<n>\b\d[\w.]*)/g;

function tokens(text, by = TOKENS) {
    const out = [];
    let last = 0;
    for (const m of text.matchAll(by)) {
        out.push(["", text.slice(last, m.index)], [Object.keys(m.groups).find((k) => m.groups[k] !== undefined), m[0]]);
        last = m.index + m[0].length;
    }
    return [...out, ["", text.slice(last)]];
}

// A line is an element, so that it can be numbered and marked.
function paint() {
    const lines = [element("i")];
    for (const [kind, text] of tokens(state.text)) {
        text.split("\n").forEach((part, i) => {
            if (i)
                lines.push(element("i"));
            lines.at(-1).append(kind ? element("span", {className: kind}, part) : part);
        });
    }
    $("paint").replaceChildren(...lines);
    fit();
}

// The text that is typed lies over the one that is painted.
function fit() {
    $("text").style.height = Math.max($("paint").offsetHeight, $("editor").clientHeight) + "px";
    $("text").style.width = Math.max($("paint").offsetWidth, $("editor").clientWidth) + "px";
}

// A line of the source, and all that was made of it.
function light(line, from) {
    for (const e of document.querySelectorAll(".lit"))
        e.classList.remove("lit");
    const at = $("paint").children[line - 1];
    if (!at)
        return;
    at.classList.add("lit");
    const made = document.querySelectorAll(`#panes > .here [data-line="${line}"]`);
    for (const e of made)
        e.classList.add("lit");
    if (from === "pane")
        at.scrollIntoView({block: "nearest"});
    else
        made[0]?.scrollIntoView({block: "nearest"});
}

// ---- messages -----------------------------------------------------------------------------------

function showMessages({code, err, ms}) {
    const box = $("messages"), lines = err.replace(/\x1b\[[0-9;]*m/g, "").trimEnd().split("\n").filter((l, i, all) => l || i < all.length - 1);
    for (const e of $("paint").children)
        e.classList.remove("bad");
    box.replaceChildren();
    for (const line of lines) {
        const m = line.match(/^(?:\S*\/)?kernel\.py:(\d+):(\d+): (\w+)/), kind = (m ? m[3] : line).match(/^(?:tl: )?(error|warning|bug)/)?.[1].replace("bug", "error") ?? "";
        if (!m) {
            box.append(element("span", {className: kind}, line + "\n"));
            continue;
        }
        const where = line.slice(0, line.indexOf(" ")), link = element("a", {}, where);
        link.onclick = () => jump(+m[1], +m[2]);
        box.append(link, element("span", {className: kind}, line.slice(where.length) + "\n"));
        if (kind === "error")
            $("paint").children[m[1] - 1]?.classList.add("bad");
    }
    document.body.dataset.state = code === 0 ? "built" : "failed";
    document.body.dataset.first ??= performance.now();  // when the first text was compiled
    if (code === 0)
        box.append(element("span", {className: "fine"}, `compiled in ${ms.toFixed(0)} ms`));
}

function jump(line, column) {
    const text = $("text"), before = state.text.split("\n").slice(0, line - 1).join("\n").length + (line > 1) + column - 1;
    text.focus();
    text.setSelectionRange(before, before);
    light(line);
    $("paint").children[line - 1]?.scrollIntoView({block: "center"});
}

// ---- panes --------------------------------------------------------------------------------------

const lineOf = (text) => text.match(/@(\d+):\d+-/)?.[1] ?? text.match(/\(line (\d+)\)/)?.[1] ?? text.match(/\bline (\d+):/)?.[1];

function codeLine(text, line, className = "") {
    const e = element("i", {className});
    for (const [kind, part] of tokens(text, C_TOKENS))
        e.append(kind ? element("span", {className: kind}, part) : part);
    if (line) {
        e.dataset.line = line;
        e.onclick = () => light(+line, "pane");
    }
    return e;
}

// Emitted text: #line directives, or the statement's comment, say which line it is of.
function emitted(source) {
    const pre = element("pre", {className: "code"});
    let line = null, head = true;
    for (const text of source.replace(/\n$/, "").split("\n")) {
        if (text === '#line 1 "generated"')
            continue;
        const directive = text.match(/^#line (\d+) /), comment = text.match(/^\s*\/\/ .*\bkernel\.py:(\d+)$/);
        if (directive || comment) {
            line = (directive ?? comment)[1];
            head = false;
        }
        if (directive)
            continue;
        if (/^}/.test(text))
            line = null;
        pre.append(codeLine(text, head ? null : line));
        if (/^}/.test(text))
            head = true;
    }
    fold(pre);
    return pre;
}

// What stands before the function of the first line that is tied to the kernel: types and helpers.
function fold(pre) {
    const lines = [...pre.children], tied = lines.findIndex((l) => l.dataset.line);
    const end = lines.findLastIndex((l, i) => i < tied && /^}/.test(l.textContent)) + 1;
    if (end > 10)
        pre.prepend(element("details", {}, element("summary", {}, `${end} lines of types and helpers`), ...lines.slice(0, end)));
}

// The longest common subsequence of lines; texts of thousands of lines are compared by their common ends first.
function diff(a, b) {
    let start = 0, endA = a.length, endB = b.length;
    while (start < endA && start < endB && a[start] === b[start])
        start++;
    while (endA > start && endB > start && a[endA - 1] === b[endB - 1])
        endA--, endB--;
    const n = endA - start, m = endB - start, out = a.slice(0, start).map((l) => [" ", l]);
    if (n * m > 4e6) {
        out.push(...a.slice(start, endA).map((l) => ["-", l]), ...b.slice(start, endB).map((l) => ["+", l]));
    } else {
        const w = m + 1, best = new Uint16Array((n + 1) * w);
        for (let i = n - 1; i >= 0; i--)
            for (let j = m - 1; j >= 0; j--)
                best[i * w + j] = a[start + i] === b[start + j] ? best[(i + 1) * w + j + 1] + 1 : Math.max(best[(i + 1) * w + j], best[i * w + j + 1]);
        for (let i = 0, j = 0; i < n || j < m;) {
            if (i < n && j < m && a[start + i] === b[start + j])
                out.push([" ", a[start + i]]), i++, j++;
            else if (j >= m || (i < n && best[(i + 1) * w + j] >= best[i * w + j + 1]))
                out.push(["-", a[start + i++]]);
            else
                out.push(["+", b[start + j++]]);
        }
    }
    return [...out, ...a.slice(endA).map((l) => [" ", l])];
}

// Files NN-PASS.tile, one for each pass that ran.
function passesOf(files) {
    const passes = Object.keys(files).filter((f) => f.startsWith("d/")).sort().map((f) => ({name: f.replace(/^d\/\d+-|\.tile$/g, ""), text: textOf(files[f]).split("\n")}));
    passes.forEach((p, i) => {
        p.before = i ? passes[i - 1].text : p.text;
        p.same = i > 0 && p.text.join("\n") === p.before.join("\n");
    });
    return passes;
}

function passPane(passes) {
    const list = element("ol"), pre = element("pre", {className: "code"}), all = element("input", {type: "checkbox"});
    let at = 0;
    const spans = (l) => l.replace(/ @\d+:\d+-\d+:\d+$/, "");
    function show() {
        const p = passes[at], rows = diff(p.before, p.text).map(([c, l]) => [c, spans(l), lineOf(l)]), near = new Set();
        rows.forEach(([c], i) => { if (c !== " ") for (let k = i - 3; k <= i + 3; k++) near.add(k); });
        const whole = all.checked || at === 0 || near.size === 0;
        pre.replaceChildren();
        rows.forEach(([c, l, line], i) => {
            if (whole || near.has(i))
                pre.append(codeLine((c === " " ? "  " : c + " ") + l, line, c === "+" ? "add" : c === "-" ? "del" : ""));
            else if (near.has(i - 1) || i === 0)
                pre.append(element("i", {className: "gap"}, "⋯"));
        });
        [...list.children].forEach((li, i) => li.classList.toggle("chosen", i === at));
    }
    passes.forEach((p, i) => {
        const changed = p.same || i === 0 ? "" : "±" + diff(p.before, p.text).filter(([c]) => c !== " ").length;
        const li = element("li", {className: p.same ? "same" : ""}, p.name, element("span", {className: "soft"}, changed));
        li.onclick = () => { at = i; show(); };
        list.append(li);
    });
    all.onchange = show;
    show();
    const bar = element("div", {className: "bar"}, "Each pass of the compiler, and what it changed; pale: nothing. ", element("label", {}, all, "whole text"));
    return [bar, element("div", {className: "passes"}, list, pre)];
}

function planPane(plans) {
    return plans.trimEnd().split("\n").map((l) => {
        if (/^\S/.test(l))
            return element("h3", {}, l);
        const [, what, rest] = l.match(/^\s*([^:]*:)?(.*)$/), line = lineOf(l), e = element("div", {className: "plan"}, element("b", {}, what ?? ""), rest);
        if (line) {
            e.dataset.line = line;
            e.onclick = () => light(+line, "pane");
        }
        return e;
    });
}

// Tiles that have a layout, as the plans name them.
const tilesOf = (plans) => [...plans.matchAll(/^  (\w+): (shared|fragment)\b.*(?:layout|fragment)\[/gm)].map((m) => m[1]);

async function layoutPane(pane, built) {
    const names = [...new Set(tilesOf(built.plans))];
    if (!names.length)
        return pane.replaceChildren(element("p", {className: "soft"}, "No tile of this kernel has a layout on this target."));
    const pick = element("select", {}, ...names.map((n) => element("option", {}, n))), draw = element("div", {className: "draw"});
    const say = element("span", {className: "soft"});
    pane.replaceChildren(element("div", {className: "bar"}, "Tile ", pick, say), draw);
    pick.onchange = async () => {
        layoutPane.last = pick.value;
        const [file, ...rest] = words(), got = await tools.pane.call(["layout", file, pick.value, ...rest, "-q", "--no-cache", "--svg", "t.svg"]);
        draw.replaceChildren();
        if (got.code !== 0)
            return draw.append(element("pre", {className: "code error"}, got.err));
        const url = URL.createObjectURL(new Blob([got.files["t.svg"]], {type: "image/svg+xml"}));
        draw.append(element("img", {src: url, alt: "layout of " + pick.value, onload: () => URL.revokeObjectURL(url)}));
        say.textContent = /fragment/.test(built.plans.match(new RegExp(`^  ${pick.value}: .*`, "m"))?.[0] ?? "") ?
            "a colour for each thread; thread : register" : "a colour for each group of banks; where the element lies";
    };
    if (names.includes(layoutPane.last))
        pick.value = layoutPane.last;
    await pick.onchange();
}

async function provePane(pane) {
    const got = await tools.pane.call(["prove", ...words(), "-q", "--no-cache"]);
    pane.replaceChildren(...planPane(got.out), ...(got.code > 1 || got.err ? [element("pre", {className: "code error"}, got.err)] : []));
}

// ---- the simulator ------------------------------------------------------------------------------

function readNpy(bytes) {
    const view = new DataView(bytes.buffer, bytes.byteOffset), n = view.getUint16(8, true), head = textOf(bytes.subarray(10, 10 + n));
    const kind = head.match(/'descr': '(.)(\w)(\d)'/), shape = head.match(/'shape': \(([^)]*)\)/)[1].split(",").filter((s) => s.trim()).map(Number);
    const data = bytes.slice(10 + n).buffer, types = {f2: null, f4: Float32Array, f8: Float64Array, i1: Int8Array, i2: Int16Array, i4: Int32Array,
        i8: BigInt64Array, u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, u8: BigUint64Array, b1: Uint8Array};
    if (kind[2] + kind[3] !== "f2")
        return {shape, data: Array.from(new types[kind[2] + kind[3]](data), Number)};
    const half = (h) => (h & 0x8000 ? -1 : 1) * ((h >> 10 & 31) === 31 ? (h & 1023 ? NaN : Infinity) : (h >> 10 & 31) ?
        2 ** ((h >> 10 & 31) - 15) * (1 + (h & 1023) / 1024) : (h & 1023) * 2 ** -24);
    return {shape, data: Array.from(new Uint16Array(data), half)};
}

// The first rows and columns, coloured by size.
function valueTable(name, {shape, data}) {
    const columns = shape.at(-1) ?? 1, rows = Math.min(12, data.length / columns), shown = Math.min(12, columns), table = element("table", {className: "values"});
    const most = Math.max(1e-30, ...data.slice(0, rows * columns).map(Math.abs).filter(Number.isFinite));
    for (let r = 0; r < rows; r++)
        table.append(element("tr", {}, ...Array.from({length: shown}, (_, c) => {
            const v = data[r * columns + c], part = Math.round(70 * Math.min(1, Math.abs(v) / most));
            return element("td", {style: `background: color-mix(in srgb, ${v < 0 ? "#d6604d" : "#4393c3"} ${part}%, transparent)`}, Number.isInteger(v) ? String(v) : v.toPrecision(3));
        })));
    return [element("h3", {}, `${name} (${shape.join(", ")})`), element("div", {className: "scroll"}, table)];
}

const OUTPUTS = /^(\w+)  (\S+) \(([^)]*)\)  (.*)$/gm;

function simPane(pane) {
    const go = element("button", {className: "go", id: "simulate"}, "Run in the simulator"), stop = element("button", {disabled: true}, "Cancel");
    const orders = element("select", {title: "orders of threads and copies"}, ...[1, 4, 16].map((n) => element("option", {value: n}, n === 1 ? "1 schedule" : n + " schedules")));
    const bar = element("progress", {hidden: true}), say = element("span", {className: "soft"}), out = element("div", {id: "simulated"});
    pane.replaceChildren(element("div", {className: "bar"}, go, stop, orders, bar, say),
        element("p", {className: "soft"}, "Every thread of the lowered kernel, with races, deadlocks, reads of what nobody wrote and accesses out of bounds reported at their line. " +
            "Inputs are seeded normal numbers. Choose small sizes (Values): this is a model of a GPU in your browser."), out);
    stop.onclick = () => {
        tools.sim.cancel();
        say.textContent = "cancelled";
        bar.hidden = stop.disabled = true;
        go.disabled = false;
    };
    go.onclick = async () => {
        const start = performance.now(), version = state.version, all = threadsOf(state.built?.form) * orders.value;
        go.disabled = true;
        stop.disabled = bar.hidden = false;
        bar.removeAttribute("value");
        out.replaceChildren();
        const clock = setInterval(() => { say.textContent = `${((performance.now() - start) / 1000).toFixed(1)} s`; }, 100);
        const tick = (started) => { if (all) bar.value = Math.min(1, started / all); };
        const names = state.built?.outputs ?? [], outs = names.flatMap((n) => ["--out", `${n}=${n}.npy`]);
        const got = await Promise.race([tools.sim.call(["run", ...words(), "--no-cache", "--sim", "--sim-stats", "--schedules", orders.value, ...outs], {tick}),
            new Promise((gone) => { stop.addEventListener("click", () => gone(null), {once: true}); })]);
        clearInterval(clock);
        if (!got)
            return;
        go.disabled = false;
        stop.disabled = bar.hidden = true;
        say.textContent = `${(got.ms / 1000).toFixed(2)} s${version === state.version ? "" : ", of an older text"}`;
        showRun(out, got, names);
    };
}

// Threads of the whole grid, from the last form of the kernel; 0: not known.
function threadsOf(form) {
    const grid = form?.match(/^\s+grid (.*)$/gm)?.pop(), threads = form?.match(/^\s+threads (.*)$/gm)?.pop();
    const product = (line) => [...line.matchAll(/= (\d+)/g)].reduce((n, m) => n * m[1], 1);
    return grid && threads ? product(grid) * product(threads) : 0;
}

function statsTable(text) {
    const rows = text.trimEnd().split("\n").map((l) => l.trim().split(/\s+/)), table = element("table");
    rows.forEach((r, i) => table.append(element("tr", i ? {"data-line": r[0], onclick: () => light(+r[0], "pane"), className: "plan"} : {}, ...r.map((c) => element(i ? "td" : "th", {}, c)))));
    return [element("h3", {}, "Memory, by line of the kernel"), element("div", {className: "scroll"}, table),
        element("p", {className: "soft"}, "shared: accesses by warps, conflicts: further turns that banks took; global: accesses, sectors: 32-byte pieces, least: as few as could be")];
}

function showRun(out, got, names) {
    const verdict = got.code === 0 ? element("p", {className: "fine"}, "The run is clean: no race, no deadlock, nothing out of bounds.")
        : element("pre", {className: "code error"}, got.err || "it failed with code " + got.code);
    out.replaceChildren(verdict);
    out.dataset.code = got.code;
    if (got.code !== 0)
        return;
    if (got.err.trim())
        out.append(element("pre", {className: "code warning"}, got.err));
    for (const m of got.out.matchAll(OUTPUTS)) {
        out.append(element("p", {}, `${m[1]}: ${m[2]}, ${m[4]}`));
        if (got.files[m[1] + ".npy"])
            out.append(...valueTable(m[1], readNpy(got.files[m[1] + ".npy"])));
    }
    const table = got.out.match(/^ +line .*\n(?: +\d+.*\n)*/m);
    if (table)
        out.append(...statsTable(table[0]));
}

// ---- where the time goes -------------------------------------------------------------------------

function timePane(pane) {
    const go = element("button", {className: "go", id: "time"}, "Time it by a model"), stop = element("button", {disabled: true}, "Cancel"), say = element("span", {className: "soft"});
    const out = element("div", {id: "timed"});
    pane.replaceChildren(element("div", {className: "bar"}, go, stop, say),
        element("p", {className: "soft"}, "What warps do when: the kernel's own schedule in the simulator, with latencies of no machine. Compare two versions by it, not two GPUs."), out);
    const rest = () => { go.disabled = false; stop.disabled = true; };
    stop.onclick = () => { tools.sim.cancel(); say.textContent = "cancelled"; rest(); };
    go.onclick = async () => {
        go.disabled = true;
        stop.disabled = false;
        say.textContent = "running …";
        const got = await Promise.race([tools.sim.call(["profile", ...words(), "-q", "--no-cache", "--sim", "--json", "p.json", "--svg", "p.svg"]),
            new Promise((gone) => { stop.addEventListener("click", () => gone(null), {once: true}); })]);
        if (!got)
            return;
        rest();
        say.textContent = `${(got.ms / 1000).toFixed(2)} s`;
        out.dataset.code = got.code;
        if (got.code !== 0)
            return out.replaceChildren(element("pre", {className: "code error"}, got.err));
        showTimes(out, got);
    };
}

function showTimes(out, got) {
    const trace = got.files["p.json"], {lines} = JSON.parse(textOf(trace)).tilelang, url = (name, type) => URL.createObjectURL(new Blob([got.files[name]], {type}));
    const works = ["copy", "matrix", "wait", "compute"], sum = (l) => works.reduce((n, w) => n + l[w], 0), all = lines.reduce((n, l) => n + sum(l), 0);
    const rows = lines.filter((l) => l.line && sum(l) > 0).map((l) => {
        const row = element("tr", {className: "plan", onclick: () => light(l.line, "pane")}, ...[l.line, `${(100 * sum(l) / all).toFixed(0)} %`, ...works.map((w) => Math.round(l[w]))].map((c) => element("td", {}, String(c))));
        row.dataset.line = l.line;
        return row;
    });
    const table = element("table", {}, element("tr", {}, ...["line", "all", ...works].map((h) => element("th", {}, h))), ...rows);
    out.replaceChildren(element("div", {className: "draw"}, element("img", {src: url("p.svg", "image/svg+xml"), alt: "timeline of one block"})), element("h3", {}, "By line of the kernel, cycles of all warps of a block"),
        element("div", {className: "scroll"}, table), element("p", {}, element("a", {href: url("p.json", "application/json"), download: "profile.json"}, "the trace"), " (for ui.perfetto.dev)"));
}

// ---- the visitor's GPU ---------------------------------------------------------------------------

async function gpuRun(out) {
    const built = await tools.sim.call(["build", ...words().map((w) => w === state.target ? "webgpu" : w), "-q", "--no-cache", "-o", "w"]);
    if (built.code !== 0)
        return out.replaceChildren(element("pre", {className: "code error"}, built.err));
    // The bundle's page and module name files beside them; here they are addresses of what is in memory.
    const addresses = {}, put = (name, type, bytes) => { addresses[name] = URL.createObjectURL(new Blob([bytes], {type})); };
    const file = (name) => built.files["w/" + name];
    put("kernel.wgsl", "text/plain", file("kernel.wgsl"));
    put("check.json", "application/json", file("check.json"));
    put("check.bin", "application/octet-stream", file("check.bin"));
    put("kernel.mjs", "text/javascript", textOf(file("kernel.mjs")).replace('new URL("./kernel.wgsl", import.meta.url)', JSON.stringify(addresses["kernel.wgsl"])));
    const page = textOf(file("index.html")).replace(/"\.\/(kernel\.mjs|check\.json|check\.bin)"/g, (_, name) => JSON.stringify(addresses[name]));
    const frame = element("iframe", {id: "gpuframe", style: "width: 100%; height: 46rem; border: 1px solid var(--line); border-radius: 8px"});
    frame.srcdoc = page;
    out.replaceChildren(frame);
}

function gpuPane(pane) {
    const go = element("button", {className: "go", id: "rungpu"}, "Run on this machine's GPU"), out = element("div", {id: "gpurun"});
    const has = !!navigator.gpu;
    go.disabled = !has;
    pane.replaceChildren(element("div", {className: "bar"}, go, has ? "The kernel as WGSL, through WebGPU; results are compared with the simulator's." : "This browser has no WebGPU."), out);
    go.onclick = () => {
        out.replaceChildren(element("p", {className: "soft"}, "building …"));
        gpuRun(out);
    };
}

// ---- tabs ---------------------------------------------------------------------------------------

const PANES = {
    code: ["Code", (pane, built) => pane.replaceChildren(emitted(built.source))],
    plans: ["Plans", (pane, built) => pane.replaceChildren(...planPane(built.plans))],
    passes: ["Passes", (pane, built) => pane.replaceChildren(...passPane(built.passes))],
    layouts: ["Layouts", layoutPane],
    run: ["Simulator", (pane) => pane.childNodes.length || simPane(pane)],
    time: ["Timeline", (pane) => pane.childNodes.length || timePane(pane)],
    proofs: ["Proofs", provePane],
    gpu: ["WebGPU", (pane) => pane.childNodes.length || gpuPane(pane)],
};

function showTab(name) {
    state.tab = name;
    for (const b of $("tabs").children)
        b.setAttribute("aria-selected", b.dataset.tab === name);
    $("tabs").querySelector("[aria-selected=true]").scrollIntoView({block: "nearest", inline: "nearest"});
    for (const p of $("panes").children)
        p.classList.toggle("here", p.dataset.tab === name);
    fill();
}

// A pane is made when it is looked at, once for each text.
async function fill() {
    const pane = [...$("panes").children].find((p) => p.dataset.tab === state.tab), built = state.built;
    if (!built || pane.dataset.version === String(state.version))
        return;
    pane.dataset.version = state.version;
    if (built.failed && !["run", "time", "gpu"].includes(state.tab))
        return pane.replaceChildren(element("p", {className: "soft"}, "The kernel does not compile: see the message."));
    await PANES[state.tab][1](pane, built);
}

// ---- compiling ----------------------------------------------------------------------------------

async function compile() {
    const version = ++state.version;
    document.body.dataset.state = "busy";
    const got = await tools.main.call(["build", ...words(), "--no-cache", "--source", "--plans", "--dump=all", "--dump-dir", "d", "-c", "tl.emit_line_directives=1"]);
    if (version !== state.version)
        return;
    showMessages(got);
    const passes = passesOf(got.files), form = passes.at(-1)?.text.join("\n") ?? "";
    const outputs = [...new Set([...form.matchAll(/^\s+param (\w+): .*\bis_output\b/gm)].map((m) => m[1]))];
    state.built = {failed: got.code !== 0, passes, form, outputs, ...splitOutput(got.out)};
    fill();
}

// What --plans and --source print one after the other: plans are indented under "kernel …:" lines.
function splitOutput(text) {
    const lines = text.split("\n");
    let n = 0;
    while (n < lines.length && (/^kernel \S+: /.test(lines[n]) || /^  /.test(lines[n])))
        n++;
    return {plans: lines.slice(0, n).join("\n"), source: lines.slice(n).join("\n").trim() + "\n"};
}

let waiting = 0;
function changed() {
    clearTimeout(waiting);
    waiting = setTimeout(() => { keep(); compile(); }, 150);
}

// ---- links and examples --------------------------------------------------------------------------

async function squeeze(text, stream) {
    return new Uint8Array(await new Response(new Blob([text]).stream().pipeThrough(stream)).arrayBuffer());
}

async function linkOf() {
    const packed = await squeeze(JSON.stringify({k: state.text, t: state.target, v: state.values}), new CompressionStream("deflate-raw"));
    return "#k=" + btoa(String.fromCharCode(...packed)).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
}

async function readLink(hash) {
    const m = hash.match(/^#k=([\w-]+)$/), e = hash.match(/^#(?:e|example)=([^&]+)(?:&t=(.*))?$/);
    if (e)
        return {...(EXAMPLES.find((x) => x.name === decodeURIComponent(e[1])) ?? EXAMPLES[0]), ...(e[2] ? {target: decodeURIComponent(e[2])} : {})};
    if (!m)
        return null;
    const packed = Uint8Array.from(atob(m[1].replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
    const {k, t, v} = JSON.parse(textOf(await squeeze(packed, new DecompressionStream("deflate-raw"))));
    return {text: k, target: t, values: v};
}

const remember = (k, v) => { try { return v === undefined ? localStorage.getItem(k) : localStorage.setItem(k, v); } catch { return null; } };
const keep = () => remember("tilelang-playground", JSON.stringify({text: state.text, target: state.target, values: state.values}));

function open({text, target, values = ""}) {
    state.text = text;
    state.values = values;
    if (target)
        state.target = target;
    if (![...$("target").options].some((o) => o.value === state.target))
        $("target").append(element("option", {value: state.target}, state.target));
    $("text").value = text;
    $("values").value = values;
    $("target").value = state.target;
    which();
    paint();
    compile();
}

// The picker names the example as long as the text is its.
function which() {
    const i = EXAMPLES.findIndex((x) => x.text === state.text);
    $("example").value = i < 0 ? "" : i;
}

// ---- start --------------------------------------------------------------------------------------

function theme() {
    const kept = remember("tilelang-theme");
    let dark = kept ? kept === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    const show = () => document.documentElement.classList.toggle("dark", dark);
    show();
    $("theme").onclick = () => { dark = !dark; remember("tilelang-theme", dark ? "dark" : "light"); show(); };
}

function edits() {
    const text = $("text");
    text.oninput = () => { state.text = text.value; which(); paint(); changed(); };
    text.onkeydown = (e) => {
        if (e.key !== "Tab" || e.shiftKey)
            return;
        e.preventDefault();
        document.execCommand("insertText", false, "    ");
    };
    const here = () => light(state.text.slice(0, text.selectionStart).split("\n").length);
    text.onclick = here;
    text.onkeyup = (e) => { if (/^(Arrow|Page|Home|End)/.test(e.key)) here(); };
    $("values").oninput = () => { state.values = $("values").value; changed(); };
    $("target").onchange = () => { state.target = $("target").value; keep(); compile(); };
    $("example").onchange = () => { open(EXAMPLES[$("example").value]); keep(); };
    $("link").onclick = async () => {
        history.replaceState(null, "", await linkOf());
        try { await navigator.clipboard.writeText(location.href); $("link").textContent = "Copied"; } catch { $("link").textContent = "In the address"; }
        setTimeout(() => { $("link").textContent = "Link"; }, 1500);
    };
}

async function start() {
    theme();
    const groups = new Map();
    EXAMPLES.forEach((x, i) => {
        if (!groups.has(x.group))
            groups.set(x.group, element("optgroup", {label: x.group}));
        groups.get(x.group).append(element("option", {value: i}, x.title));
    });
    $("example").append(element("option", {value: "", hidden: true}, "your own"), ...groups.values());
    $("target").append(...TARGETS.map(([name, value]) => element("option", {value}, name)));
    for (const [name, [title]] of Object.entries(PANES)) {
        const tab = element("button", {role: "tab", onclick: () => showTab(name)}, title);
        tab.dataset.tab = name;
        const pane = element("div", {role: "tabpanel"});
        pane.dataset.tab = name;
        $("tabs").append(tab);
        $("panes").append(pane);
    }
    edits();
    showTab("code");
    addEventListener("resize", fit);
    addEventListener("hashchange", async () => { const got = await readLink(location.hash); if (got) open(got); });
    open(await readLink(location.hash).catch(() => null) ?? JSON.parse(remember("tilelang-playground") ?? "null") ?? EXAMPLES[0]);
    if ("serviceWorker" in navigator && /^https?:$/.test(location.protocol))
        navigator.serviceWorker.register("offline.js").catch(() => {});
}

start();
