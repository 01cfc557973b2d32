const floordiv = (a, b) => Math.floor(a / b);
const floormod = (a, b) => a - b * Math.floor(a / b);
const truncdiv = (a, b) => Math.trunc(a / b);
const truncmod = (a, b) => a % b;
const elements = (shape) => shape.reduce((n, e) => n * e, 1);
const byteLength = (t, v) => Math.ceil(elements(t.shape(v)) * t.bits / 8);
const padded = (n) => Math.max(Math.ceil(n / 16) * 16, 16);
const DISPATCH_MOST = 65535; // blocks in x

let opened = null;

/** The best device of this machine, with what the kernel needs beyond the default limits. */
export async function open() {
    if (!globalThis.navigator?.gpu) throw new Error("this browser has no WebGPU");
    const adapter = await navigator.gpu.requestAdapter({powerPreference: "high-performance"});
    if (!adapter) throw new Error("WebGPU finds no adapter here");
    const requiredLimits = {};
    for (const [name, least] of Object.entries(limits)) {
        if (adapter.limits[name] < least) throw new Error(`the kernel needs ${name} ${least}; this adapter has ${adapter.limits[name]}`);
        requiredLimits[name] = least;
    }
    requiredLimits.maxStorageBufferBindingSize = adapter.limits.maxStorageBufferBindingSize;
    requiredLimits.maxBufferSize = adapter.limits.maxBufferSize;
    for (const name of features) {
        if (!adapter.features.has(name)) throw new Error(`the kernel needs ${name}; this adapter does not have it`);
    }
    const {subgroupMinSize: least, subgroupMaxSize: most} = adapter.info ?? {};
    if (subgroup && most && (least !== subgroup || most !== subgroup)) {
        throw new Error(`the kernel is for subgroups of ${subgroup} threads; those of this adapter have ${least} to ${most}`);
    }
    return adapter.requestDevice({requiredLimits, requiredFeatures: features});
}

const PRINT_WORDS = 16384;

/** What threads printed: the number of a line of the text's head, then the words of what it takes. */
function printed(code, words) {
    const lines = new Map([...code.matchAll(/^\/\/ tl_print (\d+) (\w*)\.(.*)$/gm)].map(([, n, kinds, texts]) =>
        [Number(n), {kinds, texts: [...texts.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, t]) =>
            t.replace(/\\([0-7]{1,3}|.)/g, (_, c) => c === "n" ? "\n" : c === "t" ? "\t" : /^[0-7]/.test(c) ? String.fromCharCode(parseInt(c, 8)) : c))}]));
    const view = new DataView(words.buffer, words.byteOffset), last = Math.min(words[0], PRINT_WORDS - 1);
    let at = 1, text = "";
    while (at <= last && lines.has(words[at])) {
        const {kinds, texts} = lines.get(words[at++]);
        const strings = texts.slice(1), values = [...kinds].map((k) => {
            if (k === "s") return strings.shift();
            const here = at * 4;
            at += k === "I" || k === "U" ? 2 : 1;
            return k === "f" ? view.getFloat32(here, true) : k === "i" ? view.getInt32(here, true)
                : k === "I" ? view.getBigInt64(here, true) : k === "U" ? view.getBigUint64(here, true) : view.getUint32(here, true);
        });
        text += texts[0].replace(/%%|%[-+ #0-9]*(?:\.(\d+))?[hlLzjt]*([a-zA-Z])/g, (spec, digits, how) => {
            if (spec === "%%") return "%";
            const v = values.shift();
            return typeof v !== "number" || !/[fgeFGE]/.test(how) ? /[xX]/.test(how) ? v.toString(16) : String(v)
                : /f/i.test(how) ? v.toFixed(digits ?? 6) : /e/i.test(how) ? v.toExponential(digits ?? 6) : String(Number(v.toPrecision(digits ?? 6)));
        });
    }
    if (text) console.log(text.replace(/\n$/, ""));
    if (words[0] >= PRINT_WORDS) console.warn(`what a launch printed was more than ${PRINT_WORDS - 1} words: the rest is lost`);
}

