// extension.js -- starts `tl lsp` for Python files that import tilelang, and shows what it says.
const vscode = require("vscode");
const { Connection } = require("./rpc");

let server;      // a Connection, or undefined
let diagnostics; // of all documents
let hints;       // fired when a compile may have changed the hints
let failed;      // the command that could not be started, so that it is said once
const opened = new Set(); // addresses that the server knows

function usesTilelang(document) {
  return document.languageId === "python" && /^\s*(import|from)\s+tilelang\b/m.test(document.getText());
}

// ---- from the protocol's words to the editor's

const range = (r) => new vscode.Range(r.start.line, r.start.character, r.end.line, r.end.character);
const place = (document, position) => ({ textDocument: { uri: document.uri.toString() }, position });

function diagnostic(d) {
  const severity = [vscode.DiagnosticSeverity.Error, vscode.DiagnosticSeverity.Warning, vscode.DiagnosticSeverity.Information, vscode.DiagnosticSeverity.Hint];
  const out = new vscode.Diagnostic(range(d.range), d.message, severity[(d.severity ?? 1) - 1]);
  out.source = d.source;
  out.code = d.codeDescription ? { value: d.code, target: vscode.Uri.parse(d.codeDescription.href) } : d.code;
  out.relatedInformation = (d.relatedInformation ?? []).map((x) =>
    new vscode.DiagnosticRelatedInformation(new vscode.Location(vscode.Uri.parse(x.location.uri), range(x.location.range)), x.message));
  return out;
}

function text(content) {
  return new vscode.MarkdownString(typeof content === "string" ? content : content?.value ?? "");
}

function edits(workspaceEdit) {
  const out = new vscode.WorkspaceEdit();
  for (const [uri, list] of Object.entries(workspaceEdit?.changes ?? {}))
    for (const e of list) out.replace(vscode.Uri.parse(uri), range(e.range), e.newText);
  return out;
}

function symbol(s) {
  const out = new vscode.DocumentSymbol(s.name, s.detail ?? "", s.kind - 1, range(s.range), range(s.selectionRange));
  out.children = (s.children ?? []).map(symbol);
  return out;
}

// What the server does not answer is nothing, not a message: it says what is wrong by diagnostics.
async function ask(method, params, token, make) {
  if (!server || !opened.has(params.textDocument.uri)) return undefined;
  try {
    const result = await server.ask(method, params, token);
    return result === null || result === undefined ? undefined : make(result);
  } catch {
    return undefined;
  }
}

const providers = {
  provideHover: (document, position, token) => ask("textDocument/hover", place(document, position), token, (h) => new vscode.Hover(text(h.contents), h.range && range(h.range))),
  provideDefinition: (document, position, token) => ask("textDocument/definition", place(document, position), token, (found) =>
    [found].flat().map((l) => new vscode.Location(vscode.Uri.parse(l.uri), range(l.range)))),
  provideInlayHints: (document, r, token) => ask("textDocument/inlayHint", { textDocument: { uri: document.uri.toString() }, range: r }, token, (list) =>
    list.map((h) => {
      const out = new vscode.InlayHint(new vscode.Position(h.position.line, h.position.character), typeof h.label === "string" ? h.label : h.label.map((p) => p.value).join(""));
      out.tooltip = h.tooltip && text(h.tooltip);
      out.paddingLeft = h.paddingLeft;
      out.paddingRight = h.paddingRight;
      return out;
    })),
  provideCompletionItems: (document, position, token) => ask("textDocument/completion", place(document, position), token, (found) =>
    (found.items ?? found).map((c) => {
      const out = new vscode.CompletionItem(c.label, (c.kind ?? 1) - 1);
      out.detail = c.detail;
      out.documentation = c.documentation && text(c.documentation);
      out.insertText = c.insertText;
      out.sortText = c.sortText;
      if (c.textEdit) { out.range = range(c.textEdit.range); out.insertText = c.textEdit.newText; }
      return out;
    })),
  provideSignatureHelp: (document, position, token) => ask("textDocument/signatureHelp", place(document, position), token, (found) => {
    const out = new vscode.SignatureHelp();
    out.signatures = found.signatures.map((s) => {
      const one = new vscode.SignatureInformation(s.label, s.documentation && text(s.documentation));
      one.parameters = (s.parameters ?? []).map((p) => new vscode.ParameterInformation(p.label, p.documentation && text(p.documentation)));
      return one;
    });
    out.activeSignature = found.activeSignature ?? 0;
    out.activeParameter = found.activeParameter ?? 0;
    return out;
  }),
  provideCodeActions: (document, r, context, token) => {
    const sent = context.diagnostics.map((d) => ({ range: d.range, message: d.message, code: d.code?.value ?? d.code, severity: d.severity + 1, source: d.source }));
    return ask("textDocument/codeAction", { textDocument: { uri: document.uri.toString() }, range: r, context: { diagnostics: sent } }, token, (list) =>
      list.map((a) => {
        const out = new vscode.CodeAction(a.title, vscode.CodeActionKind.QuickFix);
        out.edit = edits(a.edit);
        out.isPreferred = a.isPreferred;
        return out;
      }));
  },
  provideDocumentSymbols: (document, token) => ask("textDocument/documentSymbol", { textDocument: { uri: document.uri.toString() } }, token, (list) => list.map(symbol)),
  provideDocumentSemanticTokens: (document, token) => ask("textDocument/semanticTokens/full", { textDocument: { uri: document.uri.toString() } }, token, (t) =>
    new vscode.SemanticTokens(new Uint32Array(t.data))),
};

