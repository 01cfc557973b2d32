"""gen.py -- kernels that grow in one direction each: FAMILIES[name](n) is the text of one."""

FAMILIES = {}


def family(f):
    FAMILIES[f.__name__] = f
    return f


def kernel(params, body, pre="", threads=128):
    head = "import tilelang.language as T\n\n\n" + pre + "@T.prim_func\ndef main(" + params + "):\n"
    return head + f"    with T.Kernel(1, threads={threads}) as bx:\n" + "".join(f"        {line}\n" for line in body)


A = 'A: T.Tensor((128,), "float32"), B: T.Tensor((128,), "float32")'
M = 'A: T.Tensor((64, 64), "float16"), B: T.Tensor((64, 64), "float16"), C: T.Tensor((64, 64), "float32")'


@family
def loops(n):
    body = ['S = T.alloc_shared((128,), "float32")']
    for d in range(n):
        body.append("    " * d + f"for i{d} in T.serial(2):")
    body.append("    " * n + "T.copy(A, S)")
    body.append("    " * n + "T.copy(S, B)")
    return kernel(A, body)


@family
def thread_loops(n):
    body = ['S = T.alloc_shared((128,), "float32")', "tx = T.get_thread_binding()"]
    for d in range(n):
        body.append("    " * d + f"for i{d} in T.serial(2):")
    body.append("    " * n + "S[tx] = A[tx]")
    body.append("    " * n + "B[tx] = S[127 - tx]")
    return kernel(A, body)


@family
def plain_loops(n):
    body = []
    for d in range(n):
        body.append("    " * d + f"for i{d} in T.serial(2):")
    body.append("    " * n + "for t in T.Parallel(128):")
    body.append("    " * n + "    B[t] = A[t] + 1.0")
    return kernel(A, body)


@family
def ifs_deep(n):
    body = ['S = T.alloc_shared((128,), "float32")']
    for d in range(n):
        body.append("    " * d + f"if bx + {d} < k:")
    body.append("    " * n + "T.copy(A, S)")
    body.append("    " * n + "T.copy(S, B)")
    return kernel(A + ", k: T.int32", body)


@family
def mixed_deep(n):
    body = ['S = T.alloc_shared((128,), "float32")']
    for d in range(n):
        body.append("    " * d + (f"if bx + {d} < k:" if d % 2 else f"for i{d} in T.serial(k):"))
    body.append("    " * n + "T.copy(A, S)")
    body.append("    " * n + "T.copy(S, B)")
    return kernel(A + ", k: T.int32", body)


@family
def whiles_deep(n):
    body = ['S = T.alloc_shared((128,), "float32")']
    for d in range(n):
        body.append("    " * d + f"v{d} = T.alloc_var(T.int32)")
        body.append("    " * d + f"v{d} = 0")
        body.append("    " * d + f"while v{d} < k:")
        body.append("    " * (d + 1) + f"v{d} = v{d} + 1")
    body.append("    " * n + "T.copy(A, S)")
    body.append("    " * n + "T.copy(S, B)")
    return kernel(A + ", k: T.int32", body)


@family
def copies(n):
    body = []
    for i in range(n):
        body.append(f'S{i} = T.alloc_fragment((128,), "float32")')
        body.append(f"T.copy(A, S{i})")
        body.append(f"T.copy(S{i}, B)")
    return kernel(A, body)


@family
def copies_one(n):
    body = ['S = T.alloc_fragment((128,), "float32")']
    for i in range(n):
        body.append("T.copy(A, S)")
        body.append("T.copy(S, B)")
    return kernel(A, body)


@family
def copies_shared(n):
    body = ['S = T.alloc_shared((128,), "float32")']
    for i in range(n):
        body.append("T.copy(A, S)")
        body.append("T.copy(S, B)")
    return kernel(A, body)


@family
def shared_buffers(n):
    body = []
    for i in range(n):
        body.append(f'S{i} = T.alloc_shared((128,), "float32")')
        body.append(f"T.copy(A, S{i})")
        body.append(f"T.copy(S{i}, B)")
    return kernel(A, body)


@family
def chain(n):
    """fragments that hang together"""
    body = ['S0 = T.alloc_fragment((128,), "float32")', "T.copy(A, S0)"]
    for i in range(1, n):
        body.append(f'S{i} = T.alloc_fragment((128,), "float32")')
        body.append("for t in T.Parallel(128):")
        body.append(f"    S{i}[t] = S{i - 1}[t] + 1.0")
    body.append(f"T.copy(S{n - 1}, B)")
    return kernel(A, body)


