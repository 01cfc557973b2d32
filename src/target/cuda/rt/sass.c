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
} Follow;

enum { R1 = 1, OPERATION = 0x1ff, STL = 0x187, LDL = 0x183 };

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
}

static uint64_t read_bytes(const unsigned char *at, int n)
{
    uint64_t x = 0;

    for (int i = n; i-- > 0;)
        x = x << 8 | at[i];
    return x;
}

/* ---- where threads of a warp meet again ------------------------------------------------------ */

enum { HEAD = 64, SECTION = 64, EXECUTABLE = 4, WORD = 16 };

enum { SAVE = 0x355, RESTORE = 0x356 /* BMOV */, SYNC = 0x941 /* BSYNC */, SET = 0x945 /* BSSY */ };

enum { NAME = 0xfff };

static uint64_t word_at(const unsigned char *code, uint64_t at)
{
    return read_bytes(code + at, 8);
}

/* BMOV.CLEAR R, B right behind a BSSY B: the barrier is in R, and nothing has brought it back. */
static bool is_put_away(const unsigned char *code, uint64_t from, uint64_t to, uint64_t which)
{
    uint64_t save = word_at(code, from), kept = save >> 16 & 0xff;

    if ((save & NAME) != SAVE || (save >> 24 & 0xff) != which)
        return false;
    for (uint64_t i = from; i < to; i += WORD) {
        uint64_t w = word_at(code, i);
        if ((w & NAME) == RESTORE && (w >> 24 & 0xff) == which && (w >> 32 & 0xff) == kept)
            return false;
    }
    return true;
}

/* Whether a barrier register holds, at this place, who shall meet behind it: BSSY B, target has set
 * it, and the target is still to come. */
static bool barrier_is_live(const unsigned char *code, uint64_t at, uint64_t which)
{
    for (uint64_t i = 0; i < at; i += WORD) {
        uint64_t set = word_at(code, i);
        int64_t target = (int64_t)(i + WORD) + (int32_t)(set >> 32);
        if ((set & NAME) == SET && (set >> 16 & 0xff) == which &&
            (target > (int64_t)at || target <= (int64_t)i) &&
            !is_put_away(code, i + WORD, at, which))
            return true;
    }
    return false;
}

/* Short of barrier registers, ptxas 13.0 lends one where an `if` inside of another ends: BMOV.CLEAR
 * Rx, B; BMOV B, Ry; BSYNC B; then BMOV B, Rx.  Threads that come later find the inner barrier in B
 * and keep it in Rx for the outer one, so that the warp stays apart, while what follows (mma,
 * uniform registers) expects it whole.  Nothing is lost where B held no barrier. */
static bool sync_is_lost(const unsigned char *code, uint64_t size)
{
    for (uint64_t at = 0; at + 3 * WORD <= size; at += WORD) {
        uint64_t save = word_at(code, at), restore = word_at(code, at + WORD);
        if ((save & NAME) == SAVE && (restore & NAME) == RESTORE &&
            (word_at(code, at + 2 * WORD) & NAME) == SYNC &&
            barrier_is_live(code, at, save >> 24 & 0xff))
            return true;
    }
    return false;
}

/* An ELF file of 64 bits, little-endian; instructions of 16 bytes in its executable sections. */
const char *sass_fault(const char *cubin, size_t n)
{
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
        if (sync_is_lost(file + from, size))
            return "threads of a warp do not meet again behind nested branches";
    }
    return NULL;
}
