# What C has and the DSL does not: numbers that convert as in C, pointers, variables that change,
# inline PTX, and CUDA's own functions.  It stands at the head of every text, whole.
import os
import re
import sys
TL_ARCH = sys.argv[2] if len(sys.argv) > 2 and __name__ == "__main__" else "sm_90a"
if __name__ == "__main__":  # another than it builds for: then the DSL wants no GPU here
    os.environ["CUTE_DSL_ARCH"] = "sm_90a" if TL_ARCH != "sm_90a" else "sm_90"
import cutlass
import cutlass.cute as cute
from cutlass._mlir import ir
from cutlass._mlir.dialects import arith, cute_nvgpu, llvm, scf, vector
from cutlass._mlir.dialects import math as tl_maths

TL_DYNAMIC = -2147483648  # an index that is a value


# ---- numbers ---------------------------------------------------------------------------------

class tl_number:
    """A type of C.  Called, it converts.  8 and 16 bits are an int32 as soon as they are values."""

    def __init__(self, name, bits, signed, dsl, value):
        self.name, self.bits, self.signed = name, bits, signed
        self.dsl, self.value = dsl, value  # in memory, computed in
        self.real = dsl.__name__.startswith("Float")
        self.nbytes = max(bits // 8, 1)

    @property
    def mlir_type(self):
        return ir.IntegerType.get_signless(8) if self.bits == 1 else self.dsl.mlir_type

    def wrapped(self, x):
        x = int(x) & ((1 << self.bits) - 1)
        return x - (1 << self.bits) if self.signed and x >> (self.bits - 1) else x

    def __call__(self, x=0):
        if isinstance(x, (bool, int, float)):
            number = float(x) if self.real else int(x != 0) if self.bits == 1 else self.wrapped(x)
            if number >= 1 << 63 and not self.real:  # too large for a constant of MLIR
                number = arith.constant(self.mlir_type, number - (1 << 64))
            return self.value(number)
        if isinstance(x, tl_ptr):
            return self(cutlass.Uint64(llvm.ptrtoint(cutlass.Uint64.mlir_type, x.generic())))
        if not isinstance(x, cutlass.Numeric):
            return x
        if isinstance(x.value, (bool, int, float)):
            return self(x.value)
        if self.bits == 1:
            return self.value(x != 0)
        if isinstance(x, self.value) and self.bits >= 32:
            return x
        return self.converted(x)

    def converted(self, x):
        was, v = tl_typeof(x), x.ir_value()
        if self.real:
            if not was.real:
                return self.value((arith.sitofp if was.signed else arith.uitofp)(self.mlir_type, v))
            return self.value((arith.extf if self.bits > was.bits else arith.truncf)(self.mlir_type, v))
        if was.real:
            wide = cutlass.Int64 if self.bits == 64 else cutlass.Int32
            v = (arith.fptosi if self.signed or self.bits < 32 else arith.fptoui)(wide.mlir_type, v)
            return self.value(v) if self.bits >= 32 else self(wide(v))
        if self.bits > was.bits:
            v = (arith.extsi if was.signed else arith.extui)(self.mlir_type, v)
        elif self.bits < was.bits:
            v = arith.trunci(self.mlir_type, v)
        return self.promoted(v)

    def promoted(self, v):
        """What lies in memory as a value."""
        if self.bits >= 32:
            return self.value(v)
        return cutlass.Int32((arith.extsi if self.signed else arith.extui)(cutlass.Int32.mlir_type, v))

    def stored(self, x):
        """A value as it lies in memory."""
        v = self(x).ir_value()
        return arith.trunci(self.mlir_type, v) if self.bits < 32 else v


tl_i8 = tl_number("i8", 8, True, cutlass.Int8, cutlass.Int32)
tl_u8 = tl_number("u8", 8, False, cutlass.Uint8, cutlass.Int32)
tl_i16 = tl_number("i16", 16, True, cutlass.Int16, cutlass.Int32)
tl_u16 = tl_number("u16", 16, False, cutlass.Uint16, cutlass.Int32)
tl_i32 = tl_number("i32", 32, True, cutlass.Int32, cutlass.Int32)
tl_u32 = tl_number("u32", 32, False, cutlass.Uint32, cutlass.Uint32)
tl_i64 = tl_number("i64", 64, True, cutlass.Int64, cutlass.Int64)
tl_u64 = tl_number("u64", 64, False, cutlass.Uint64, cutlass.Uint64)
tl_f32 = tl_number("f32", 32, True, cutlass.Float32, cutlass.Float32)
tl_f64 = tl_number("f64", 64, True, cutlass.Float64, cutlass.Float64)
tl_b1 = tl_number("b1", 1, False, cutlass.Boolean, cutlass.Int32)
tl_numbers = {t.value: t for t in (tl_f64, tl_f32, tl_u64, tl_i64, tl_u32, tl_i32)}


def tl_typeof(x):
    if isinstance(x, tl_ptr):
        return x.type
    if isinstance(x, (bool, int)):
        return tl_i32
    if isinstance(x, cutlass.Boolean):
        return tl_number("bit", 1, False, cutlass.Boolean, cutlass.Boolean)
    return tl_numbers[type(x)]


def tl_common(x, y):
    """What both are converted to, as C does."""
    a, b = (t if t.bits >= 32 else tl_i32 for t in (tl_typeof(x), tl_typeof(y)))
    if a.real or b.real:
        return tl_f64 if tl_f64 in (a, b) else tl_f32
    bits = max(a.bits, b.bits)
    unsigned = any(t.bits == bits and not t.signed for t in (a, b))
    return {(32, False): tl_i32, (32, True): tl_u32, (64, False): tl_i64, (64, True): tl_u64}[bits, unsigned]


def tl_plain(x):
    return isinstance(x, (bool, int)) or isinstance(x, cutlass.Numeric) and isinstance(x.value, (bool, int))


def tl_constant(x):
    return int(x) if isinstance(x, (bool, int)) else int(x.value)


def tl_div(x, y):
    if isinstance(x, (bool, int)) and isinstance(y, (bool, int)):
        return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)
    t = tl_common(x, y)
    x, y = t(x).ir_value(), t(y).ir_value()
    return t.value((arith.divf if t.real else arith.divsi if t.signed else arith.divui)(x, y))