@family
def nests(n):
    body = []
    for i in range(n):
        body.append("for t in T.Parallel(128):")
        body.append(f"    B[t] = A[t] + {i}.0")
    return kernel(A, body)


@family
def serial_nests(n):
    body = []
    for i in range(n):
        body.append("for t in T.serial(128):")
        body.append(f"    B[t] = A[t] + {i}.0")
    return kernel(A, body)


@family
def stores(n):
    return kernel(A, [f"B[{i % 128}] = A[{i % 128}] + {i}.0" for i in range(n)])


@family
def stores_looped(n):
    """all threads store to one element after the other, many times, in a loop of many iterations"""
    return kernel(A, ["for i in T.serial(128):"] + [f"    B[i] = B[i] + {k}.0" for k in range(n)])


@family
def local_vars(n):
    body = []
    for i in range(n):
        body.append(f"v{i} = T.alloc_var(T.float32)")
        body.append(f"v{i} = A[{i % 128}]")
        body.append(f"B[{i % 128}] = v{i}")
    return kernel(A, body)


@family
def expr_sum(n):
    return kernel(A, ["for t in T.Parallel(128):", "    B[t] = " + " + ".join(f"A[(t + {i}) % 128]" for i in range(n))])


@family
def expr_index(n):
    return kernel(A, ["for t in T.Parallel(128):", "    B[t] = A[(" + " + ".join(f"t * {i + 1} // {i + 2}" for i in range(n)) + ") % 128]"])


@family
def unroll_explicit(n):
    return kernel(f'A: T.Tensor(({n * 128},), "float32"), B: T.Tensor(({n * 128},), "float32")',
                  [f"for u in T.unroll({n}, explicit=True):", "    for t in T.Parallel(128):", "        B[u * 128 + t] = A[u * 128 + t] + 1.0"])


@family
def unroll_scalar(n):
    return kernel(f'A: T.Tensor(({n},), "float32"), B: T.Tensor(({n},), "float32")',
                  [f"for u in T.unroll({n}, explicit=True):", "    B[u] = A[u] + 1.0"])


@family
def ifs(n):
    body = []
    for i in range(n):
        body.append(f"if k > {i}:")
        body.append(f"    B[{i % 128}] = A[{i % 128}]")
    return kernel(A + ", k: T.int32", body)


@family
def gemms(n):
    body = ['As = T.alloc_shared((64, 64), "float16")', 'Bs = T.alloc_shared((64, 64), "float16")',
            'Cl = T.alloc_fragment((64, 64), "float32")', "T.copy(A, As)", "T.copy(B, Bs)", "T.clear(Cl)"]
    body += ["T.gemm(As, Bs, Cl)"] * n
    body += ["T.copy(Cl, C)"]
    return kernel(M, body)


@family
def pipelines(n):
    body = ['As = T.alloc_shared((64, 32), "float16")', 'Bs = T.alloc_shared((32, 64), "float16")',
            'Cl = T.alloc_fragment((64, 64), "float32")', "T.clear(Cl)"]
    for i in range(n):
        body += ["for k in T.Pipelined(2, num_stages=2):", "    T.copy(A[0, k * 32], As)", "    T.copy(B[k * 32, 0], Bs)", "    T.gemm(As, Bs, Cl)"]
    body += ["T.copy(Cl, C)"]
    return kernel(M, body)


@family
def macros_many(n):
    pre = "@T.macro\ndef m(A, B, i):\n    for t in T.Parallel(128):\n        B[t] = A[t] + i\n\n\n"
    return kernel(A, [f"m(A, B, {i}.0)" for i in range(n)], pre)


@family
def reduces(n):
    body = ['X = T.alloc_fragment((64, 64), "float32")', 'R = T.alloc_fragment((64,), "float32")', "T.copy(C, X)"]
    for i in range(n):
        body += ["T.reduce_sum(X, R, dim=1)", "for i, j in T.Parallel(64, 64):", "    X[i, j] = X[i, j] - R[i]"]
    body += ["T.copy(X, C)"]
    return kernel('C: T.Tensor((64, 64), "float32")', body)


@family
def atomics(n):
    return kernel(A, ["for t in T.Parallel(128):"] + [f"    T.atomic_add(B[(t + {i}) % 128], A[t])" for i in range(n)])


@family
def syncs(n):
    body = ['S = T.alloc_shared((128,), "float32")', "tx = T.get_thread_binding()"]
    for i in range(n):
        body += [f"S[tx] = A[tx] + {i}.0", "T.sync_threads()", "B[tx] = S[127 - tx]", "T.sync_threads()"]
    return kernel(A, body)


