#!/bin/sh
# on_device.sh -- what needs a GPU and PyTorch: a bundle against torch.mm, launches from captured graphs, a
# timeline.  Not part of `make test`.
#
# Usage: on_device.sh TL [OUT]   (OUT: a folder for profile.json and profile.svg)
tl=$1
here=$(cd "$(dirname "$0")" && pwd) || exit 2
case $tl in /*) ;; *) tl=$PWD/$tl ;; esac
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
out=${2:-$work}
knobs="M=512 N=1024 K=768 dtype=bfloat16 out_dtype=bfloat16 block_M=128 block_N=128 block_K=64"
cd "$here/../.." || exit 2

"$tl" build examples/gemm.py:gemm_nt $knobs --target cuda -o "$work/b" || exit 1
${CC:-cc} -O2 -fPIC -shared -o "$work/b/libgemm_nt.so" "$work/b/gemm_nt.c" -ldl -lpthread || exit 1
python3 - "$work/b/libgemm_nt.so" <<'PY' || exit 1
import ctypes, sys
import torch
lib = ctypes.CDLL(sys.argv[1])
lib.gemm_nt_error.restype = ctypes.c_char_p
p = lambda t: ctypes.c_void_p(t.data_ptr())
a = torch.randn(512, 768, device="cuda", dtype=torch.bfloat16)
b = torch.randn(1024, 768, device="cuda", dtype=torch.bfloat16)
c = torch.full((512, 1024), float("nan"), device="cuda", dtype=torch.bfloat16)
stream = torch.cuda.Stream()
def call():
    r = lib.gemm_nt(p(a), p(b), p(c), ctypes.c_void_p(torch.cuda.current_stream().cuda_stream))
    assert r == 0, lib.gemm_nt_error()
call()
torch.cuda.synchronize()
want = a.float() @ b.float().t()
print("bundle: max error %.4f of %.1f" % ((c.float() - want).abs().max(), want.abs().max()))
assert (c.float() - want).abs().max() < 0.6
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph, stream=stream):
    call()
a.normal_()
graph.replay()
torch.cuda.synchronize()
want = a.float() @ b.float().t()
assert (c.float() - want).abs().max() < 0.6
print("bundle: captured and replayed")
PY
"$tl" profile examples/gemm.py:gemm_nt M=4096 N=4096 K=4096 dtype=bfloat16 out_dtype=bfloat16 block_M=128 \
    block_N=128 block_K=64 --target cuda --json "$out/profile.json" --svg "$out/profile.svg" || exit 1
python3 -c 'import json, sys; print(len(json.load(open(sys.argv[1]))["traceEvents"]), "events")' "$out/profile.json"
