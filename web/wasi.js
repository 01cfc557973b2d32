// wasi.js -- runs tl.wasm once: arguments and files in; exit code, output and files out.
//
// Files live in memory, under "/".  Simulated threads need stacks of their own: a call that switches
// returns a promise, and the browser parks the stack that waits for it (JavaScript Promise
// Integration).  Without it all works but what runs threads.
"use strict";

const ERRNO = {badf: 8, exist: 20, inval: 28, isdir: 31, noent: 44, nosys: 52};
const FILETYPE = {device: 2, dir: 3, file: 4};
const canSwitch = typeof WebAssembly.Suspending === "function";

class Exit extends Error {
    constructor(code) {
        super("exit " + code);
        this.code = code;
    }
}

// The stacks of coroutines: `switch` parks the caller under its number and wakes or starts another.
function stacks(instance, tick) {
    const parked = new Map(), fresh = new Map();
    let last = 0, failed = null;
    const fail = new Promise((_, no) => { failed = no; });
    fail.catch(() => {});
    return {
        fail,
        make(top, fn, arg) {
            fresh.set(++last, {top, fn, arg});
            tick(last);
            return last;
        },
        switch(from, to) {
            fresh.delete(from);
            return new Promise((wake) => {
                parked.set(from, wake);
                const other = parked.get(to), start = fresh.get(to);
                if (other) {
                    parked.delete(to);
                    other();
                    return;
                }
                const {exports} = instance();
                fresh.delete(to);
                exports.__stack_pointer.value = start.top;
                WebAssembly.promising(exports.__indirect_function_table.get(start.fn))(start.arg).catch(failed);
            });
        },
    };
}

