// extension.js -- starts `tl lsp` for Python files that import tilelang.
const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function usesTilelang(document) {
  return document.languageId === "python" && /^\s*(import|from)\s+tilelang\b/m.test(document.getText());
}

async function start() {
  if (client) return;
  const settings = vscode.workspace.getConfiguration("tilelang");
  const command = settings.get("path");
  client = new LanguageClient(
    "tilelang", "TileLang",
    { command, args: ["lsp", "--target", settings.get("target")] },
    { documentSelector: [{ language: "python" }] });
  try {
    await client.start();
  } catch (error) {
    client = undefined;
    vscode.window.showErrorMessage(`TileLang: cannot start ${command} lsp (${error.message}); set tilelang.path`);
  }
}

function activate(context) {
  const see = (document) => { if (usesTilelang(document)) start(); };
  vscode.workspace.textDocuments.forEach(see);
  context.subscriptions.push(vscode.workspace.onDidOpenTextDocument(see));
}

function deactivate() {
  return client && client.stop();
}

module.exports = { activate, deactivate };
