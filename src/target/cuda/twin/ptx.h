/* ptx.h -- meanings of instructions: the functions of ptx.def.  at: where each operand is. */
#ifndef TL_CUDA_TWIN_PTX_H
#define TL_CUDA_TWIN_PTX_H

#include "twin/machine.h"

enum { GROUP = 128 }; /* threads of a warpgroup */

/* An MMA of a warpgroup that nobody has waited for. */
typedef struct GroupMma {
    const char *name;
    struct {
        void *c;       /* the first accumulator */
        uint32_t a[4]; /* registers of A */
        uint32_t kept; /* which elements a sparse A keeps */
    } of[GROUP];
    uint64_t a, b;     /* descriptors */
    bool add, a_in_registers, trans_a, trans_b;
    int n;             /* operands */
    uint32_t group;
    struct GroupMma *next;
} GroupMma;

typedef struct { /* 128 threads */
    Gather gather;
    GroupMma *first, *last, *open; /* open: not all threads have come to it */
} TwinGroup;

/* Registers of one thread that an MMA of a warpgroup writes or, as its operand, reads.  Until the
 * thread waits for it nobody else may write them; then the text must say that they changed, each of
 * them, or the compiler may have used them before; of operands where it had anything else to do. */
typedef struct Held {
    char *at;
    int n;
    uint32_t group;
    bool is_operand, landed;
    uint8_t said[128];  /* of n; or it need not be said */
    uint32_t word[128]; /* at the last fence, or once waited for; of an operand when it is read */
    struct Held *next;
} Held;

/* One copy of cp.async, or one bulk store, that its thread has not waited for. */
typedef struct Copy {
    void (*land)(struct Copy *c);
    void *to;
    const void *from;
    uint32_t n;     /* bytes, 0: zeros */
    uint32_t whole; /* bytes written */
    uint32_t group, number;
    int32_t at[5];
    const void *map;
    struct Copy *next;
} Copy;

typedef struct {
    Copy *first, *last;
    uint32_t committed, issued; /* groups, copies */
} Copies;

typedef struct { /* TwinThread.own */
    Copies async, stores;
    Copies writes;             /* bulk stores that have read their source */
    uint32_t mmas;             /* groups of MMAs it has committed */
    uint64_t nop, last_commit; /* instructions in assembly; the last that committed MMAs */
    Held *held;                /* by MMAs */
    bool fenced;               /* its registers, for MMAs */
    struct TensorMma *tensor_first, *tensor_last; /* MMAs into tensor memory that are not done */
    uint32_t tensor_mmas;      /* it has issued so far */
} PtxThread;

typedef struct { /* TwinBlock.own */
    TwinGroup *group;
    uint32_t (*tensor)[512]; /* tensor memory, by lane; NULL: none was asked for */
    uint32_t tensor_at, tensor_columns; /* those that it got */
    int tensor_group; /* blocks that work on it together; 0: nothing was done yet */
} PtxBlock;

static inline PtxThread *ptx_thread(const TwinThread *t)
{
    return t->own;
}

static inline TwinGroup *ptx_group(const TwinThread *t)
{
    return &((PtxBlock *)t->block->own)->group[t->index / GROUP];
}

typedef void PtxMeaning(const char *name, void *const *at, int n);

#define PTX(pattern, meaning) PtxMeaning ptx_##meaning;
#include "target/cuda/twin/ptx.def"
#undef PTX

static inline uint32_t word_at(const void *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline uint64_t long_at(const void *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static inline float float_at(const void *p)
{
    float v;
    memcpy(&v, p, sizeof v);
    return v;
}

/* ptx.c */
bool ptx_assembly(Arena *a, const char **at, Str *out, const char **why);
void ptx_op(int row, const char *name, void *const *at, int n);
/* PTX's word for a type; false: unknown. */
bool ptx_type(const char *word, size_t n, DType *t);
int ptx_row(const char *name); /* -1: no meaning */

/* copies.c: cp.async, bulk copies, tensor maps, barriers in memory */
void copies_at_exit(TwinThread *t);
void mbarrier_arrive(uint32_t address);
bool mbarrier_passed(const uint64_t *bar, uint32_t parity);

/* scalar.c */
void policy_check(const char *name, const void *at); /* of a copy with a word for the cache */

/* wgmma.c */
/* Where element (i, k) of a tile of a descriptor, in panels of span bytes, is: i counts rows of A
 * or columns of B.  transposed: k counts rows. */
uint32_t matrix_address(uint64_t d, uint32_t span, int i, int k, int size, bool transposed);
void held_check(const TwinThread *t); /* before it goes on to others */

#endif
