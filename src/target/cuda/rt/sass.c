/* sass.c -- faults of NVIDIA's assembler, looked for in the machine code it made.
 *
 * Emitted text avoids the forms that are known to go wrong; the compiler in front of the assembler
 * may still arrive at one from code that looks otherwise.  So every cubin is read once more, and
 * one in which a fault stands is assembled again with less optimisation (nvrtc.c).
 * test/gpu/faults.py has a reproducer of each, run by `make test-gpu` with every NVRTC there is. */
#include "target/cuda/rt/cuda.h"

typedef struct {
    const char *what;
    uint64_t low_mask, low; /* of the first 64 bits of an instruction */
    uint64_t high;          /* bits of the other 64 that are set */
    uint64_t no_predicate;  /* and that are, where no predicate is written: then it is right */
} Fault;

/* VIMNMX.RELU gives max(0, min(x, n)); n is a register, a number or a constant.  Seen with ptxas
 * 13.0 on an H200: where it writes a predicate too, that is taken for "the result is n" and holds
 * for 0 <= x < n as well. */
static const Fault fault_table[] = {
    {"a clamp and a test for its upper end became one VIMNMX.RELU", 0xfff, 0x248, 0x1000, 0x7e0000},
    {"a clamp and a test for its upper end became one VIMNMX.RELU", 0xfff, 0x848, 0x1000, 0x7e0000},
    {"a clamp and a test for its upper end became one VIMNMX.RELU", 0xfff, 0xa48, 0x1000, 0x7e0000},
};

static const char *fault_of(uint64_t low, uint64_t high)
{
    for (int i = 0; i < COUNT(fault_table); i++) {
        const Fault *f = &fault_table[i];
        if ((low & f->low_mask) == f->low && (high & f->high) == f->high &&
            (high & f->no_predicate) != f->no_predicate)
            return f->what;
    }
    return NULL;
}

/* ptxas 13.0 to 13.2 on sm_90 may take R1, the stack pointer, for a free register although arrays
 * or spilled registers lie on the stack: stores go to any address.  The first write of R1 is its
 * own, and so are sums with it. */
typedef struct {
    int writes;
    bool lost, used;
    int sync; /* instructions of the form below that were just seen */
} Follow;

enum { R1 = 1, OPERATION = 0x1ff, STL = 0x187, LDL = 0x183 };

/* Where threads of a warp meet again after an `if` inside of another, ptxas 13.0 may keep both
 * barriers in one register: BMOV.CLEAR Rx, B; BMOV B, Ry; BSYNC B.  Threads that come later find
 * the inner barrier there and take it for the outer one, so that the warp stays apart, while what
 * follows (mma, uniform registers) expects it whole. */
static const uint16_t sync[] = {0x355, 0x356, 0x941};

static bool makes_register(uint64_t operation)
{
    static const uint16_t list[] = {0x024 /* IMAD */, 0x027 /* IMAD.HI */, 0x019 /* SHF */,
                                    0x010 /* IADD3 */, 0x011 /* LEA */, 0x012 /* LOP3 */,
                                    0x119 /* S2R */, 0x184 /* LDS */, 0x181 /* LDG */};
    for (int i = 0; i < COUNT(list); i++)
        if (list[i] == operation)
            return true;
    return false;
}

static void follow(Follow *s, uint64_t low)
{
    uint64_t operation = low & OPERATION, to = low >> 16 & 0xff, from = low >> 24 & 0xff;

    if ((operation == STL || operation == LDL) && from == R1)
        s->used = true;
    else if (to == R1 && from != R1 && makes_register(operation) && s->writes++ > 0)
        s->lost = true;
    if (s->sync < COUNT(sync) && (low & 0xfff) == sync[s->sync])
        s->sync++;
    else if (s->sync < COUNT(sync))
        s->sync = (low & 0xfff) == sync[0];
}

static uint64_t read_bytes(const unsigned char *at, int n)
{
    uint64_t x = 0;

    for (int i = n; i-- > 0;)
        x = x << 8 | at[i];
    return x;
}

/* An ELF file of 64 bits, little-endian; instructions of 16 bytes in its executable sections. */
const char *sass_fault(const char *cubin, size_t n)
{
    enum { HEAD = 64, SECTION = 64, EXECUTABLE = 4, WORD = 16 };
    const unsigned char *file = (const unsigned char *)cubin;

    if (n < HEAD || memcmp(file, "\177ELF\2\1", 6))
        return NULL;
    uint64_t table = read_bytes(file + 40, 8), count = read_bytes(file + 60, 2);
    if (table > n || count * SECTION > n - table)
        return NULL;
    for (uint64_t i = 0; i < count; i++) {
        const unsigned char *s = file + table + i * SECTION;
        uint64_t from = read_bytes(s + 24, 8), size = read_bytes(s + 32, 8);
        if (!(read_bytes(s + 8, 8) & EXECUTABLE) || from > n || size > n - from)
            continue;
        Follow code = {0};
        for (uint64_t at = from; at + WORD <= from + size; at += WORD) {
            const char *what = fault_of(read_bytes(file + at, 8), read_bytes(file + at + 8, 8));
            if (what)
                return what;
            follow(&code, read_bytes(file + at, 8));
        }
        if (code.lost && code.used)
            return "the stack pointer was used for something else";
        if (code.sync == COUNT(sync))
            return "threads of a warp do not meet again behind nested branches";
    }
    return NULL;
}
