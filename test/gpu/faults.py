"""Faults of NVIDIA's compilers that emitted text avoids, each with a reproducer, on the GPU at hand.

    faults.py TL     for every NVRTC found: whether the fault is there, and that kernels of ours are right

A fault that is not in a compiler is reported, not failed; a kernel of ours that is wrong fails.
1. `max(0, min(n, x)) == n` on sm_90: ptxas (13.0 and before) joins clamp and test into one VIMNMX.RELU whose
   predicate also holds for 0 <= x < n.  A clamped slot of a pipeline is the same: the ring never wraps and the
   kernel hangs.  Avoided by `tl_above_zero_i32` and, whatever the form, by reading the machine code (src/target/cuda/rt/sass.c).
2. `-x` of 16 bits on sm_90: of neg.s16 and cvt.s32.s16 ptxas (13.0) makes a negation of 32 bits after the sign, so the
   opposite of -32768 is 32768.  Avoided by `tl_neg_i16`.
3. `abs(x)` of 32 bits on sm_90: ptxas (13.0) takes the result of abs.s32 for positive, so the remainder of the least
   integer by 3 (not a constant) is 2, not -2.  Avoided by `tl_abs_i32`.
4. R1 on sm_90: ptxas (13.0 to 13.2, -O2 and -O3) may take the stack pointer for a free register although an array
   lies on the stack, whose stores then go anywhere.  The kernel test/gpu/kernel/lost_stack.py shows it.  Avoided by
   reading the machine code (src/target/cuda/rt/sass.c) and -O1.
5. Nested branches on sm_90: ptxas (13.0) may keep two convergence barriers in one register (BMOV.CLEAR, BMOV, BSYNC); a
   warp whose threads come to it one after the other stays apart, and mma and uniform registers give anything.  Random
   kernel 102989 (test/random/gen.py) shows it.  Avoided by reading the machine code and -O0.  Where the register held no
   barrier (60271, 60354, 160114) nothing is lost.
6. NVRTC (13.0) itself crashes on some texts with unrolled loops (test/gpu/kernel/crash.py).  The crash is caught, the
   text compiled in a child without unrolling, and NVRTC runs in children of that process from then on.
"""
import ctypes
import glob
import os
import subprocess
import sys

TEXT = b"""
extern "C" __global__ void clamp(const int *X, int *O, int *P)
{
    const int a = max(0, min(64, X[blockIdx.x]));
    O[blockIdx.x] = a;
    P[blockIdx.x] = a == 64 ? 11 : 22;
}

extern "C" __global__ void opposite(const int *X, int *O, int *P)
{
    const short x = (short)(X[blockIdx.x] * 512);
    O[blockIdx.x] = x;
    P[blockIdx.x] = 3 * (int)(short)(0u - (unsigned)x);
}

extern "C" __global__ void absolute(const int *X, int *O, int *P)
{
    const int x = (int)((unsigned)X[blockIdx.x] << 25), a = x < 0 ? (int)(0u - (unsigned)x) : x;
    O[blockIdx.x] = x;
    P[blockIdx.x] = a % (int)(2 + gridDim.y);
}
"""
KERNELS = ["test/kernel/clamps.py form=%d" % i for i in range(4)] + ["test/kernel/int_edges.py:pairs dtype=%s" % t for t in ("int16", "int32")] + ["test/gpu/kernel/lost_stack.py", "test/gpu/kernel/crash.py N2=36 N11=256 N13=450"]


def int16(x):
    return (x + 32768) % 65536 - 32768


def int32(x):
    return (x + 2**31) % 2**32 - 2**31


def rest(x):
    a = int32(abs(int32(x << 25)))
    return a - 3 * int(a / 3)


# Name of a kernel of TEXT, and what it makes of x.
FAULTS = {
    "clamp": lambda x: (min(64, max(0, x)), 11 if x >= 64 else 22),
    "absolute": lambda x: (int32(x << 25), rest(x)),
    "opposite": lambda x: (int16(x * 512), 3 * int16(-int16(x * 512))),
}


def check(result, what):
    if result:
        sys.exit("%s: error %d" % (what, result))