// {args, env, files: {path: Uint8Array}, write(fd, text), tick(stacks made)} -> {code, files}
async function runWasm(module, {args, env = {}, files = {}, write, tick = () => {}}) {
    const disk = new Map(Object.entries(files)), dirs = new Set([""]), open = new Map();
    const text = new TextEncoder(), decode = [null, new TextDecoder(), new TextDecoder()];
    let instance, nextFd = 4;
    const view = () => new DataView(instance.exports.memory.buffer);
    const bytes = (at, n) => new Uint8Array(instance.exports.memory.buffer, at, n);
    const path = (at, n) => new TextDecoder().decode(bytes(at, n)).replace(/^[./]+/, "").replace(/\/+$/, "");
    const isDir = (p) => dirs.has(p) || [...disk.keys()].some((k) => k.startsWith(p + "/"));
    const cstrings = (list) => list.map((s) => text.encode(s + "\0"));

    function putStrings(list, table, at) {
        for (const s of cstrings(list)) {
            view().setUint32(table, at, true);
            bytes(at, s.length).set(s);
            table += 4;
            at += s.length;
        }
        return 0;
    }
    function putSizes(list, count, size) {
        view().setUint32(count, list.length, true);
        view().setUint32(size, cstrings(list).reduce((n, s) => n + s.length, 0), true);
        return 0;
    }
    function putStat(at, type, size) {
        bytes(at, 64).fill(0);
        view().setUint8(at + 16, type);
        view().setBigUint64(at + 24, 1n, true);
        view().setBigUint64(at + 32, BigInt(size), true);
        return 0;
    }
    function each(iovs, n, fn) {
        let total = 0;
        for (let i = 0; i < n; i++) {
            const got = fn(view().getUint32(iovs + 8 * i, true), view().getUint32(iovs + 8 * i + 4, true));
            total += got;
        }
        return total;
    }
    function append(file, at, n) {
        const old = disk.get(file.path), end = file.at + n;
        const now = old.length >= end ? old : new Uint8Array(end);
        if (now !== old)
            now.set(old);
        now.set(bytes(at, n), file.at);
        disk.set(file.path, now);
        file.at = end;
        return n;
    }
    function readAt(file, from, at, n) {
        const some = disk.get(file.path).subarray(from, from + n);
        bytes(at, some.length).set(some);
        return some.length;
    }

    const environ = Object.entries(env).map(([k, v]) => k + "=" + v);
    const wasi = {
        args_get: (table, at) => putStrings(args, table, at),
        args_sizes_get: (n, size) => putSizes(args, n, size),
        environ_get: (table, at) => putStrings(environ, table, at),
        environ_sizes_get: (n, size) => putSizes(environ, n, size),
        clock_time_get(id, precision, at) {
            view().setBigUint64(at, BigInt(Math.round(performance.now() * 1e6)), true);
            return 0;
        },
        proc_exit(code) {
            throw new Exit(code);
        },
        fd_write(fd, iovs, n, done) {
            const file = open.get(fd);
            if (fd !== 1 && fd !== 2 && !file)
                return ERRNO.badf;
            const put = (at, len) => {
                if (file)
                    return append(file, at, len);
                write(fd, decode[fd].decode(bytes(at, len).slice(), {stream: true}));
                return len;
            };
            view().setUint32(done, each(iovs, n, put), true);
            return 0;
        },
        fd_read(fd, iovs, n, done) {
            const file = open.get(fd);
            const get = (at, len) => {
                const got = file ? readAt(file, file.at, at, len) : 0;
                if (file)
                    file.at += got;
                return got;
            };
            view().setUint32(done, each(iovs, n, get), true);
            return 0;
        },
        fd_pread(fd, iovs, n, from, done) {
            const file = open.get(fd);
            let at = Number(from);
            view().setUint32(done, each(iovs, n, (to, len) => {
                const got = readAt(file, at, to, len);
                at += got;
                return got;
            }), true);
            return 0;
        },
        fd_seek(fd, by, whence, at) {
            const file = open.get(fd);
            if (!file)
                return ERRNO.badf;
            file.at = Number(by) + [0, file.at, disk.get(file.path)?.length ?? 0][whence];
            view().setBigUint64(at, BigInt(file.at), true);
            return 0;
        },
        fd_close: (fd) => open.delete(fd) ? 0 : ERRNO.badf,
        fd_fdstat_get(fd, at) {
            if (fd > 3 && !open.has(fd))
                return ERRNO.badf;
            bytes(at, 24).fill(0);
            view().setUint8(at, fd < 3 ? FILETYPE.device : fd === 3 || open.get(fd).dir ? FILETYPE.dir : FILETYPE.file);
            bytes(at + 8, 16).fill(0xff);
            return 0;
        },
        fd_fdstat_set_flags: () => 0,
        fd_filestat_get(fd, at) {
            const file = open.get(fd);
            if (fd < 3)
                return putStat(at, FILETYPE.device, 0);
            if (!file)
                return fd === 3 ? putStat(at, FILETYPE.dir, 0) : ERRNO.badf;
            return putStat(at, file.dir ? FILETYPE.dir : FILETYPE.file, file.dir ? 0 : disk.get(file.path).length);
        },
        fd_prestat_get(fd, at) {
            if (fd !== 3)
                return ERRNO.badf;
            view().setUint32(at, 0, true);
            view().setUint32(at + 4, 1, true);
            return 0;
        },
        fd_prestat_dir_name(fd, at) {
            bytes(at, 1)[0] = 47;
            return 0;
        },
        fd_readdir(fd, at, n, cookie, done) {
            view().setUint32(done, 0, true);
            return 0;
        },
        path_create_directory(fd, at, n) {
            dirs.add(path(at, n));
            return 0;
        },
        path_filestat_get(fd, flags, at, n, to) {
            const p = path(at, n), data = disk.get(p);
            if (!data && !isDir(p))
                return ERRNO.noent;
            return putStat(to, data ? FILETYPE.file : FILETYPE.dir, data ? data.length : 0);
        },
        path_open(dir, dirflags, at, n, oflags, rights, inherited, flags, to) {
            const p = path(at, n), folder = !disk.has(p) && isDir(p);
            if (!disk.has(p) && !folder) {
                if (!(oflags & 1))
                    return ERRNO.noent;
                disk.set(p, new Uint8Array(0));
            } else if ((oflags & 5) === 5) {
                return ERRNO.exist;
            }
            if (oflags & 8)
                disk.set(p, new Uint8Array(0));
            open.set(nextFd, {path: p, at: flags & 1 ? disk.get(p).length : 0, dir: folder});
            view().setUint32(to, nextFd++, true);
            return 0;
        },
        path_rename(dir, at, n, dir2, to, m) {
            const from = path(at, n), now = path(to, m), moved = [...disk.keys()].filter((k) => k === from || k.startsWith(from + "/"));
            if (!moved.length && !dirs.delete(from))
                return ERRNO.noent;
            for (const k of moved) {
                disk.set(now + k.slice(from.length), disk.get(k));
                disk.delete(k);
            }
            return 0;
        },
        path_remove_directory: (dir, at, n) => dirs.delete(path(at, n)) ? 0 : ERRNO.noent,
        path_unlink_file: (dir, at, n) => disk.delete(path(at, n)) ? 0 : ERRNO.noent,
        path_readlink: () => ERRNO.inval,
    };
    // A system call that is not here says so to its caller; the page opens all the same.
    for (const {module: from, name} of WebAssembly.Module.imports(module))
        if (from === "wasi_snapshot_preview1" && !wasi[name])
            wasi[name] = () => ERRNO.nosys;

    const s = stacks(() => instance, tick);
    const none = () => { throw new Error("this browser cannot run threads of the simulator (no JavaScript Promise Integration)"); };
    instance = new WebAssembly.Instance(module, {
        wasi_snapshot_preview1: wasi,
        stacks: {make: s.make, switch: canSwitch ? new WebAssembly.Suspending(s.switch) : none},
    });
    let code = 0;
    try {
        if (canSwitch)
            await Promise.race([WebAssembly.promising(instance.exports._start)(), s.fail]);
        else
            instance.exports._start();
    } catch (e) {
        if (!(e instanceof Exit))
            throw e;
        code = e.code;
    }
    return {code, files: disk};
}

if (typeof module === "object" && typeof module.exports === "object")
    module.exports = {runWasm};
