/* machine.h -- facts of one machine: passes, operators and the simulator ask these and nothing
 * else.  A target fills them from its architecture and its model (Target.start, read_arch). */
#ifndef TL_IR_MACHINE_H
#define TL_IR_MACHINE_H

#include "base/base.h"

/* What it can do; a row of pass.def names what it needs. */
enum {
    HAS_THREADS = 1u << 0,     /* blocks of threads in warps, shared memory, barriers */
    HAS_ONE_THREAD = 1u << 1,  /* a block is one thread: its loops run one after the other */
    HAS_VECTORS = 1u << 2,     /* accesses are vectorised by us, not by the C compiler below */
    HAS_ROLES = 1u << 3,       /* warps of a block may run code of their own */
    HAS_PROXY = 1u << 4,       /* an asynchronous view of shared memory, with fences */
    HAS_ASYNC_COPY = 1u << 5,  /* a thread's copies to shared memory may be in flight, in groups */
    HAS_BULK_COPY = 1u << 6,   /* one thread copies a tile, completion at a barrier in memory */
    HAS_GROUP_MMA = 1u << 7,   /* MMAs of a group of warps, operands from shared memory */
    HAS_MOVED_REGS = 1u << 8,  /* groups of warps hand registers to each other */
    HAS_BYTE_PAIRS = 1u << 9,  /* conversions of 8-bit floats two at a time */
    HAS_HALF_PAIRS = 1u << 21, /* sums and products of halves two at a time */
    HAS_BF16_PAIRS = 1u << 22, /* and of bfloat16 */
    HAS_OWN_TEXT = 1u << 10,   /* takes kernels written in its own language */
    HAS_CUT_FLOAT32 = 1u << 11, /* MMAs of float32 see tfloat32 of it unless told */
    HAS_COUNTED_COPIES = 1u << 19, /* its copies in flight are counted (Mech.counted) */
    HAS_NEST_FETCH = 1u << 28, /* nests that copy are fetched ahead into registers, as copies are */
    HAS_HALF_BYTES = 1u << 18,  /* accesses of many elements of 4 bits */
    HAS_FLOAT8_FNUZ = 1u << 16, /* its 8-bit floats have one zero and no infinities */
    HAS_PACKED_K = 1u << 17,    /* lanes load operands of MMAs by themselves: k_pack, and
                                 * interleaved rows or columns, make the accesses wide */
    HAS_TENSOR_MEMORY = 1u << 12, /* a memory for accumulators of its own */
    HAS_SCALED_MMA = 1u << 20,  /* MMAs of warps on operands with scales */
    HAS_SIMDGROUP_MMA = 1u << 25, /* MMAs of two neighbours to a lane, 8 x 8 */
    HAS_BYTE_DOTS = 1u << 13,   /* sums of products of 8-bit integers */
    HAS_BF16_DOTS = 1u << 14,   /* sums of products of bfloat16 */
    HAS_TILE_REGS = 1u << 15,   /* both on registers that hold a matrix */
    HAS_SIGNED_DOTS = 1u << 26, /* HAS_BYTE_DOTS where both are signed */
    HAS_TENSOR_OPERANDS = 1u << 29, /* T.gemm takes parts of tensors too, through tiles */
    HAS_QUAD_MMA = 1u << 24,    /* MMAs of four times eight lanes */
    HAS_BLOCK_VOTES = 1u << 30, /* barriers that count, and, or what the threads bring */
    HAS_PAIR_DOTS = 1u << 23,   /* both for two rows and two columns at once */
    HAS_ROW_LOOPS = 1u << 27,   /* rows of tiles stay in a cache: loops over them are fused */
};

enum { GEMM_TN = 1, GEMM_NT = 2 }; /* operands of a GEMM stored K x M, N x K */

/* Tiles that suit a GEMM or attention. */
typedef struct {
    int64_t m, n, k;
    int stages, threads;
    int split; /* blocks, a cluster, that share the steps of k of a tile */
    bool swap; /* rows of B are the rows of the result: the tile is n x m */
    int widen; /* 1: A, 2: both are first copied to rows that start at multiples of 16 bytes */
} TileChoice;

typedef struct Machine Machine;
struct Machine {
    const char *text;       /* the target as messages name it */
    const char *name;       /* the architecture: "x86-64-v3" */
    const char *model;      /* the model whose numbers these are; NULL: any */
    uint32_t has;
    int level;              /* the generation that rows of instructions ask for; 0: no such thing */
    bool specific;          /* it has the instructions of that generation alone, too */
    int lanes;              /* of a warp; 1: there are none */
    int part;               /* threads of which parts of a block with barriers of their own are
                             * made, where that is less than a warp, whose lanes go together;
                             * T.warp_reduce_* and T.match_* are of such parts too */
    int group_warps;        /* that a group instruction takes together; 1: there are none */
    int group_rows;         /* of the result of an MMA of such a group; 0: there are none */
    int units;              /* multiprocessors, compute units, cores; 0: not known */
    int threads_block, threads_unit, blocks_unit; /* at most; 0: no limit */
    int64_t grid_side;      /* blocks along a dimension behind the first, at most; 0: no limit */
    int regs_unit, regs_thread, regs_step;        /* of 32 bits; a thread has whole steps */
    int regs_least, regs_most;                    /* that a group may ask for */
    int64_t local_bytes;    /* of a thread's own memory */
    int64_t shared_block;   /* bytes that a block may have; 0: no limit */
    int64_t shared_own;     /* that each block takes beside them */
    int shared_step;        /* a block has whole steps of them; 0: any number */
    int64_t shared_unit;    /* of one unit, for all its blocks */
    int tensor_columns;     /* of tensor memory, 32 bits of each lane; 0: there is none */
    int tensor_lanes, tensor_least; /* of it; columns that a block asks for at least */
    int banks, bank_bytes;  /* of shared memory */
    int named_barriers;     /* of a block, the one of all its threads among them */
    int access_bytes;       /* the widest access of a thread */
    int copy_bytes;         /* the widest copy in flight of a thread; 0: as wide as an access */
    int tile_align, swizzle_align; /* of shared tiles: what bulk copies and their swizzles need */
    int64_t cache_bytes;    /* of the last level */
    int line_bytes;         /* that a request of a bulk copy takes from it; 0: not known */
    int sector_bytes;       /* of a line that an access of a warp takes; 0: not known */
    int64_t core_bytes;     /* of the second level that a core has for itself; 0: no such thing */
    double clock_ghz, memory_gbs;
    int mma_rate;           /* products of 16-bit floats in a clock of one unit; 0: none */
    /* Registers of a thread of producer and consumers, where there are so many groups of those;
     * false: they stay as they are. */
    bool (*split_regs)(const Machine *m, int consumers, int *producer, int *consumer);
    /* For a GEMM of M x N x K (trans: GEMM_ bits) on so many cores (0: all that there are), and
     * for attention, of a DType; NULL: it has no opinion. */
    TileChoice (*tiles_gemm)(const Machine *m, const int64_t size[3], int type, unsigned trans,
                             int cores);
    TileChoice (*tiles_attention)(const Machine *m, int64_t S, int64_t D, int type, bool causal);
    TileChoice (*tiles_attention_back)(const Machine *m, int64_t D, int type); /* its derivatives */
};

extern const Machine machine_plain; /* of nothing in particular: a kernel that has no target yet */

static inline int machine_group(const Machine *m) { return m->lanes * m->group_warps; }
static inline bool machine_has(const Machine *m, uint32_t what) { return (m->has & what) == what; }

#endif