@family
def views(n):
    body = ['S = T.alloc_shared((128,), "float32")', "T.copy(A, S)"]
    for i in range(n):
        body += [f"V{i} = T.reshape(S, (4, 32))", "for i, j in T.Parallel(4, 32):", f"    V{i}[i, j] = V{i}[i, j] + 1.0"]
    body += ["T.copy(S, B)"]
    return kernel(A, body)


@family
def slots(n):
    """a large tile over few threads"""
    return kernel(f'A: T.Tensor(({n * 32},), "float32"), B: T.Tensor(({n * 32},), "float32")',
                  [f'S = T.alloc_fragment(({n * 32},), "float32")', "T.copy(A, S)", f"for t in T.Parallel({n * 32}):", "    S[t] = S[t] * 2.0", "T.copy(S, B)"], threads=32)


@family
def body_stores(n):
    return kernel(A, ["for t in T.Parallel(128):"] + [f"    B[t] = A[t] + {i}.0" for i in range(n)])


@family
def branches_loops(n):
    """loops side by side inside one loop"""
    body = ['S = T.alloc_shared((128,), "float32")', "for k in T.serial(4):"]
    for i in range(n):
        body += ["    for j in T.serial(2):", "        T.copy(A, S)", "        T.copy(S, B)"]
    return kernel(A, body)


@family
def roles(n):
    body = ['S = T.alloc_shared((128,), "float32")']
    for i in range(n):
        body += ["with T.ws(0):", "    T.copy(A, S)", "T.sync_threads()", "T.copy(S, B)", "T.sync_threads()"]
    return kernel(A, body, threads=256)


@family
def gemm_tiles(n):
    """products with tiles of their own"""
    body = []
    for i in range(n):
        body += [f'As{i} = T.alloc_shared((64, 64), "float16")', f'Bs{i} = T.alloc_shared((64, 64), "float16")',
                 f'Cl{i} = T.alloc_fragment((64, 64), "float32")', f"T.copy(A, As{i})", f"T.copy(B, Bs{i})", f"T.clear(Cl{i})",
                 f"T.gemm(As{i}, Bs{i}, Cl{i})", f"T.copy(Cl{i}, C)"]
    return kernel(M, body)


@family
def pipelined_tiles(n):
    """one pipelined loop that copies many tiles"""
    body = [f'S{i} = T.alloc_shared((16,), "float32")' for i in range(n)]
    body += ["for k in T.Pipelined(4, num_stages=2):"]
    body += [f"    T.copy(A[k * 16], S{i})" for i in range(n)]
    body += ["    for t in T.Parallel(16):", "        B[k * 16 + t] = " + " + ".join(f"S{i}[t]" for i in range(n))]
    return kernel(A, body)


@family
def launches(n):
    text = "import tilelang.language as T\n\n\n@T.prim_func\ndef main(" + A + "):\n"
    for i in range(n):
        text += f"    with T.Kernel(1, threads=128) as bx{i}:\n        for t in T.Parallel(128):\n            B[t] = A[t] + {i}.0\n"
    return text


@family
def dynamic_params(n):
    pre = "".join(f'n{i} = T.dynamic("n{i}")\n' for i in range(n)) + "\n\n"
    params = ", ".join(f'A{i}: T.Tensor((n{i},), "float32")' for i in range(n))
    return kernel(params, [f"A{i}[0] = A{i}[0] + 1.0" for i in range(n)], pre=pre)


@family
def elifs(n):
    body = []
    for i in range(n):
        body += [f"{'el' if i else ''}if k == {i}:", f"    B[{i % 128}] = A[{i % 128}]"]
    return kernel(A + ", k: T.int32", body)


@family
def elifs_vars(n):
    body = ["tx = T.get_thread_binding()", 'v = T.alloc_var("float32", init=0.0)']
    for d in range(n):
        body += [("if" if d == 0 else "elif") + f" tx == {d}:", f"    v = A[{d % 128}]"]
    body += ["if tx < 128:", "    B[tx] = v"]
    return kernel(A, body, threads=512)


@family
def elifs_thread(n):
    """cases of the thread, each with the rest of the block in its else"""
    body = ["tx = T.get_thread_binding()"]
    for i in range(n):
        body += [f"{'el' if i else ''}if tx == {i}:", f"    B[{i % 128}] = A[{i % 128}]"]
    return kernel(A, body, threads=512)