const built = new WeakMap(); // device -> pipelines by kernel

async function pipelines(device) {
    if (built.has(device)) return built.get(device);
    const code = await (await fetch(new URL("./kernel.wgsl", import.meta.url))).text();
    const module = device.createShaderModule({code});
    const wrong = (await module.getCompilationInfo()).messages.filter((m) => m.type === "error");
    if (wrong.length) throw new Error(wrong.map((m) => `kernel.wgsl:${m.lineNum}: ${m.message}`).join("\n"));
    // Where threads leave the number of an assertion that does not hold, and what it says.
    const flag = Number(code.match(/@binding\((\d+)\) var<storage, read_write> tl_failed:/)?.[1] ?? 0);
    const says = (n) => code.match(new RegExp(`^// tl_failed ${n} "(.*)"$`, "m"))?.[1] ?? "an assertion failed";
    const prints = Number(code.match(/@binding\((\d+)\) var<storage, read_write> tl_printed:/)?.[1] ?? 0);
    const made = {flag, says, prints, code};
    for (const [entryPoint, k] of Object.entries(kernels)) {
        const entries = k.bindings.map(([binding, writes]) => (
            {binding, visibility: GPUShaderStage.COMPUTE, buffer: {type: writes ? "storage" : "read-only-storage"}}));
        if (k.scalars.length) entries.push({binding: 0, visibility: GPUShaderStage.COMPUTE, buffer: {type: "uniform"}});
        for (const binding of [flag, prints]) if (binding) entries.push({binding, visibility: GPUShaderStage.COMPUTE, buffer: {type: "storage"}});
        const layout = device.createBindGroupLayout({entries});
        const pipeline = await device.createComputePipelineAsync({
            layout: device.createPipelineLayout({bindGroupLayouts: [layout]}), compute: {module, entryPoint}});
        made[entryPoint] = {layout, pipeline};
    }
    built.set(device, made);
    return made;
}

function upload(device, t, v, data) {
    const n = byteLength(t, v);
    const buffer = device.createBuffer({size: padded(n), usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST});
    if (data) {
        if (data.byteLength !== n) throw new Error(`'${t.name}' has ${data.byteLength} bytes; the kernel takes ${n}`);
        const bytes = new Uint8Array(Math.ceil(n / 4) * 4);
        bytes.set(new Uint8Array(data.buffer, data.byteOffset, n));
        device.queue.writeBuffer(buffer, 0, bytes);
    }
    return buffer;
}

function scalars(device, types, values) {
    const words = new DataView(new ArrayBuffer(padded(types.length * 8)));
    let at = 0;
    types.forEach((type, i) => {
        if (type === "f32") words.setFloat32(at, values[i], true);
        else if (type === "i64") words.setBigInt64(at, BigInt(values[i]), true);
        else if (type === "i32") words.setInt32(at, values[i], true);
        else words.setUint32(at, Number(values[i]), true);
        at += type === "i64" ? 8 : 4;
    });
    const buffer = device.createBuffer({size: words.byteLength, usage: GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST});
    device.queue.writeBuffer(buffer, 0, words.buffer);
    return buffer;
}

/** Launches that a device takes: one of more blocks in x is several, each with its first block behind the other scalars. */
function* dispatches(list) {
    for (const l of list.filter((l) => l.grid.every((n) => n > 0))) {
        if (!kernels[l.kernel].first) yield l;
        else for (let x = 0; x < l.grid[0]; x += DISPATCH_MOST) {
            yield {...l, grid: [Math.min(l.grid[0] - x, DISPATCH_MOST), ...l.grid.slice(1)], scalars: [...l.scalars, x]};
        }
    }
}

