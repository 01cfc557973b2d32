// worker.js -- runs tl in a thread of its own: {id, module | args, files} in; output as it comes, then the end.
"use strict";

let compiled = null;

onmessage = async ({data}) => {
    if (data.module) {
        compiled = data.module;
        return;
    }
    const {id, args, files} = data, start = performance.now();
    let out = "", err = "", told = 0;
    const write = (fd, text) => fd === 1 ? out += text : err += text;
    // Threads that the simulator started: how far it is.
    const tick = (started) => {
        if (performance.now() - told > 100) {
            told = performance.now();
            postMessage({id, started});
        }
    };
    try {
        const end = await runWasm(compiled, {args: ["tl", ...args], files, write, tick, env: {HOME: "/home"}});
        postMessage({id, code: end.code, out, err, files: Object.fromEntries(end.files), ms: performance.now() - start});
    } catch (e) {
        postMessage({id, code: 70, out, err: err + "\ntl stopped: " + e.message, files: {}, ms: performance.now() - start});
    }
};
