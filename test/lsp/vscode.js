// vscode.js EXTENSION TL -- the extension as VS Code runs it: in Node, with the real server.  What stands for the module `vscode` here holds
// documents and remembers what is registered; it answers nothing.
const Module = require("module");
const path = require("path");
const [folder, tl] = process.argv.slice(2);

class Position { constructor(line, character) { Object.assign(this, { line, character }); } }
class Range { constructor(a, b, c, d) { this.start = new Position(a, b); this.end = new Position(c, d); } }
const record = (...names) => class { constructor(...values) { names.forEach((n, i) => { this[n] = values[i]; }); } };
class Uri { static parse(text) { return Object.assign(new Uri(), { text }); } toString() { return this.text; } }
class WorkspaceEdit { constructor() { this.list = []; } replace(uri, range, text) { this.list.push({ uri: uri.toString(), range, text }); } }
class EventEmitter { constructor() { this.n = 0; this.event = () => {}; } fire() { this.n++; } dispose() {} }

const heard = {}, registered = {}, shown = [], settings = { path: tl, target: "cuda -arch=sm_90a" };
const collection = new Map();
const listen = (name) => (f) => { heard[name] = f; return { dispose() {} }; };
const register = (name) => (...args) => { registered[name] = args; return { dispose() {} }; };
const vscode = {
  Position, Range, Uri, WorkspaceEdit, EventEmitter,
  Location: record("uri", "range"), Hover: record("contents", "range"), MarkdownString: record("value"), InlayHint: record("position", "label"),
  Diagnostic: record("range", "message", "severity"), DiagnosticRelatedInformation: record("location", "message"), CompletionItem: record("label", "kind"),
  SignatureHelp: record(), SignatureInformation: record("label", "documentation"), ParameterInformation: record("label", "documentation"),
  CodeAction: record("title", "kind"), DocumentSymbol: record("name", "detail", "kind", "range", "selectionRange"), SemanticTokens: record("data"),
  SemanticTokensLegend: record("types", "modifiers"), CodeActionKind: { QuickFix: "quickfix" },
  DiagnosticSeverity: { Error: 0, Warning: 1, Information: 2, Hint: 3 },
  languages: {
    createDiagnosticCollection: () => ({ set: (u, d) => collection.set(u.toString(), d), delete: (u) => collection.delete(u.toString()), clear: () => collection.clear(), dispose() {} }),
    ...Object.fromEntries(["Hover", "Definition", "InlayHints", "CompletionItem", "SignatureHelp", "CodeActions", "DocumentSymbol", "DocumentSemanticTokens"]
      .map((n) => [`register${n}Provider`, register(n)])),
  },
  workspace: {
    textDocuments: [], getConfiguration: () => ({ get: (n) => settings[n] }), onDidOpenTextDocument: listen("open"), onDidChangeTextDocument: listen("change"),
    onDidCloseTextDocument: listen("close"), onDidChangeConfiguration: listen("settings"),
  },
  window: { showErrorMessage: (m) => shown.push(m) },
};
const load = Module._load;
Module._load = (name, ...rest) => (name === "vscode" ? vscode : load(name, ...rest));

let passed = 0, failed = 0;
const check = (what, holds, seen) => {
  if (holds) passed++;
  else { failed++; console.log(`FAIL ${what}: ${JSON.stringify(seen)?.slice(0, 800)}`); }
};
const until = async (f, seconds = 60) => {
  for (const end = Date.now() + seconds * 1000; Date.now() < end && !f();) await new Promise((r) => setTimeout(r, 20));
  return f();
};
const token = { onCancellationRequested() {} };

class Document {
  constructor(name, text) { Object.assign(this, { uri: Uri.parse("file:///" + name), languageId: "python", version: 1, text }); }
  getText() { return this.text; }
  at(word, nth = 0) {
    let i = -1;
    for (let n = 0; n <= nth; n++) i = this.text.indexOf(word, i + 1);
    const before = this.text.slice(0, i).split("\n");
    return new Position(before.length - 1, before.at(-1).length);
  }
  replace(word, by) { // as typing does
    const start = this.at(word), end = new Position(start.line, start.character + word.length);
    this.text = this.text.replace(word, by);
    this.version++;
    heard.change({ document: this, contentChanges: [{ range: { start, end }, text: by }] });
  }
}