def tl_shl(x, n):
    if isinstance(x, (bool, int)) and isinstance(n, (bool, int)):
        return tl_i32.wrapped(x << n)
    t = tl_common(x, 0)
    return t.value(arith.shli(t(x).ir_value(), t(n).ir_value()))


def tl_shr(x, n):
    if isinstance(x, (bool, int)) and isinstance(n, (bool, int)):
        return x >> n
    t = tl_common(x, 0)
    return t.value((arith.shrsi if t.signed else arith.shrui)(t(x).ir_value(), t(n).ir_value()))


# A sum of an int32 and a uint64 extends the sign, in C.
def tl_signed_first(kind):
    before = kind.__init__

    def start(self, x, **more):
        narrow = isinstance(x, (cutlass.Int32, cutlass.Int16, cutlass.Int8)) and not tl_plain(x)
        before(self, cutlass.Int64(x) if narrow else x, **more)
    kind.__init__ = start


tl_signed_first(cutlass.Uint64)


# ---- conditions ------------------------------------------------------------------------------

def tl_true(x):
    if isinstance(x, cutlass.Boolean):
        return x
    return cutlass.Boolean(x != 0)


def tl_not(x):
    return cutlass.Boolean(x == 0) if not isinstance(x, cutlass.Boolean) else \
        cutlass.Boolean(arith.xori(x.ir_value(), cutlass.Boolean(True).ir_value()))


def tl_arms(c, yes, no):
    """A branch; what its arms give lies in a variable after it, converted as C would."""
    op = scf.IfOp(tl_true(c).ir_value(), [], hasElse=True)
    arms = []
    for block, f in ((op.then_block, yes), (op.else_block, no)):
        with ir.InsertionPoint(block):
            arms.append(f())
            scf.yield_([])
    if isinstance(arms[0], tl_ptr):
        raise TypeError("a choice between addresses")
    bits = all(isinstance(x, cutlass.Boolean) for x in arms)
    t = arms[0].type if isinstance(arms[0], tl_few) else tl_b1 if bits else tl_common(*arms)
    out = tl_array(t, 1)
    for block, x in zip((op.then_block, op.else_block), arms):
        with ir.InsertionPoint.at_block_terminator(block):
            out[0] = x
    return tl_true(out[0]) if bits else out[0]


def tl_choose(c, yes, no):
    if callable(yes):
        return tl_arms(c, yes, no)
    if isinstance(yes, tl_ptr):
        return tl_ptr(arith.select(tl_true(c).ir_value(), yes.p, no.p), yes.type, yes.fixed and no.fixed)
    if isinstance(yes, cutlass.Boolean) and isinstance(no, cutlass.Boolean):
        return cutlass.Boolean(arith.select(tl_true(c).ir_value(), yes.ir_value(), no.ir_value()))
    t = tl_common(yes, no)
    return t.value(arith.select(tl_true(c).ir_value(), t(yes).ir_value(), t(no).ir_value()))


def tl_and(x, y):
    if callable(y):
        return tl_arms(x, lambda: tl_true(y()), lambda: cutlass.Boolean(False))
    return cutlass.Boolean(arith.andi(tl_true(x).ir_value(), tl_true(y).ir_value()))