def compilers():
    """One path for each library, whatever links there are to it."""
    places = [os.environ.get("TILELANG_NVRTC", ""), os.environ.get("CUDA_HOME", "")] + glob.glob("/usr/local/cuda*")
    found = {}
    for place in filter(None, places):
        for folder in ("", "lib", "lib64"):
            for path in glob.glob(os.path.join(place, folder, "libnvrtc.so.*")):
                found.setdefault(os.path.realpath(path), path)
    return sorted(found.values())


def cubin_of(nvrtc, arch):
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    check(nvrtc.nvrtcCreateProgram(ctypes.byref(program), TEXT, b"faults.cu", 0, None, None), "nvrtcCreateProgram")
    options = (ctypes.c_char_p * 1)(b"-arch=sm_%d" % arch)
    check(nvrtc.nvrtcCompileProgram(program, 1, options), "nvrtcCompileProgram")
    check(nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size)), "nvrtcGetCUBINSize")
    cubin = ctypes.create_string_buffer(size.value)
    check(nvrtc.nvrtcGetCUBIN(program, cubin), "nvrtcGetCUBIN")
    return cubin


def results(cuda, cubin, name, xs):
    """O and P of a reproducer, for each x."""
    module, function = ctypes.c_void_p(), ctypes.c_void_p()
    check(cuda.cuModuleLoadData(ctypes.byref(module), cubin), "cuModuleLoadData")
    check(cuda.cuModuleGetFunction(ctypes.byref(function), module, name.encode()), "cuModuleGetFunction")
    n = len(xs)
    host, pointer = [(ctypes.c_int * n)(*xs), (ctypes.c_int * n)(), (ctypes.c_int * n)()], []
    for array in host:
        pointer.append(ctypes.c_uint64())
        check(cuda.cuMemAlloc_v2(ctypes.byref(pointer[-1]), 4 * n), "cuMemAlloc")
        check(cuda.cuMemcpyHtoD_v2(pointer[-1], array, 4 * n), "cuMemcpyHtoD")
    arguments = (ctypes.c_void_p * 3)(*[ctypes.addressof(p) for p in pointer])
    check(cuda.cuLaunchKernel(function, n, 1, 1, 32, 1, 1, 0, None, arguments, None), "cuLaunchKernel")
    for array, p in zip(host, pointer):
        check(cuda.cuMemcpyDtoH_v2(array, p, 4 * n), "cuMemcpyDtoH")
        cuda.cuMemFree_v2(p)
    return list(zip(host[1], host[2]))


def main(tl):
    cuda = ctypes.CDLL("libcuda.so.1")
    check(cuda.cuInit(0), "cuInit")
    context, device, major, minor = ctypes.c_void_p(), ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
    check(cuda.cuDeviceGet(ctypes.byref(device), 0), "cuDeviceGet")
    check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), device), "cuDevicePrimaryCtxRetain")
    check(cuda.cuCtxSetCurrent(context), "cuCtxSetCurrent")
    check(cuda.cuDeviceComputeCapability(ctypes.byref(major), ctypes.byref(minor), device), "cuDeviceComputeCapability")
    xs = list(range(-70, 200))  # -64 * 512 is -32768
    passed = failed = 0
    for path in compilers():
        nvrtc, version = ctypes.CDLL(path), (ctypes.c_int(), ctypes.c_int())
        nvrtc.nvrtcVersion(ctypes.byref(version[0]), ctypes.byref(version[1]))
        cubin = cubin_of(nvrtc, major.value * 10 + minor.value)
        for name, want in FAULTS.items():
            bad = sum(got != want(x) for got, x in zip(results(cuda, cubin, name, xs), xs))
            print("NVRTC %d.%d: %s, %d of %d wrong" % (version[0].value, version[1].value, name, bad, len(xs)))
        for kernel in KERNELS:
            run = subprocess.run([tl, "verify", *kernel.split(), "--target", "cuda", "--no-cache", "-q"], capture_output=True,
                                 text=True, env=dict(os.environ, TILELANG_NVRTC=os.path.dirname(path)))
            passed, failed = (passed + 1, failed) if run.returncode == 0 else (passed, failed + 1)
            if run.returncode:
                print("FAIL %s with %s: %s%s" % (kernel, path, run.stdout, run.stderr))
    print("%d passed, %d failed" % (passed, failed))
    return failed or not passed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