function register(context, capabilities) {
  const python = { language: "python" }, l = vscode.languages, p = providers, c = capabilities;
  hints = new vscode.EventEmitter();
  context.subscriptions.push(
    hints,
    l.registerHoverProvider(python, p),
    l.registerDefinitionProvider(python, p),
    l.registerInlayHintsProvider(python, { provideInlayHints: p.provideInlayHints, onDidChangeInlayHints: hints.event }),
    l.registerCompletionItemProvider(python, p, ...c.completionProvider.triggerCharacters),
    l.registerSignatureHelpProvider(python, p, ...c.signatureHelpProvider.triggerCharacters),
    l.registerCodeActionsProvider(python, p, { providedCodeActionKinds: [vscode.CodeActionKind.QuickFix] }),
    l.registerDocumentSymbolProvider(python, p),
    l.registerDocumentSemanticTokensProvider(python, p,
      new vscode.SemanticTokensLegend(c.semanticTokensProvider.legend.tokenTypes, c.semanticTokensProvider.legend.tokenModifiers)));
}

// ---- documents

function open(document) {
  const uri = document.uri.toString();
  if (!server || opened.has(uri) || !usesTilelang(document)) return;
  opened.add(uri);
  server.tell("textDocument/didOpen", { textDocument: { uri, languageId: "python", version: document.version, text: document.getText() } });
}

function change(event) {
  const uri = event.document.uri.toString();
  if (!opened.has(uri)) return void see(event.document); // the import may have been typed now
  const contentChanges = event.contentChanges.map((c) => ({ range: { start: c.range.start, end: c.range.end }, text: c.text }));
  server.tell("textDocument/didChange", { textDocument: { uri, version: event.document.version }, contentChanges });
}

function close(document) {
  const uri = document.uri.toString();
  if (!opened.delete(uri)) return;
  server?.tell("textDocument/didClose", { textDocument: { uri } });
  diagnostics.delete(document.uri);
}

// ---- the server

function notice(method, params) {
  if (method !== "textDocument/publishDiagnostics") return;
  diagnostics.set(vscode.Uri.parse(params.uri), params.diagnostics.map(diagnostic));
  hints?.fire();
}

let context, starting;

async function start() {
  const settings = vscode.workspace.getConfiguration("tilelang");
  const command = settings.get("path");
  const one = new Connection(command, ["lsp", "--target", settings.get("target")], notice, (why) => {
    if (server === one) server = undefined;
    opened.clear();
    diagnostics.clear();
    if (why && !one.stopped && failed !== command) {
      failed = command;
      vscode.window.showErrorMessage(`TileLang: ${command} lsp: ${why}; set tilelang.path`);
    }
  });
  try {
    const { capabilities } = await one.ask("initialize", { processId: process.pid, rootUri: null, capabilities: {} });
    one.tell("initialized", {});
    server = one;
    if (!hints) register(context, capabilities);
    vscode.workspace.textDocuments.forEach(open);
  } catch { /* ended: said above */ }
}

function see(document) {
  if (!usesTilelang(document)) return;
  if (server) open(document);
  else starting ??= start().finally(() => { starting = undefined; });
}

async function restart() {
  const old = server;
  server = failed = undefined;
  if (old) {
    old.stopped = true;
    await old.stop();
  }
  opened.clear();
  vscode.workspace.textDocuments.forEach(see);
}

function activate(given) {
  context = given;
  diagnostics = vscode.languages.createDiagnosticCollection("tilelang");
  context.subscriptions.push(
    diagnostics,
    vscode.workspace.onDidOpenTextDocument(see),
    vscode.workspace.onDidChangeTextDocument(change),
    vscode.workspace.onDidCloseTextDocument(close),
    vscode.workspace.onDidChangeConfiguration((e) => e.affectsConfiguration("tilelang") && restart()));
  vscode.workspace.textDocuments.forEach(see);
}

function deactivate() {
  if (!server) return undefined;
  server.stopped = true;
  return server.stop();
}

module.exports = { activate, deactivate };