def tl_or(x, y):
    if callable(y):
        return tl_arms(x, lambda: cutlass.Boolean(True), lambda: tl_true(y()))
    return cutlass.Boolean(arith.ori(tl_true(x).ir_value(), tl_true(y).ir_value()))


# ---- memory ----------------------------------------------------------------------------------

class tl_place:
    """Nothing of it changes in a loop or a branch: what it points to does."""

    def __extract_mlir_values__(self):
        return []

    def __new_from_mlir_values__(self, values):
        return self

    def __get_mlir_types__(self):
        return []


class tl_ptr(tl_place):
    """fixed: C says const and __restrict__, so that nobody writes there while the kernel runs."""

    def __init__(self, p, type, fixed=False):
        self.p, self.type, self.fixed = p, type, fixed

    def at(self, i):
        if isinstance(i, int) or tl_plain(i):
            i = tl_constant(i)
            if i == 0:
                return self
            where = llvm.getelementptr(self.p.type, self.p, [], [i], self.type.mlir_type)
        else:
            i = (i if tl_typeof(i).bits >= 32 else tl_i32(i)).ir_value()
            where = llvm.getelementptr(self.p.type, self.p, [i], [TL_DYNAMIC], self.type.mlir_type)
        return tl_ptr(where, self.type, self.fixed)

    def __add__(self, i):
        return self.at(i)

    def __sub__(self, i):
        return self.at(-i)

    def load(self, **how):
        how = dict(how, invariant=True) if self.fixed else how
        return self.type.promoted(llvm.load(self.type.mlir_type, self.p, alignment=self.type.nbytes, **how))

    def __getitem__(self, i):
        return self.at(i).load()

    def __setitem__(self, i, x):
        llvm.store(self.type.stored(x), self.at(i).p, alignment=self.type.nbytes)

    def generic(self):
        space = llvm.PointerType(self.p.type).address_space
        return self.p if space in (0, 1) else llvm.addrspacecast(llvm.PointerType.get(), self.p)


def tl_as(x, t):
    if isinstance(x, tl_ptr):
        return tl_ptr(x.p, t, x.fixed)
    return tl_ptr(llvm.inttoptr(llvm.PointerType.get(), tl_u64(x).ir_value()), t)


def tl_entry():
    """The first block of the kernel: arrays are made there, not once an iteration."""
    op = ir.InsertionPoint.current.block.owner
    while op.operation.parent.name != "gpu.module":
        op = op.operation.parent.opview if hasattr(op.operation.parent, "opview") else op.operation.parent
    return op.regions[0].blocks[0]


def tl_array(t, n, values=()):
    n = len(values) if n is None else tl_constant(n)
    with ir.InsertionPoint.at_block_begin(tl_entry()):
        size = arith.constant(ir.IntegerType.get_signless(32), n)
        out = tl_ptr(llvm.alloca(llvm.PointerType.get(), size, t.mlir_type, alignment=16), t)
    for i in range(n if len(values) else 0):
        out[i] = values[i] if i < len(values) else 0
    return out


def tl_var(t, x=None):
    out = tl_array(t, 1)
    if x is not None:
        out[0] = x
    return out


def tl_mark(v, names):
    """Says of a parameter of the kernel what C's words say."""
    v = ir.BlockArgument(v)
    block = v.owner
    attributes = block.owner.attributes
    rows = list(attributes["arg_attrs"]) if "arg_attrs" in attributes else \
        [ir.DictAttr.get({})] * len(block.arguments)
    row = {x.name: x.attr for x in rows[v.arg_number]}
    row.update({name: ir.UnitAttr.get() for name in names})
    rows[v.arg_number] = ir.DictAttr.get(row)
    attributes["arg_attrs"] = ir.ArrayAttr.get(rows)


def tl_global(p, t, alone=False, constant=False):
    return tl_ptr(p.llvm_ptr, t, alone and constant)


def tl_kept(x):
    """A register: libNVVM would read it anew in every loop."""
    return llvm.inline_asm(x.type, [x], "mov.b32 $0, $1;", "=r,r", has_side_effects=True, is_align_stack=False,
                           asm_dialect=0)


def tl_dynamic_shared():
    p = cute.arch.get_dyn_smem(cutlass.Uint8, alignment=1024).llvm_ptr
    kept = tl_kept(llvm.ptrtoint(ir.IntegerType.get_signless(32), p))
    return tl_ptr(llvm.inttoptr(p.type, kept), tl_u8)


class tl_map(tl_place):
    """A tensor map: 128 bytes among the parameters, __grid_constant__ in C."""
    NAME = "!cute_nvgpu.tma_descriptor_tiled"

    def __init__(self, v=None):
        self.v = v

    def __extract_mlir_values__(self):
        return [self.v]

    def __new_from_mlir_values__(self, values):
        return tl_map(values[0])

    def __get_mlir_types__(self):
        return [ir.Type.parse(self.NAME)]

    def __c_pointers__(self):
        return [0]

    def place(self):
        tl_mark(self.v, ["cute_nvgpu.grid_constant"])
        to = ir.Type.parse(f"!cute.ptr<{self.NAME}, generic, align<64>>")
        return tl_ptr(cute_nvgpu.get_grid_constant_pointer(to, self.v).llvm_ptr, tl_u64)


