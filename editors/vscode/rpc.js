// rpc.js -- JSON-RPC with a program over its stdin and stdout, as the language server protocol frames it.
const { spawn } = require("child_process");

class Connection {
  // notify(method, params) gets what the program says by itself; ended(reason) is called once, when it is gone.
  constructor(command, args, notify, ended) {
    this.last = 0;
    this.waiting = new Map();
    this.held = Buffer.alloc(0);
    this.notify = notify;
    this.process = spawn(command, args, { stdio: ["pipe", "pipe", "pipe"] });
    this.over = false;
    let said = "";
    const end = (why) => {
      if (this.over) return;
      this.over = true;
      for (const { reject } of this.waiting.values()) reject(new Error(why));
      this.waiting.clear();
      ended(why);
    };
    this.process.on("error", (error) => end(error.message));
    this.process.on("exit", (code, signal) => end(said.trim() || `ended with ${signal ?? code}`));
    this.process.stderr.on("data", (data) => { said = (said + data).slice(-2000); });
    this.process.stdin.on("error", () => {}); // it ended; "exit" says so
    this.process.stdout.on("data", (data) => { this.held = Buffer.concat([this.held, data]); this.take(); });
  }

  take() {
    for (;;) {
      const head = this.held.indexOf("\r\n\r\n");
      if (head < 0) return;
      const length = /content-length:\s*(\d+)/i.exec(this.held.toString("latin1", 0, head));
      const from = head + 4, to = from + Number(length?.[1] ?? 0);
      if (this.held.length < to) return;
      const message = JSON.parse(this.held.toString("utf8", from, to));
      this.held = this.held.subarray(to);
      this.see(message);
    }
  }

  see(message) {
    const asked = this.waiting.get(message.id);
    if (message.method && message.id !== undefined)
      this.write({ id: message.id, result: null }); // what the server asks of the editor, nothing so far
    else if (message.method)
      this.notify(message.method, message.params);
    else if (asked) {
      this.waiting.delete(message.id);
      if (message.error) asked.reject(new Error(message.error.message));
      else asked.resolve(message.result);
    }
  }

  write(message) {
    if (this.over) return;
    const text = Buffer.from(JSON.stringify({ jsonrpc: "2.0", ...message }));
    this.process.stdin.write(`Content-Length: ${text.length}\r\n\r\n`);
    this.process.stdin.write(text);
  }

  tell(method, params) {
    this.write({ method, params });
  }

  ask(method, params, token) {
    if (this.over) return Promise.reject(new Error("the server has ended"));
    const id = ++this.last;
    token?.onCancellationRequested(() => this.tell("$/cancelRequest", { id }));
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.write({ id, method, params });
    });
  }

  async stop() {
    if (this.over) return;
    try {
      await this.ask("shutdown", null);
      this.tell("exit", null);
    } catch { /* it is gone already */ }
    setTimeout(() => this.over || this.process.kill(), 2000).unref();
  }
}

module.exports = { Connection };