/** Everything of a call: memory, launches with their groups. */
async function prepare(args, device) {
    device ??= await (opened ??= open());
    const v = {};
    for (const name of numbers) {
        if (!["number", "boolean", "bigint"].includes(typeof args[name])) throw new Error(`'${name}' must be given`);
        v[name] = args[name];
    }
    const made = await pipelines(device);
    const at = new Map();
    for (const t of tensors) {
        if (!args[t.name] && t.reads) throw new Error(`tensor '${t.name}' must be given`);
        at.set(t.binding, upload(device, t, v, args[t.name]));
    }
    for (const t of temporaries) at.set(t.binding, upload(device, t, v, null));
    if (made.flag) at.set(made.flag, device.createBuffer({size: 4, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC}));
    if (made.prints) at.set(made.prints, device.createBuffer({size: PRINT_WORDS * 4, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC}));
    const steps = [...dispatches(launches(v))].map((l) => {
        const k = kernels[l.kernel], entries = k.bindings.map(([binding]) => ({binding, resource: {buffer: at.get(binding)}}));
        if (k.scalars.length) entries.push({binding: 0, resource: {buffer: scalars(device, k.scalars, l.scalars)}});
        for (const binding of [made.flag, made.prints]) if (binding) entries.push({binding, resource: {buffer: at.get(binding)}});
        const {layout, pipeline} = made[l.kernel];
        return {pipeline, group: device.createBindGroup({layout, entries}), grid: l.grid};
    });
    return {device, v, at, steps, made};
}

function submit({device, steps}, more) {
    const encoder = device.createCommandEncoder(), pass = encoder.beginComputePass();
    for (const s of steps) {
        pass.setPipeline(s.pipeline);
        pass.setBindGroup(0, s.group);
        pass.dispatchWorkgroups(...s.grid);
    }
    pass.end();
    more?.(encoder);
    device.queue.submit([encoder.finish()]);
}

export async function run(args, device) {
    const call = await prepare(args, device);
    const out = tensors.filter((t) => t.writes).map((t) => {
        const n = byteLength(t, call.v), size = Math.ceil(n / 4) * 4;
        return {t, n, size, stage: call.device.createBuffer({size: Math.max(size, 4), usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST})};
    });
    const flag = call.made.flag && call.device.createBuffer({size: 4, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST});
    const lines = call.made.prints && call.device.createBuffer({size: PRINT_WORDS * 4, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST});
    call.device.pushErrorScope("validation");
    submit(call, (encoder) => {
        if (flag) encoder.copyBufferToBuffer(call.at.get(call.made.flag), 0, flag, 0, 4);
        if (lines) encoder.copyBufferToBuffer(call.at.get(call.made.prints), 0, lines, 0, PRINT_WORDS * 4);
        for (const o of out) if (o.size) encoder.copyBufferToBuffer(call.at.get(o.t.binding), 0, o.stage, 0, o.size);
    });
    const wrong = await call.device.popErrorScope();
    if (wrong) throw new Error(wrong.message);
    if (lines) {
        await lines.mapAsync(GPUMapMode.READ);
        printed(call.made.code, new Uint32Array(lines.getMappedRange()));
        lines.destroy();
    }
    if (flag) {
        await flag.mapAsync(GPUMapMode.READ);
        const failed = new Uint32Array(flag.getMappedRange())[0];
        flag.destroy();
        if (failed) throw new Error(call.made.says(failed));
    }
    const result = {};
    for (const o of out) {
        await o.stage.mapAsync(GPUMapMode.READ);
        result[o.t.name] = new o.t.array(o.stage.getMappedRange().slice(0, o.n));
        o.stage.destroy();
    }
    for (const buffer of call.at.values()) buffer.destroy();
    return result;
}

export async function time(args, times, device) {
    const call = await prepare(args, device), took = [];
    const together = async (n) => {
        const start = performance.now();
        for (let i = 0; i < n; i++) submit(call);
        await call.device.queue.onSubmittedWorkDone();
        return (performance.now() - start) / n;
    };
    await together(1);
    const each = Math.min(Math.ceil(2 / Math.max(await together(1), 0.02)), 100); // clocks of browsers tick by a tenth of a millisecond
    const begun = performance.now();
    for (let i = 0; i < times && (i < 3 || performance.now() - begun < 2000); i++) { // a slow device: fewer
        took.push(await together(each));
    }
    for (const buffer of call.at.values()) buffer.destroy();
    return took;
}