def tl_struct(**fields):
    class Struct(tl_place):
        def __init__(self, *values):
            cells = {name: tl_array(*t) if isinstance(t, tuple) else tl_var(t, 0) for name, t in fields.items()}
            object.__setattr__(self, "cells", cells)
            for name, x in zip(fields, values):
                cells[name][0] = x
            if not values:
                for name, t in fields.items():
                    for i in range(t[1] if isinstance(t, tuple) else 0):
                        cells[name][i] = 0

        def cell(self, name):
            return self.cells[name]

        def __getattr__(self, name):
            if name not in fields:
                raise AttributeError(name)
            return self.cells[name] if isinstance(fields[name], tuple) else self.cells[name][0]

        def __setattr__(self, name, x):
            self.cells[name][0] = x
    return Struct


# ---- float4 and its like ---------------------------------------------------------------------

class tl_vector:
    def __init__(self, element, n):
        self.element, self.n = element, n
        self.bits, self.nbytes = element.bits * n, element.nbytes * n

    @property
    def mlir_type(self):
        return ir.VectorType.get([self.n], self.element.mlir_type)

    def __call__(self, *x):
        if len(x) == 1 and isinstance(x[0], tl_few):
            return x[0]
        v = llvm.mlir_undef(self.mlir_type)
        for i in range(self.n):
            where = arith.constant(ir.IntegerType.get_signless(32), i)
            v = llvm.insertelement(v, self.element.stored(x[i] if x else 0), where)
        return tl_few(v, self)

    def promoted(self, v):
        return tl_few(v, self)

    def stored(self, x):
        return x.v


class tl_few:
    def __init__(self, v, type):
        self.v, self.type = v, type

    def __getattr__(self, name):
        if name not in "xyzw":
            raise AttributeError(name)
        where = arith.constant(ir.IntegerType.get_signless(32), "xyzw".index(name))
        return self.type.element.promoted(llvm.extractelement(self.v, where))


tl_float2, tl_float4 = tl_vector(tl_f32, 2), tl_vector(tl_f32, 4)
tl_uint2, tl_uint4 = tl_vector(tl_u32, 2), tl_vector(tl_u32, 4)
tl_int2, tl_int4 = tl_vector(tl_i32, 2), tl_vector(tl_i32, 4)
tl_double2, tl_double4 = tl_vector(tl_f64, 2), tl_vector(tl_f64, 4)
tl_short2, tl_short4 = tl_vector(tl_i16, 2), tl_vector(tl_i16, 4)
tl_ushort2, tl_ushort4 = tl_vector(tl_u16, 2), tl_vector(tl_u16, 4)
tl_char2, tl_char4 = tl_vector(tl_i8, 2), tl_vector(tl_i8, 4)
tl_uchar2, tl_uchar4 = tl_vector(tl_u8, 2), tl_vector(tl_u8, 4)
tl_longlong2, tl_ulonglong2 = tl_vector(tl_i64, 2), tl_vector(tl_u64, 2)
make_uint2, make_uint4, make_float2, make_float4 = tl_uint2, tl_uint4, tl_float2, tl_float4


# ---- inline PTX ------------------------------------------------------------------------------

tl_registers = {"r": tl_u32, "f": tl_f32, "l": tl_u64, "d": tl_f64, "h": tl_u16, "n": tl_i32}


def tl_operand(kind, x):
    if kind == "l" and isinstance(x, tl_ptr):
        return tl_u64(x).ir_value()
    t = tl_registers[kind]
    if isinstance(x, cutlass.Float32) and kind == "r":
        return arith.bitcast(t.mlir_type, x.ir_value())
    return t.stored(x)


def tl_asm(text, kinds, values, stays=False, memory=False):
    """asm of C: operands by number, results first; a + is a result that an operand starts."""
    for was, now in (("%%", "\0"), ("$", "$$"), ("%", "$"), ("\0", "%")):
        text = text.replace(was, now)
    kinds = kinds.split(",") if kinds else []
    results = [k[1:] for k in kinds if k[0] in "=+"]
    inputs = [k for k in kinds if k[0] not in "=+"]
    tied = [i for i, k in enumerate(kinds) if k[0] == "+"]
    given = [tl_operand(k, x) for k, x in zip(inputs + [results[i] for i in tied], values)]
    words = ["=" + k for k in results] + inputs + [str(i) for i in tied] + ["~{memory}"] * memory
    types = [tl_registers[k].mlir_type for k in results]
    to = None if not types else types[0] if len(types) == 1 else \
        ir.Type.parse("!llvm.struct<(%s)>" % ", ".join(map(str, types)))
    out = llvm.inline_asm(to, given, text, ",".join(words), has_side_effects=stays or not types,
                          is_align_stack=False, asm_dialect=0)
    if len(types) == 1:
        return tl_registers[results[0]].promoted(out)
    return [tl_registers[k].promoted(llvm.extractvalue(t, out, [i]))
            for i, (k, t) in enumerate(zip(results, types))]