const KERNEL = `import tilelang
import tilelang.language as T


@T.macro
def twice(x):
    T.copy(x, x)


@tilelang.jit
def scale(M=256, N=256):
    @T.prim_func
    def main(A: T.Tensor((M, N), "float16"), B: T.Tensor((M, N), "float16")):
        with T.Kernel(M // 64, threads=128) as bx:
            s = T.alloc_shared((64, 256), "float16")  # größer
            T.cpoy(A[bx * 64, 0], s)
            T.copy(s, B[bx * 64, 0])

    return main
`;

async function main() {
  const extension = require(path.join(folder, require(path.join(folder, "package.json")).main));
  const plain = new Document("plain.py", "print(1)\n"), doc = new Document("k.py", KERNEL);
  vscode.workspace.textDocuments.push(plain);
  extension.activate({ subscriptions: [] });
  await new Promise((r) => setTimeout(r, 300));
  check("nothing starts without a kernel", !registered.Hover);
  vscode.workspace.textDocuments.push(doc);
  heard.open(doc);
  check("messages come", await until(() => collection.get("file:///k.py")?.length), [...collection]);
  const [first] = collection.get("file:///k.py");
  check("the compiler's own, at its place", /cpoy/.test(first.message) && first.range.start.line === 15 && first.severity === 0 && first.code === "no-such-name", first);
  check("every provider is registered", Object.keys(registered).length === 8, Object.keys(registered));

  const provide = (name, method, ...args) => registered[name].find((x) => x?.[method])[method](...args, token);
  const actions = await provide("CodeActions", "provideCodeActions", doc, first.range, { diagnostics: [first] });
  const fix = actions?.find((a) => a.edit.list.some((e) => /copy/.test(e.text)));
  check("a fix", fix, actions);
  doc.replace("cpoy", "copy");
  check("messages go", await until(() => collection.get("file:///k.py")?.every((d) => d.severity > 0)), [...collection]);
  const hover = await provide("Hover", "provideHover", doc, doc.at("s, B"));
  check("hover of a tile", /float16/.test(hover?.contents?.value) && /shared/.test(hover.contents.value), hover);
  let hints;
  const all = { start: { line: 0, character: 0 }, end: { line: 30, character: 0 } };
  await until(async () => (hints = await provide("InlayHints", "provideInlayHints", doc, all))?.length);
  hints = await provide("InlayHints", "provideInlayHints", doc, all);
  check("hints", hints?.some((h) => h.position.line === 15 && /\w/.test(h.label)), hints);
  const found = await provide("CompletionItem", "provideCompletionItems", doc, new Position(15, 14));
  check("completion", found?.some((c) => c.label === "copy") && found.length > 100, found?.length);
  const help = await provide("SignatureHelp", "provideSignatureHelp", doc, new Position(15, 19));
  check("signatures", /copy/.test(help?.signatures?.[0]?.label), help);
  const where = await provide("Definition", "provideDefinition", doc, doc.at("s, B"));
  check("definition", where?.[0]?.range.start.line === 14, where);
  const outline = await provide("DocumentSymbol", "provideDocumentSymbols", doc);
  check("outline", JSON.stringify(outline).includes('"scale"'), outline);
  const tokens = await provide("DocumentSemanticTokens", "provideDocumentSemanticTokens", doc);
  check("colours", tokens?.data.length > 50 && tokens.data.length % 5 === 0, tokens?.data.length);

  doc.replace("größer", "größer 😀");
  doc.replace("T.copy(s, B", "T.copz(s, B");
  check("positions after other letters", await until(() => collection.get("file:///k.py")?.some((d) => d.range.start.line === 16 && d.severity === 0)), [...collection]);
  heard.close(doc);
  check("closed", !collection.has("file:///k.py"), [...collection]);
  vscode.workspace.textDocuments.pop();

  settings.path = "/nowhere/tl";
  vscode.workspace.textDocuments.push(doc);
  heard.settings({ affectsConfiguration: () => true });
  check("a program that is not there is said", await until(() => shown.length) && /nowhere/.test(shown[0]), shown);
  heard.open(doc);
  await new Promise((r) => setTimeout(r, 500));
  check("once", shown.length === 1, shown);
  settings.path = tl;
  settings.target = "no such target";
  heard.settings({ affectsConfiguration: () => true });
  await new Promise((r) => setTimeout(r, 1500));
  settings.target = "hip -mcpu=gfx942";
  heard.settings({ affectsConfiguration: () => true });
  check("another target", await until(() => collection.get("file:///k.py")?.length), [shown, [...collection]]);
  await extension.deactivate();
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed ? 1 : 0);
}

main().catch((e) => { console.log("FAIL", e); process.exit(1); });