def tl_ptx(text, kinds, *values):
    return tl_asm(text, kinds, list(values), stays=True, memory=True)


TL_MAG, TL_INF = tl_u32(0x7fffffff), tl_u32(0x7f800000)  # macros of device/cpu/convert.h


# ---- CUDA's own functions --------------------------------------------------------------------

def tl_axis(f):
    return lambda axis: f()["xyz".index(axis)]


def threadIdx(axis):
    """Read where the kernel begins; a block has at most 1024 threads."""
    block = tl_entry()
    if "in" not in tl_threads or tl_threads["in"] != block.owner:
        tl_threads.clear()
        tl_threads["in"] = block.owner
    if axis not in tl_threads:
        with ir.InsertionPoint.at_block_begin(block):
            x = tl_i32.value(tl_kept(cute.arch.thread_idx()["xyz".index(axis)].ir_value()))
            llvm.intr_assume(tl_and(x >= 0, x < 1024).ir_value(), [], [])
            tl_threads[axis] = x
    return tl_threads[axis]


tl_threads = {}
blockIdx = tl_axis(cute.arch.block_idx)
blockDim, gridDim = tl_axis(cute.arch.block_dim), tl_axis(cute.arch.grid_dim)


def __syncthreads():
    cute.arch.sync_threads()


def __syncwarp(lanes=0xffffffff):
    tl_ptx("bar.warp.sync %0;", "r", tl_u32(lanes))


def __threadfence():
    tl_ptx("membar.gl;", "")


def __trap():
    tl_ptx("trap;", "")


def printf(text, *values):
    words = re.split(r"(%[^%a-zA-Z]*[hlz]*[a-zA-Z])", text)
    for i, x in zip(range(1, len(words), 2), values):
        if isinstance(x, str):  # known here: the DSL takes numbers
            words[i] = x.replace("%", "%%")
    numbers = [x for x in values if not isinstance(x, str)]
    cute.printf("".join(words), *[tl_f64(x) if isinstance(x, cutlass.Float32) else x for x in numbers])


def tl_fail(text):
    cute.printf(text.replace("%", "%%") + "\n")
    __trap()


def __activemask():
    return tl_ptx("activemask.b32 %0;", "=r")


def tl_vote(word):
    def vote(x):
        return tl_i32(tl_ptx("{\n\t.reg .pred p, q;\n\tsetp.ne.u32 p, %1, 0;\n\tbarrier.sync.aligned 0;\n\t"
                             "barrier.red." + word + ".pred q, 0, p;\n\tselp.u32 %0, 1, 0, q;\n\t}", "=r,r",
                             tl_i32(tl_true(x))))
    return vote


__syncthreads_and, __syncthreads_or = tl_vote("and"), tl_vote("or")


def __syncthreads_count(x):
    return tl_i32(tl_ptx("{\n\t.reg .pred p;\n\tsetp.ne.u32 p, %1, 0;\n\tbarrier.red.popc.u32 %0, 0, p;\n\t}",
                         "=r,r", tl_i32(tl_true(x))))


def tl_words(x):
    """A value as words of 32 bits, and how to make one again."""
    t = tl_typeof(x)
    t = t if t.bits >= 32 else tl_i32
    v = t(x).ir_value()
    bits = ir.IntegerType.get_signless(t.bits)
    v = arith.bitcast(bits, v) if t.real else v
    low = [cutlass.Uint32(v)] if t.bits == 32 else [tl_u32(cutlass.Uint64(v)), tl_u32(tl_shr(cutlass.Uint64(v), 32))]

    def back(words):
        one = words[0] if t.bits == 32 else tl_u64(words[0]) | tl_shl(tl_u64(words[1]), 32)
        return t.value(arith.bitcast(t.mlir_type, one.ir_value()) if t.real else one.ir_value())
    return low, back


def tl_shuffle(mode, last):
    def shuffle(lanes, x, by, width=32):
        words, back = tl_words(x)
        clamp = tl_constant(last) | (32 - tl_constant(width)) << 8
        return back([tl_ptx("shfl.sync." + mode + ".b32 %0, %1, %2, %3, %4;", "=r,r,r,r,r", w, tl_i32(by),
                            clamp, tl_u32(lanes)) for w in words])
    return shuffle


__shfl_xor_sync, __shfl_sync = tl_shuffle("bfly", 31), tl_shuffle("idx", 31)
__shfl_down_sync, __shfl_up_sync = tl_shuffle("down", 31), tl_shuffle("up", 0)


def tl_ballot(text, result="selp.u32 %0, 1, 0, q;"):
    return lambda lanes, x: tl_ptx("{\n\t.reg .pred p, q;\n\tsetp.ne.u32 p, %1, 0;\n\t" + text + "\n\t" + result +
                                   "\n\t}", "=r,r,r", tl_i32(tl_true(x)), tl_u32(lanes))


__ballot_sync = tl_ballot("vote.sync.ballot.b32 %0, p, %2;", "")
__any_sync, __all_sync = tl_ballot("vote.sync.any.pred q, p, %2;"), tl_ballot("vote.sync.all.pred q, p, %2;")


def __match_any_sync(lanes, x):
    words, _ = tl_words(x)
    if len(words) == 1:
        return tl_ptx("match.any.sync.b32 %0, %1, %2;", "=r,r,r", words[0], tl_u32(lanes))
    return tl_ptx("match.any.sync.b64 %0, %1, %2;", "=r,l,r", tl_u64(words[0]) | tl_shl(tl_u64(words[1]), 32),
                  tl_u32(lanes))


def tl_match_all(lanes, x):
    words, _ = tl_words(x)
    if len(words) == 1:
        return tl_ptx("match.all.sync.b32 %0, %1, %2;", "=r,r,r", words[0], tl_u32(lanes))
    return tl_ptx("match.all.sync.b64 %0, %1, %2;", "=r,l,r", tl_u64(words[0]) | tl_shl(tl_u64(words[1]), 32),
                  tl_u32(lanes))


def tl_over_warp(step):
    def over(x):
        for by in (16, 8, 4, 2, 1):
            x = step(x, __shfl_xor_sync(0xffffffff, x, by))
        return x
    return over


tl_warp_sum, tl_warp_and = tl_over_warp(lambda x, y: x + y), tl_over_warp(lambda x, y: x & y)
tl_warp_or = tl_over_warp(lambda x, y: x | y)
tl_warp_max = tl_over_warp(lambda x, y: tl_choose(tl_or(x > y, y != y), x, y))
tl_warp_min = tl_over_warp(lambda x, y: tl_choose(tl_or(x < y, y != y), x, y))


def tl_bits(to):
    return lambda x: to.value(arith.bitcast(to.mlir_type, x.ir_value()))


def tl_after(convert, f):
    return lambda x: f(convert(x))


__float_as_uint = tl_bits_f32 = tl_after(tl_f32, tl_bits(tl_u32))
__float_as_int = tl_after(tl_f32, tl_bits(tl_i32))
__uint_as_float = tl_f32_bits = tl_after(tl_u32, tl_bits(tl_f32))
__int_as_float = tl_after(tl_u32, tl_bits(tl_f32))
__double_as_longlong, __longlong_as_double = tl_after(tl_f64, tl_bits(tl_i64)), tl_after(tl_i64, tl_bits(tl_f64))


def __cvta_generic_to_shared(p):
    space = llvm.PointerType(p.p.type).address_space
    q = p.p if space == 3 else llvm.addrspacecast(llvm.PointerType.get(3), p.p)
    return tl_u64(cutlass.Uint32(llvm.ptrtoint(cutlass.Uint32.mlir_type, q)))


def tl_shared_address(p):
    return tl_u32(__cvta_generic_to_shared(p))


def __cvta_generic_to_global(p):
    return tl_u64(p)


def __ldg(p):
    return p.load(invariant=True)


def tl_settled(n, c):
    """The compiler below moves nothing that is read or written across it."""
    values = [c[i] for i in range(n)]
    kind = "f" if c.type.real else "r"
    out = tl_asm("", ",".join(["+" + kind] * n), values, stays=True, memory=True)
    for i, x in enumerate([out] if n == 1 else out):
        c[i] = x


# ---- atomics ---------------------------------------------------------------------------------

tl_letters = {"i32": "s32", "u32": "u32", "i64": "s64", "u64": "u64", "f32": "f32", "f64": "f64"}


def tl_atomic(op, bits=False, sums=False):
    def atomic(p, x):
        t = p.type
        kind = "b%d" % t.bits if bits else tl_letters[t.name]
        kind = "u64" if sums and kind == "s64" else kind
        register = {"f32": "f", "f64": "d"}.get(t.name, "l" if t.bits == 64 else "r")
        return t(tl_ptx("atom." + op + "." + kind + " %0, [%1], %2;", "=%s,l,%s" % (register, register), p, t(x)))
    return atomic


atomicAdd, atomicMin, atomicMax = tl_atomic("add", sums=True), tl_atomic("min"), tl_atomic("max")
atomicAnd, atomicOr, atomicXor = (tl_atomic(op, True) for op in ("and", "or", "xor"))
atomicExch = tl_atomic("exch", True)


def atomicCAS(p, was, now):
    r = "l" if p.type.bits == 64 else "r"
    return p.type(tl_ptx("atom.cas.b%d %%0, [%%1], %%2, %%3;" % p.type.bits, "=%s,l,%s,%s" % (r, r, r), p,
                         p.type(was), p.type(now)))


def tl_update(p, words, step):
    """Until nobody came between: what was there comes back."""
    t, at, was = p.type, tl_as(p, words), tl_array(words, 1)
    seen, go = tl_array(words, 1), tl_var(tl_i32, 1)
    was[0] = at.load(volatile_=True)
    back = tl_bits(t) if t.real else t
    loop = scf.WhileOp([], [])
    loop.before.blocks.append()
    loop.after.blocks.append()
    with ir.InsertionPoint(loop.before.blocks[0]):
        seen[0] = was[0]
        new = t(step(back(was[0])))
        was[0] = atomicCAS(at, seen[0], tl_bits(words)(new) if t.real else new)
        scf.condition(tl_true(was[0] != seen[0]).ir_value(), [])
    with ir.InsertionPoint(loop.after.blocks[0]):
        scf.yield_([])
    return back(was[0])


def tl_update_word(p, step):
    return tl_update(p, tl_u32, step)


def tl_update_long(p, step):
    return tl_update(p, tl_u64, step)


def tl_update_part(p, step):
    """One or two bytes of an aligned word."""
    mask = tl_u32(0xff if p.type.nbytes == 1 else 0xffff)
    shift = tl_u32(tl_u64(p) & 3) * 8
    word = tl_as(tl_u64(p) & tl_u64(~3), tl_u32)

    def change(w):
        part = tl_u32(step(p.type(tl_shr(w, shift) & mask))) & mask
        return (w & ~tl_shl(mask, shift)) | tl_shl(part, shift)
    return p.type(tl_shr(tl_update_word(word, change), shift) & mask)


# ---- mathematics -----------------------------------------------------------------------------

def tl_math(t, op):
    return lambda *x: t.value(op(*[t(y).ir_value() for y in x]))


def tl_one(t, text, kinds):
    return lambda *x: t(tl_asm(text, kinds, list(x)))


for tl_name in ("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "ceil", "copysign", "cos", "cosh", "erf",
                "exp", "exp2", "floor", "fma", "log", "log10", "log1p", "log2", "round", "rsqrt", "sin", "sinh",
                "sqrt", "tan", "tanh", "trunc"):
    globals()[tl_name + "f"] = tl_math(tl_f32, getattr(tl_maths, tl_name))
    globals()[tl_name] = tl_math(tl_f64, getattr(tl_maths, tl_name))
powf, pow = tl_math(tl_f32, tl_maths.powf), tl_math(tl_f64, tl_maths.powf)
fabsf, fabs = tl_math(tl_f32, tl_maths.absf), tl_math(tl_f64, tl_maths.absf)
nearbyintf, nearbyint = tl_math(tl_f32, tl_maths.roundeven), tl_math(tl_f64, tl_maths.roundeven)
# One instruction each: libNVVM makes a comparison and two selections of maxnum.
fmaxf, fminf = (tl_one(tl_f32, name + ".f32 %0, %1, %2;", "=f,f,f") for name in ("max", "min"))
fmax, fmin = (tl_one(tl_f64, name + ".f64 %0, %1, %2;", "=d,d,d") for name in ("max", "min"))
fmodf, fmod = tl_math(tl_f32, arith.remf), tl_math(tl_f64, arith.remf)


def exp10f(x):
    return powf(10.0, x)


def exp10(x):
    return pow(10.0, x)


def max_(x, y):
    return tl_choose(x > y, x, y)


def min_(x, y):
    return tl_choose(x < y, x, y)


def isfinite(x):
    return fabs(x) < float("inf") if isinstance(x, cutlass.Float64) else fabsf(x) < float("inf")


def __umulhi(x, y):
    return tl_asm("mul.hi.u32 %0, %1, %2;", "=r,r,r", [tl_u32(x), tl_u32(y)])


def __clz(x):
    return tl_i32(tl_asm("clz.b32 %0, %1;", "=r,r", [x]))


def __clzll(x):
    return tl_i32(tl_asm("clz.b64 %0, %1;", "=r,l", [x]))


def __popc(x):
    return tl_i32(tl_asm("popc.b32 %0, %1;", "=r,r", [x]))


def __popcll(x):
    return tl_i32(tl_asm("popc.b64 %0, %1;", "=r,l", [x]))


def __ffs(x):
    x = tl_u32(x)
    return 32 - __clz(x & (0 - x))


def __ffsll(x):
    x = tl_u64(x)
    return 64 - __clzll(x & (0 - x))


for tl_to, tl_word, tl_reg in (("int", "s32", "r"), ("uint", "u32", "r"), ("ll", "s64", "l"), ("ull", "u64", "l")):
    tl_t = {"s32": tl_i32, "u32": tl_u32, "s64": tl_i64, "u64": tl_u64}[tl_word]
    for tl_from, tl_f in (("float", "f32"), ("double", "f64")):
        tl_r = {"f32": "f", "f64": "d"}[tl_f]
        globals()["__%s2%s_rz" % (tl_from, tl_to)] = tl_one(tl_t, "cvt.rzi.%s.%s %%0, %%1;" % (tl_word, tl_f),
                                                            "=%s,%s" % (tl_reg, tl_r))
    globals()["__%s2float_rz" % tl_to] = tl_one(tl_f32, "cvt.rz.f32.%s %%0, %%1;" % tl_word, "=f,%s" % tl_reg)
__double2float_rz = tl_one(tl_f32, "cvt.rz.f32.f64 %0, %1;", "=f,d")
for tl_how in ("rn", "rz", "ru", "rd"):
    for tl_f, tl_t, tl_r, tl_w in (("f", tl_f32, "f", "f32"), ("d", tl_f64, "d", "f64")):
        for tl_op in ("add", "sub", "mul", "div"):
            globals()["__%s%s_%s" % (tl_f, tl_op, tl_how)] = tl_one(
                tl_t, "%s.%s.%s %%0, %%1, %%2;" % (tl_op, tl_how, tl_w), "=%s,%s,%s" % (tl_r, tl_r, tl_r))
        for tl_op in ("rcp", "sqrt"):
            globals()["__%s%s_%s" % (tl_f, tl_op, tl_how)] = tl_one(
                tl_t, "%s.%s.%s %%0, %%1;" % (tl_op, tl_how, tl_w), "=%s,%s" % (tl_r, tl_r))
    globals()["__fmaf_" + tl_how] = tl_one(tl_f32, "fma.%s.f32 %%0, %%1, %%2, %%3;" % tl_how, "=f,f,f,f")
    globals()["__fma_" + tl_how] = tl_one(tl_f64, "fma.%s.f64 %%0, %%1, %%2, %%3;" % tl_how, "=d,d,d,d")
tl_ex2, tl_lg2 = tl_one(tl_f32, "ex2.approx.f32 %0, %1;", "=f,f"), tl_one(tl_f32, "lg2.approx.f32 %0, %1;", "=f,f")
__sinf, __cosf = tl_one(tl_f32, "sin.approx.f32 %0, %1;", "=f,f"), tl_one(tl_f32, "cos.approx.f32 %0, %1;", "=f,f")
__log2f = tl_lg2


def __expf(x):
    return tl_ex2(tl_f32(x) * tl_f32(1.4426950408889634))


def __exp10f(x):
    return tl_ex2(tl_f32(x) * tl_f32(3.321928094887362))


def __logf(x):
    return tl_lg2(x) * tl_f32(0.6931471805599453)


def __log10f(x):
    return tl_lg2(x) * tl_f32(0.3010299956639812)


def __tanf(x):
    return tl_div(__sinf(x), __cosf(x))


# ---- building --------------------------------------------------------------------------------

def tl_pointer(t):
    return cute.runtime.make_ptr(t.dsl, 16, cute.AddressSpace.gmem, assumed_align=t.nbytes)


def tl_build(launch, *examples):
    """Compiles to machine code, beside which nothing of this file is needed."""
    from cutlass.cutlass_dsl import CuTeDSL
    from cutlass.cutlass_dsl import cutlass as own
    own._build_kernel_attrs = lambda config: {}  # asks the GPU at hand; the launch is not the DSL's
    out = sys.argv[1]
    plain = CuTeDSL._generate_kernel_attrs

    def attrs(self, config):  # of clusters the DSL tells its own launch alone; ours asks the machine code
        made = plain(self, config)
        if config.has_cluster:
            made["nvvm.cluster_dim"] = ir.Attribute.parse("array<i32: %d, %d, %d>" % tuple(config.cluster))
        return made

    CuTeDSL._generate_kernel_attrs = attrs
    CuTeDSL.mangle_name = lambda self, name, args, spec: name  # kernels are kernel_NAME_NUMBER
    folder = os.path.dirname(os.path.abspath(out))
    options = "--gpu-arch %s --keep-ptx --keep-cubin --dump-dir %s %s" % (TL_ARCH, folder, " ".join(sys.argv[3:]))
    cute.compile(launch, *examples, options=options)
    for ending in ("ptx", "cubin"):
        made = [x for x in os.listdir(folder) if x.endswith("." + ending) and x.startswith("tl_launch")]
        os.replace(os.path.join(folder, made[0]), out + "." + ending)
